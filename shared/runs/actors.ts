import { invalid, RunyardError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { type Principal, profileOf } from "#shared/principals/principal.ts";
import { type Identity, parseIdentity } from "#shared/records/identity.ts";
import { availableIn } from "#shared/records/identity-register.ts";
import { type Member, membersOf, parseMember } from "#shared/records/member.ts";
import { parseTeam, type Team } from "#shared/records/team.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Item, Key, Table } from "#shared/table/table.ts";
import type { RunAgentRequest, UserProfile } from "#shared/wire/run.ts";

/** Who asked for a run and as whom it works, with what they bring along for its configuration. */
export interface Actors {
  readonly creator: UserProfile;
  readonly executor: UserProfile;
  /** The identity that the run works as, if it is one. */
  readonly identity: Identity | undefined;
  /** The team that owns the run, if one does. */
  readonly team: Team | undefined;
}

/**
 * The actors of a new run. An identity executes where the request names it, where its own key calls, or where it executes
 * the parent; on_behalf_of makes a member the creator. All that has to be read for it comes by one read.
 */
export async function actorsOf(
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
  const found = await readAll({ owner, identity: uid, caller, member: behalf, known: knownTeam(principal) }, table);
  const identity = uid === undefined ? undefined : executing(found, uid, named !== undefined, uid === inherited);
  const creator = parentExecutor ?? creatorOf(principal);
  if (behalf !== undefined && found.caller?.on_behalf_of_enabled !== true) {
    throw new RunyardError("not_authorized", {
      detail: "on_behalf_of: the identity does not have on_behalf_of_enabled",
    });
  }
  return {
    creator: behalf === undefined ? creator : memberProfile(await memberCalled(behalf, found.member, owner, table)),
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
  // What runs in a sandbox may not become somebody else by having a child.
  if (principal.kind === "run" && named !== parentExecutor?.uid) {
    throw new RunyardError("not_authorized", {
      detail: "agent_identity_uid: a run's children work as the run itself does",
    });
  }
}

const noIdentity = () => invalid("agent_identity_uid", "there is no such identity in the team");

/** The identity, if it may execute: one that was chosen has to be available, one that the parent had only to exist. */
function executing({ identity, available }: Found, uid: string, isNamed: boolean, isInherited: boolean): Identity {
  if (identity === undefined) {
    if (isNamed) throw noIdentity();
    throw new RunyardError("not_authorized", { detail: `the identity ${uid} that the run would work as is deleted` });
  }
  if (!available && !isInherited) {
    throw new RunyardError("feature_not_available", {
      detail: `${isNamed ? "agent_identity_uid: " : ""}the identity is beyond the number that the team's plan has`,
    });
  }
  return identity;
}

interface Wanted {
  readonly owner: Owner;
  readonly identity: string | undefined;
  /** The identity whose right to act on behalf of others counts. */
  readonly caller: string | undefined;
  /** A member's uid, or an address, which is looked for elsewhere. */
  readonly member: string | undefined;
  readonly known: Team | undefined;
}

interface Found {
  readonly identity: Identity | undefined;
  readonly available: boolean;
  readonly caller: Identity | undefined;
  readonly member: Member | undefined;
  readonly team: Team | undefined;
}

async function readAll({ owner, identity, caller, member, known }: Wanted, table: Table): Promise<Found> {
  const { uid: team } = owner;
  const isTeam = owner.type === "Team";
  const isKnown = known?.uid === team;
  const wanted: Record<string, Key> = {
    ...(isTeam && !isKnown ? { team: keys.team(team) } : {}),
    ...(identity === undefined ? {} : { register: keys.identities(team), identity: keys.identity(team, identity) }),
    ...(caller === undefined || caller === identity ? {} : { caller: keys.identity(team, caller) }),
    ...(member === undefined || !isUuid(member) ? {} : { member: keys.member(team, member) }),
  };
  const names = Object.keys(wanted);
  const items = names.length === 0 ? [] : await table.batchGet(Object.values(wanted));
  const read = <T>(name: string, parse: (item: Item) => T): T | undefined => {
    const item = items[names.indexOf(name)];
    return item === undefined ? undefined : parse(item);
  };
  const executing = read("identity", parseIdentity);
  return {
    identity: executing,
    available: identity !== undefined && read("register", (item) => availableIn(item).has(identity)) === true,
    caller: caller === identity ? executing : read("caller", parseIdentity),
    member: read("member", parseMember),
    team: isKnown ? known : read("team", parseTeam),
  };
}

const knownTeam = (principal: Principal): Team | undefined =>
  principal.kind === "run" ? undefined : principal.teamItem;

async function memberCalled(name: string, byUid: Member | undefined, owner: Owner, table: Table): Promise<Member> {
  const member = byUid ?? (name.includes("@") ? await memberByEmail(name, owner.uid, table) : undefined);
  if (member === undefined) throw invalid("on_behalf_of", "there is no such member of the team");
  return member;
}

async function memberByEmail(email: string, team: string, table: Table): Promise<Member | undefined> {
  const members = await membersOf(team, table);
  return members.find((member) => member.email.toLowerCase() === email.toLowerCase());
}

const memberProfile = ({ user_uid, display_name, email }: Member): UserProfile => ({
  type: "user",
  uid: user_uid,
  display_name,
  email,
});

function creatorOf(principal: Principal): UserProfile {
  if (principal.kind === "run") throw new RunyardError("internal_error");
  return profileOf(principal);
}
