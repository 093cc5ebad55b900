import * as v from "valibot";
import { EmailAddress } from "./email.ts";
import { PageInfo } from "./list.ts";
import { Id, Name, usdUpTo } from "./primitives.ts";
import { Role } from "./role.ts";

const whole = (least: number, most: number) => v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));

const MAX_RETENTION_DAYS = 3650;

const Settings = {
  /** The number of available identities; the oldest ones count first. */
  identity_limit: whole(1, 500),
  /** The number of runs that execute at the same time. */
  concurrency_limit: whole(1, 10_000),
  /** The number of runs that wait for capacity. */
  queue_limit: whole(1, 100_000),
  default_model_id: Id,
  default_environment_id: Id,
  /** What the models that the team's runs call may cost in a calendar month (UTC), in US dollars. Null: no limit. */
  budget_usd_month: usdUpTo(1_000_000),
  /** The days after their end for which runs are kept. Older runs are deleted within hours. Null: there is no limit. */
  retention_days: whole(1, MAX_RETENTION_DAYS),
  /** Whether runs of the team can be public. If not, no run of the team is, also none that was shared before. */
  sharing_allowed: v.boolean(),
};

/** The settings of a team, with all defaults applied. Null: neither a value nor a default. */
export const TeamSettings = v.object({
  identity_limit: v.number(),
  concurrency_limit: v.number(),
  queue_limit: v.number(),
  default_model_id: v.nullable(v.string()),
  default_environment_id: v.nullable(v.string()),
  budget_usd_month: v.nullable(v.number()),
  retention_days: v.nullable(v.number()),
  sharing_allowed: v.boolean(),
});
export type TeamSettings = v.InferOutput<typeof TeamSettings>;

/** Changes to settings. Absent: unchanged. Null: restores the default. */
const SettingsChange = v.object({
  identity_limit: v.exactOptional(v.nullable(Settings.identity_limit)),
  concurrency_limit: v.exactOptional(v.nullable(Settings.concurrency_limit)),
  queue_limit: v.exactOptional(v.nullable(Settings.queue_limit)),
  default_model_id: v.exactOptional(v.nullable(Settings.default_model_id)),
  default_environment_id: v.exactOptional(v.nullable(Settings.default_environment_id)),
  budget_usd_month: v.exactOptional(v.nullable(Settings.budget_usd_month)),
  retention_days: v.exactOptional(v.nullable(Settings.retention_days)),
  sharing_allowed: v.exactOptional(v.nullable(Settings.sharing_allowed)),
});
export type SettingsChange = v.InferOutput<typeof SettingsChange>;

/** A new team. */
export const CreateTeamRequest = v.object({ name: Name, settings: v.exactOptional(SettingsChange) });
export type CreateTeamRequest = v.InferOutput<typeof CreateTeamRequest>;
/** Changes to a team. Members that are absent or null keep their values. */
export const UpdateTeamRequest = v.object({
  name: v.exactOptional(v.nullable(Name)),
  settings: v.exactOptional(v.nullable(SettingsChange)),
});

export type UpdateTeamRequest = v.InferOutput<typeof UpdateTeamRequest>;

/** A team as responses show it. */
export const TeamItem = v.object({ uid: v.string(), name: v.string(), settings: TeamSettings });
export type TeamItem = v.InferOutput<typeof TeamItem>;

/** What the model calls of a team's runs cost in the current calendar month, in UTC. */
export const MonthlySpending = v.object({
  budget_usd: v.nullable(v.number()),
  spent_usd: v.number(),
  renews_at: v.string(),
});
export type MonthlySpending = v.InferOutput<typeof MonthlySpending>;

/** A team with its current month. */
export const TeamDetail = v.object({ ...TeamItem.entries, month: MonthlySpending });
export type TeamDetail = v.InferOutput<typeof TeamDetail>;

/** A page of teams. */
export const ListTeamsResponse = v.object({ teams: v.array(TeamItem), page_info: v.exactOptional(PageInfo) });

/** A team from the view of its member. */
export const Membership = v.object({ uid: v.string(), name: v.string(), role: Role });
export type Membership = v.InferOutput<typeof Membership>;

/** The caller. */
export const Me = v.object({
  uid: v.string(),
  display_name: v.string(),
  email: v.string(),
  teams: v.array(Membership),
});
export type Me = v.InferOutput<typeof Me>;

/** Changes to the caller's profile. */
export const UpdateMeRequest = v.object({
  display_name: v.exactOptional(v.nullable(Name)),
  email: v.exactOptional(v.nullable(EmailAddress)),
});
export type UpdateMeRequest = v.InferOutput<typeof UpdateMeRequest>;

/** A member of a team. */
export const MemberItem = v.object({ uid: v.string(), email: v.string(), display_name: v.string(), role: Role });
export type MemberItem = v.InferOutput<typeof MemberItem>;

/** A page of members. */
export const ListMembersResponse = v.object({ members: v.array(MemberItem), page_info: v.exactOptional(PageInfo) });

/** An API key of an identity of the team. */
export const TeamKey = v.object({ uid: v.string(), name: v.string(), identity_uid: v.string() });
export type TeamKey = v.InferOutput<typeof TeamKey>;

/** The effect of removing a member on the team's agent keys. */
export const RemovedMember = v.object({
  /** The agent keys that the member created. They are revoked. */
  revoked_keys: v.array(TeamKey),
  /** The agent keys that remain valid: with `keep_keys`, or because their creator is unknown. */
  kept_keys: v.array(TeamKey),
});
export type RemovedMember = v.InferOutput<typeof RemovedMember>;

/** A change of a member's role. */
export const UpdateMemberRequest = v.object({ role: Role });

/** A new invitation. */
export const CreateInvitationRequest = v.object({ email: EmailAddress, role: v.exactOptional(Role) });

/** An open invitation. */
export const InvitationItem = v.object({
  id: v.string(),
  email: v.string(),
  role: Role,
  created_at: v.string(),
  expires_at: v.string(),
});
export type InvitationItem = v.InferOutput<typeof InvitationItem>;

/** A new invitation. Its `link` is returned once. */
export const CreatedInvitation = v.object({ ...InvitationItem.entries, link: v.string() });
export type CreatedInvitation = v.InferOutput<typeof CreatedInvitation>;

/** A new account, created by accepting an invitation. Its `key` is returned only to this request and its repeats. */
export const CreatedAccount = v.object({ user_uid: v.string(), team_uid: v.string(), key: v.string() });
export type CreatedAccount = v.InferOutput<typeof CreatedAccount>;

/** A page of invitations. */
export const ListInvitationsResponse = v.object({
  invitations: v.array(InvitationItem),
  page_info: v.exactOptional(PageInfo),
});
