import type { RunHead } from "#shared/records/run-head.ts";
import type { Team } from "#shared/records/team.ts";
import { toUserProfile } from "#shared/records/user.ts";
import type { WebSession } from "#shared/records/web-session.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Scope } from "#shared/wire/keys/scope.ts";
import type { UserProfile } from "#shared/wire/run.ts";

/** An authenticated caller. */
export type Principal = PersonalPrincipal | AgentPrincipal | RunPrincipal;

interface Scoped {
  /** The scopes of the credential. @default all */
  readonly scopes?: readonly Scope[] | undefined;
}

/** What the runs that are created with a key may cost in a month, and how many it may create in a day. */
export interface KeyLimits {
  /** The hash of the key. */
  readonly hash: string;
  readonly budgetUsd: number | undefined;
  readonly runsPerDay: number | undefined;
}

interface Limited {
  /** The limits of the API key of the request, or of its session. @default none */
  readonly limits?: KeyLimits | undefined;
}

export interface PersonalPrincipal extends Scoped, Limited {
  readonly kind: "personal";
  readonly user: { readonly uid: string; readonly displayName: string; readonly email: string };
  readonly teams: readonly { readonly uid: string; readonly role: "admin" | "member" }[];
  /** The team named in X-Team-Uid, if any. */
  readonly activeTeam: string | undefined;
  /** One of their teams that was read with the user: the active one, or the default one. */
  readonly teamItem: Team | undefined;
  readonly credential: UsedKey | UsedSession;
}

export interface AgentPrincipal extends Scoped, Limited {
  readonly kind: "agent";
  readonly identity: { readonly uid: string; readonly name: string };
  readonly team: string;
  /** The team itself, read with the identity. */
  readonly teamItem: Team;
  readonly credential: UsedKey;
  /** The maximum budget of each run that the key creates, if its trust rule sets one. */
  readonly maxBudgetUsd: number | undefined;
}

/** The API key of the request. */
export interface UsedKey {
  readonly kind: "key";
  readonly hash: string;
  /** Time in milliseconds at which a use of it was last recorded. */
  readonly usedAt: number | undefined;
  /** Time in milliseconds at which it expires. */
  readonly expiresAt: number | undefined;
}

/** The web session of the request. */
export interface UsedSession {
  readonly kind: "session";
  readonly session: WebSession;
}

/** One execution of one run. `stopping`: the run is cancelled and its sandbox may only report that it has stopped. */
export interface RunPrincipal extends Scoped {
  readonly kind: "run";
  readonly head: RunHead;
  readonly executionId: string;
  readonly stopping: boolean;
}

/** The hash of the API key that a person's request depends on: its own, or that of its session; undefined where there is none. */
export const keyHashOf = ({ credential }: PersonalPrincipal): string | undefined =>
  credential.kind === "key" ? credential.hash : credential.session.key_hash;

/** A stable name of the principal: the owner of idempotency records, rate limits and cursors. */
export function toPrincipalKey(principal: Principal): string {
  if (principal.kind === "personal") return `user:${principal.user.uid}`;
  if (principal.kind === "agent") return `identity:${principal.identity.uid}`;
  return `run:${principal.head.run_id}`;
}

export function toProfile(principal: PersonalPrincipal | AgentPrincipal): UserProfile {
  return principal.kind === "personal"
    ? toUserProfile(principal.user)
    : { type: "service_account", uid: principal.identity.uid, display_name: principal.identity.name };
}

/** The name of a principal for people. */
export function formatName(principal: Principal): string {
  if (principal.kind === "personal") return principal.user.displayName;
  return principal.kind === "agent" ? principal.identity.name : `run ${principal.head.run_id}`;
}

/** True for a run's key as well, whose rights depend on its run only. */
export function isInTeam(principal: Principal, team: string): boolean {
  if (principal.kind === "personal") return principal.teams.some(({ uid }) => uid === team);
  return principal.kind === "run" || principal.team === team;
}

/** The owners whose runs the principal sees in lists: itself and its teams. */
export function listVisibleOwners(principal: PersonalPrincipal | AgentPrincipal): readonly Owner[] {
  if (principal.kind === "agent") return [{ type: "Team", uid: principal.team }];
  const teams = principal.teams.filter(({ uid }) => principal.activeTeam === undefined || uid === principal.activeTeam);
  return [...teams.map(({ uid }): Owner => ({ type: "Team", uid })), { type: "User", uid: principal.user.uid }];
}

/** Team runs are visible to every member and agent key of the team, personal runs to their creator only. */
export function seesOwner(principal: Principal, owner: Owner): boolean {
  if (principal.kind === "run") return false;
  if (principal.kind === "agent") return owner.type === "Team" && owner.uid === principal.team;
  if (owner.type === "User") return owner.uid === principal.user.uid;
  return principal.teams.some(({ uid }) => uid === owner.uid);
}
