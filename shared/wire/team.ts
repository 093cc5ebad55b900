import * as v from "valibot";
import { PageInfo } from "./list.ts";
import { Id, Name, textOfBytes } from "./primitives.ts";
import { Role } from "./role.ts";

/** An address; whether anybody reads mail there is not for its form to say. */
const Email = v.pipe(textOfBytes(320, 3), v.regex(/^[^\s@<>,;]+@[^\s@<>,;]+$/, "must be an e-mail address"));

const whole = (least: number, most: number) => v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));

const Settings = {
  /** Identities of the team that are available, the oldest ones. */
  identity_limit: whole(1, 500),
  /** Runs that execute at once. */
  concurrency_limit: whole(1, 10_000),
  /** Runs that may wait. */
  queue_limit: whole(1, 100_000),
  default_model_id: Id,
  default_environment_id: Id,
  budget_usd_month: v.pipe(v.number(), v.minValue(0), v.maxValue(1_000_000_000)),
  retention_days: whole(1, 3650),
};

/** Settings of a team with all defaults filled in; null where there is neither a value nor a default. */
export const TeamSettings = v.object({
  identity_limit: v.number(),
  concurrency_limit: v.number(),
  queue_limit: v.number(),
  default_model_id: v.nullable(v.string()),
  default_environment_id: v.nullable(v.string()),
  budget_usd_month: v.nullable(v.number()),
  retention_days: v.nullable(v.number()),
});
export type TeamSettings = v.InferOutput<typeof TeamSettings>;

/** Absent: unchanged. Null: back to the default. */
const SettingsChange = v.object({
  identity_limit: v.exactOptional(v.nullable(Settings.identity_limit)),
  concurrency_limit: v.exactOptional(v.nullable(Settings.concurrency_limit)),
  queue_limit: v.exactOptional(v.nullable(Settings.queue_limit)),
  default_model_id: v.exactOptional(v.nullable(Settings.default_model_id)),
  default_environment_id: v.exactOptional(v.nullable(Settings.default_environment_id)),
  budget_usd_month: v.exactOptional(v.nullable(Settings.budget_usd_month)),
  retention_days: v.exactOptional(v.nullable(Settings.retention_days)),
});
export type SettingsChange = v.InferOutput<typeof SettingsChange>;

export const CreateTeamRequest = v.object({ name: Name, settings: v.exactOptional(SettingsChange) });
export type CreateTeamRequest = v.InferOutput<typeof CreateTeamRequest>;
export const UpdateTeamRequest = v.object({
  name: v.exactOptional(v.nullable(Name)),
  settings: v.exactOptional(v.nullable(SettingsChange)),
});

export type UpdateTeamRequest = v.InferOutput<typeof UpdateTeamRequest>;

export const TeamItem = v.object({ uid: v.string(), name: v.string(), settings: TeamSettings });
export type TeamItem = v.InferOutput<typeof TeamItem>;

export const ListTeamsResponse = v.object({ teams: v.array(TeamItem), page_info: v.exactOptional(PageInfo) });

/** A membership as the member sees it. */
export const Membership = v.object({ uid: v.string(), name: v.string(), role: Role });
export type Membership = v.InferOutput<typeof Membership>;

export const Me = v.object({
  uid: v.string(),
  display_name: v.string(),
  email: v.string(),
  teams: v.array(Membership),
});
export type Me = v.InferOutput<typeof Me>;

/** The address belongs to the sign-in: it may be sent along as it is, and not changed here. */
export const UpdateMeRequest = v.object({
  display_name: v.exactOptional(v.nullable(Name)),
  email: v.exactOptional(v.nullable(Email)),
});
export type UpdateMeRequest = v.InferOutput<typeof UpdateMeRequest>;

/** A member as the team sees them. */
export const MemberItem = v.object({ uid: v.string(), email: v.string(), display_name: v.string(), role: Role });
export type MemberItem = v.InferOutput<typeof MemberItem>;

export const ListMembersResponse = v.object({ members: v.array(MemberItem), page_info: v.exactOptional(PageInfo) });

/** An agent key of a team. */
export const TeamKey = v.object({ uid: v.string(), name: v.string(), identity_uid: v.string() });
export type TeamKey = v.InferOutput<typeof TeamKey>;

/** What a removal did with agent keys of the team. */
export const RemovedMember = v.object({
  /** Keys that the removed member created, which are revoked. */
  revoked_keys: v.array(TeamKey),
  /** Keys that stay valid: those they created, with keep_keys, and those whose creator was not stored. */
  kept_keys: v.array(TeamKey),
});
export type RemovedMember = v.InferOutput<typeof RemovedMember>;

export const UpdateMemberRequest = v.object({ role: Role });

export const CreateInvitationRequest = v.object({ email: Email, role: v.exactOptional(Role) });

export const InvitationItem = v.object({
  id: v.string(),
  email: v.string(),
  role: Role,
  created_at: v.string(),
  expires_at: v.string(),
});
export type InvitationItem = v.InferOutput<typeof InvitationItem>;

/** A new invitation; `link` is shown in this answer and never again. */
export const CreatedInvitation = v.object({ ...InvitationItem.entries, link: v.string() });
export type CreatedInvitation = v.InferOutput<typeof CreatedInvitation>;

/** The account that accepting an invitation without a key creates; `key` is shown in this response and never again. */
export const CreatedAccount = v.object({ user_uid: v.string(), team_uid: v.string(), key: v.string() });
export type CreatedAccount = v.InferOutput<typeof CreatedAccount>;

export const ListInvitationsResponse = v.object({
  invitations: v.array(InvitationItem),
  page_info: v.exactOptional(PageInfo),
});
