import { invalid, RunyardError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { type Principal, toProfile } from "#shared/principals/principal.ts";
import type { Identity } from "#shared/records/identity.ts";
import { listMembers, type Member } from "#shared/records/member.ts";
import type { Team } from "#shared/records/team.ts";
import { foldEmail } from "#shared/records/user.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import type { UserProfile } from "#shared/wire/run.ts";
import type { RunAgentRequest } from "#shared/wire/runs/new-run.ts";
import { type FoundActors, readActors } from "./actor-store.ts";

/** Who creates a run and who executes it, with the defaults that they have for its configuration. */
export interface Actors {
  readonly creator: UserProfile;
  readonly executor: UserProfile;
  /** The identity that executes the run, if an identity does. */
  readonly identity: Identity | undefined;
  /** The team that owns the run, if one does. */
  readonly team: Team | undefined;
}

/**
 * Resolves the actors of a new run. An identity executes it where the request names it, where its own key calls, or where it
 * executes the parent; on_behalf_of makes a member the creator. Everything is read in one call.
 */
export async function resolveActors(
  request: RunAgentRequest,
  principal: Principal,
  parentExecutor: UserProfile | undefined,
  owner: Owner,
  table: Table,
): Promise<Actors> {
  const { agent_identity_uid: named, on_behalf_of: behalf } = request;
  const inherited = parentExecutor?.type === "service_account" ? parentExecutor.uid : undefined;
  const own = principal.kind === "agent" ? principal.identity.uid : undefined;
  const uid = named ?? (parentExecutor === undefined || behalf !== undefined ? own : inherited);
  refuseImpossible(request, principal, parentExecutor, owner);
  const caller = behalf === undefined ? undefined : own;
  const found = await readActors({ owner, identity: uid, caller, member: behalf, known: knownTeam(principal) }, table);
  const identity = uid === undefined ? undefined : assertExecutor(found, uid, named !== undefined, uid === inherited);
  const creator = parentExecutor ?? callerProfile(principal);
  if (behalf !== undefined && found.caller?.on_behalf_of_enabled !== true) {
    throw new RunyardError("not_authorized", {
      detail: "on_behalf_of: the identity does not have on_behalf_of_enabled",
    });
  }
  return {
    creator: behalf === undefined ? creator : memberProfile(await findMember(behalf, found.member, owner, table)),
    executor: identity === undefined ? creator : identityProfile(identity),
    identity,
    team: found.team,
  };
}

export const identityProfile = ({ uid, name }: Identity): UserProfile => ({
  type: "service_account",
  uid,
  display_name: name,
});

function refuseImpossible(
  { agent_identity_uid: named, on_behalf_of: behalf }: RunAgentRequest,
  principal: Principal,
  parentExecutor: UserProfile | undefined,
  owner: Owner,
): void {
  if (behalf !== undefined && principal.kind !== "agent") throw invalid("on_behalf_of", "is for agent keys only");
  if (named === undefined) return;
  if (owner.type !== "Team") throw invalid("agent_identity_uid", "is for team runs only");
  if (!isUuid(named)) throw noIdentity();
  // A run may not act as another identity through its children.
  if (principal.kind === "run" && named !== parentExecutor?.uid) {
    throw new RunyardError("not_authorized", {
      detail: "agent_identity_uid: the children of a run have the run's own identity",
    });
  }
}

const noIdentity = () => invalid("agent_identity_uid", "there is no such identity in the team");

/** Returns the identity if it may execute: a chosen one has to be available, the parent's own only has to exist. */
function assertExecutor(
  { identity, available }: FoundActors,
  uid: string,
  isNamed: boolean,
  isInherited: boolean,
): Identity {
  if (identity === undefined) {
    if (isNamed) throw noIdentity();
    throw new RunyardError("not_authorized", {
      detail: `the identity ${uid} that the run would be executed by is deleted`,
    });
  }
  if (!available && !isInherited) {
    throw new RunyardError("feature_not_available", {
      detail: `${isNamed ? "agent_identity_uid: " : ""}the identity is beyond the number that the team's plan has`,
    });
  }
  return identity;
}

const knownTeam = (principal: Principal): Team | undefined =>
  principal.kind === "run" ? undefined : principal.teamItem;

async function findMember(name: string, byUid: Member | undefined, owner: Owner, table: Table): Promise<Member> {
  const member = byUid ?? (name.includes("@") ? await memberByEmail(name, owner.uid, table) : undefined);
  if (member === undefined) throw invalid("on_behalf_of", "there is no such member of the team");
  return member;
}

async function memberByEmail(email: string, team: string, table: Table): Promise<Member | undefined> {
  const members = await listMembers(team, table);
  return members.find((member) => foldEmail(member.email) === foldEmail(email));
}

const memberProfile = ({ user_uid, display_name, email }: Member): UserProfile => ({
  type: "user",
  uid: user_uid,
  display_name,
  email,
});

function callerProfile(principal: Principal): UserProfile {
  if (principal.kind === "run") throw new RunyardError("internal_error");
  return toProfile(principal);
}
