import * as v from "valibot";
import { EmailAddress } from "./email.ts";
import { PageInfo } from "./list.ts";
import { Id, Name, optional, usdUpTo } from "./primitives.ts";
import { Role } from "./role.ts";
import { CommitAuthor } from "./runs/commit-author.ts";
import { SecretName } from "./secrets/secret-name.ts";

const whole = (least: number, most: number) => v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));

const ProviderName = v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,39}$/));

const MAX_BUDGET_USD_MONTH = 1_000_000;
const MAX_RETENTION_DAYS = 3650;

/** The settings of a team, with all defaults applied. Null: neither a value nor a default. */
export const TeamSettings = v.object({
  /** The number of available identities, 1 to 500. Defaults to 20. */
  identity_limit: v.number(),
  /** The number of runs that execute at the same time, 1 to 10,000. Defaults to 20. */
  concurrency_limit: v.number(),
  /** The number of runs that wait for capacity, 1 to 100,000. Defaults to 1,000. */
  queue_limit: v.number(),
  /** The model of runs that set none. */
  default_model_id: v.nullable(v.string()),
  /** The environment of runs that set none. */
  default_environment_id: v.nullable(v.string()),
  /** The author of commits of runs that set none, such as `Build Bot <bot@example.com>`. Null: that of the deployment. */
  commit_author: v.nullable(v.string()),
  /** The maximum cost of the team's model calls in a calendar month (UTC), in US dollars. Null: not limited. */
  budget_usd_month: v.nullable(v.number()),
  /** The days after which ended runs are deleted, with all their files, 1 to 3,650. Null: they are kept. */
  retention_days: v.nullable(v.number()),
  /**
   * Whether runs of the team can be shared with everybody who has their link. If not, runs that were shared before
   * are not public either.
   */
  sharing_allowed: v.boolean(),
  /**
   * By the name of a provider, the team's secret with the API key for the team's calls to it, in place of the
   * deployment's key. An empty object: none.
   */
  provider_keys: v.record(v.string(), v.string()),
});
export type TeamSettings = v.InferOutput<typeof TeamSettings>;

/** Changes to settings. Absent: unchanged. Null: restores the default. */
const SettingsChange = v.object({
  /** The number of available identities, 1 to 500. Defaults to 20. */
  identity_limit: optional(whole(1, 500)),
  /** The number of runs that execute at the same time, 1 to 10,000. Defaults to 20. */
  concurrency_limit: optional(whole(1, 10_000)),
  /** The number of runs that wait for capacity, 1 to 100,000. Defaults to 1,000. */
  queue_limit: optional(whole(1, 100_000)),
  /** The model of runs that set none. */
  default_model_id: optional(Id),
  /** The environment of runs that set none. */
  default_environment_id: optional(Id),
  /** The author of commits of runs that set none, such as `Build Bot <bot@example.com>`. Null: that of the deployment. */
  commit_author: optional(CommitAuthor),
  /** The maximum cost of the team's model calls in a calendar month (UTC), in US dollars. Null: not limited. */
  budget_usd_month: optional(usdUpTo(MAX_BUDGET_USD_MONTH)),
  /** The days after which ended runs are deleted, with all their files, 1 to 3,650. Null: they are kept. */
  retention_days: optional(whole(1, MAX_RETENTION_DAYS)),
  /**
   * Whether runs of the team can be shared with everybody who has their link. If not, runs that were shared before
   * are not public either.
   */
  sharing_allowed: optional(v.boolean()),
  /**
   * By the name of a provider, the team's secret with the API key for the team's calls to it, in place of the
   * deployment's key. An empty object: none.
   */
  provider_keys: optional(v.pipe(v.record(ProviderName, SecretName), v.maxEntries(20))),
});
export type SettingsChange = v.InferOutput<typeof SettingsChange>;

/** A new team. */
export const CreateTeamRequest = v.object({
  /** The team's name. */
  name: Name,
  /** The team's limits and defaults. */
  settings: v.exactOptional(SettingsChange),
});
export type CreateTeamRequest = v.InferOutput<typeof CreateTeamRequest>;
/** Changes to a team. Members that are absent or null keep their values. */
export const UpdateTeamRequest = v.object({
  /** The team's name. */
  name: optional(Name),
  /** The team's limits and defaults. */
  settings: optional(SettingsChange),
});

export type UpdateTeamRequest = v.InferOutput<typeof UpdateTeamRequest>;

