import { isUuid } from "#shared/ids.ts";
import { type Identity, parseIdentity } from "#shared/records/identity.ts";
import { parseAvailable } from "#shared/records/identity-register.ts";
import { type Member, parseMember } from "#shared/records/member.ts";
import { parseTeam, type Team } from "#shared/records/team.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Item, Key, Table } from "#shared/table/table.ts";

/** What the actors of a new run depend on. */
interface Wanted {
  readonly owner: Owner;
  /** The identity that executes the run. */
  readonly identity: string | undefined;
  /** The identity whose right to act on behalf of others counts. */
  readonly caller: string | undefined;
  /** A member's uid, or an address, which is not read here. */
  readonly member: string | undefined;
  /** The team that authentication has read. */
  readonly known: Team | undefined;
}

export interface FoundActors {
  readonly identity: Identity | undefined;
  readonly available: boolean;
  readonly caller: Identity | undefined;
  readonly member: Member | undefined;
  readonly team: Team | undefined;
}

/** Reads everything that the actors of a new run depend on, in one call. */
export async function readActors(
  { owner, identity, caller, member, known }: Wanted,
  table: Pick<Table, "batchGet">,
): Promise<FoundActors> {
  const { uid: team } = owner;
  const isTeam = owner.type === "Team";
  const isKnown = known?.uid === team;
  const reads: Record<string, Key> = {
    ...(isTeam && !isKnown ? { team: keys.team(team) } : {}),
    ...(identity === undefined ? {} : { register: keys.identities(team), identity: keys.identity(team, identity) }),
    ...(caller === undefined || caller === identity ? {} : { caller: keys.identity(team, caller) }),
    ...(member === undefined || !isUuid(member) ? {} : { member: keys.member(team, member) }),
  };
  const names = Object.keys(reads);
  const items = names.length === 0 ? [] : await table.batchGet(Object.values(reads));
  const read = <T>(name: string, parse: (item: Item) => T): T | undefined => {
    const item = items[names.indexOf(name)];
    return item === undefined ? undefined : parse(item);
  };
  const executing = read("identity", parseIdentity);
  return {
    identity: executing,
    available: identity !== undefined && read("register", (item) => parseAvailable(item).has(identity)) === true,
    caller: caller === identity ? executing : read("caller", parseIdentity),
    member: read("member", parseMember),
    team: isKnown ? known : read("team", parseTeam),
  };
}