/** A team as responses show it. */
export const TeamItem = v.object({
  /** The team's id. */
  uid: v.string(),
  /** The team's name. */
  name: v.string(),
  /** The team's limits and defaults. */
  settings: TeamSettings,
});
export type TeamItem = v.InferOutput<typeof TeamItem>;

/** The cost of a team's model calls in the current calendar month (UTC). */
export const MonthlySpending = v.object({
  /** The setting `budget_usd_month`. Null: not limited. */
  budget_usd: v.nullable(v.number()),
  /** The cost of the calls that have ended, in US dollars. */
  spent_usd: v.number(),
  /** The beginning of the next month. @format date-time */
  renews_at: v.string(),
});
export type MonthlySpending = v.InferOutput<typeof MonthlySpending>;

/** A team with its current month. */
export const TeamDetail = v.object({
  ...TeamItem.entries,
  /** The cost of the team's model calls in the current calendar month (UTC). */
  month: MonthlySpending,
});
export type TeamDetail = v.InferOutput<typeof TeamDetail>;

/** A page of teams. */
export const ListTeamsResponse = v.object({
  /** The teams, oldest first. */
  teams: v.array(TeamItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});

/** A team from the view of its member. */
export const Membership = v.object({
  /** The team's id. */
  uid: v.string(),
  /** The team's name. */
  name: v.string(),
  /** The caller's role in the team. */
  role: Role,
});
export type Membership = v.InferOutput<typeof Membership>;

/** The caller. */
export const Me = v.object({
  /** The person's id. */
  uid: v.string(),
  /** The display name. */
  display_name: v.string(),
  /** The person's email address. */
  email: v.string(),
  /** The caller's memberships. */
  teams: v.array(Membership),
});
export type Me = v.InferOutput<typeof Me>;

/** Changes to the caller's profile. */
export const UpdateMeRequest = v.object({
  /** The new display name, at most 256 characters. */
  display_name: optional(Name),
  /** The current email address. A different one returns 422. */
  email: optional(EmailAddress),
});
export type UpdateMeRequest = v.InferOutput<typeof UpdateMeRequest>;

/** A member of a team. */
export const MemberItem = v.object({
  /** The person's id. */
  uid: v.string(),
  /** The person's email address. */
  email: v.string(),
  /** The display name. */
  display_name: v.string(),
  /** The person's role in the team. */
  role: Role,
});
export type MemberItem = v.InferOutput<typeof MemberItem>;

/** A page of members. */
export const ListMembersResponse = v.object({
  /** The members of the team. */
  members: v.array(MemberItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});

/** An API key of an identity of the team. */
export const TeamKey = v.object({
  /** The key's id. */
  uid: v.string(),
  /** The key's name. */
  name: v.string(),
  /** The identity that the key belongs to. */
  identity_uid: v.string(),
});
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
export const UpdateMemberRequest = v.object({
  /** The new role. */
  role: Role,
});

/** A new invitation. */
export const CreateInvitationRequest = v.object({
  /** The person's email address. */
  email: EmailAddress,
  /** The role in the team after acceptance. Defaults to `member`. */
  role: v.exactOptional(Role),
});

/** An open invitation. */
export const InvitationItem = v.object({
  /** The invitation's id. */
  id: v.string(),
  /** The email address of the invited person. */
  email: v.string(),
  /** The role in the team after acceptance. */
  role: Role,
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** The expiry time, 7 days after creation. @format date-time */
  expires_at: v.string(),
});
export type InvitationItem = v.InferOutput<typeof InvitationItem>;

/** A new invitation. Its `link` is returned once. */
export const CreatedInvitation = v.object({
  ...InvitationItem.entries,
  /** The URL to accept the invitation, returned once. Send it to the invited person. */
  link: v.string(),
});
export type CreatedInvitation = v.InferOutput<typeof CreatedInvitation>;

/** A new account, created by accepting an invitation. Its `key` is returned only to this request and its repeats. */
export const CreatedAccount = v.object({
  /** The id of the new user. */
  user_uid: v.string(),
  /** The team's id. */
  team_uid: v.string(),
  /** The user's first API key, returned once. */
  key: v.string(),
});
export type CreatedAccount = v.InferOutput<typeof CreatedAccount>;

/** A page of invitations. */
export const ListInvitationsResponse = v.object({
  /** The open invitations. */
  invitations: v.array(InvitationItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
