import { retryableConflict } from "#shared/errors.ts";
import type { Member } from "#shared/records/member.ts";
import { roleAttribute } from "#shared/records/user.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Table, type TransactionWrite } from "#shared/table/table.ts";
import type { RemovedMember } from "#shared/wire/team.ts";
import { agentKeysOf, type Revocation } from "./member-keys.ts";
import { ANOTHER_ADMIN, lastAdmin, memberCalled, written } from "./members.ts";
import { countMember } from "./new-team.ts";
import type { TeamPorts } from "./ports.ts";

const ATTEMPTS = 8;
/** Writes of one transaction that may revoke keys; the rest are those of the membership. */
const MAX_REVOKING_WRITES = 90;

interface Removal {
  readonly team: string;
  readonly user: string;
  /** True: the agent keys that they created stay valid. */
  readonly keepKeys: boolean;
}

/**
 * Removes a member from a team and revokes the agent keys that they created, in one transaction: from the next request on,
 * neither they nor those keys reach the team. More keys than fit into one transaction are revoked before the membership ends.
 */
export async function removeMember({ team, user, keepKeys }: Removal, { table }: TeamPorts): Promise<RemovedMember> {
  const revoked: RemovedMember["revoked_keys"] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // Read before the keys: its count tells whether another key was created since.
    const member = await memberCalled(team, user, table);
    const { created, unattributed } = await agentKeysOf(team, user, table);
    const { last, earlier } = keepKeys ? { last: [], earlier: [] } : inTransactions(created);
    if (earlier.length > 0) await refuseLastAdmin(team, member, table);
    const done = await revokeEach(earlier, table);
    revoked.push(...done.flatMap((one) => one.keys));
    if (done.length < earlier.length) continue;
    const writes = [...endOfMembership(team, member), ...last.flatMap((one) => one.writes)];
    if (!(await written(writes, table))) continue;
    const kept = keepKeys ? created.flatMap((one) => one.keys) : [];
    return { revoked_keys: [...revoked, ...last.flatMap((one) => one.keys)], kept_keys: [...kept, ...unattributed] };
  }
  throw retryableConflict("the team's members change too fast; send the request again");
}

/** The revocations that go along with the end of the membership, and those for which its transaction has no room. */
function inTransactions(revocations: readonly Revocation[]): {
  readonly last: readonly Revocation[];
  readonly earlier: readonly Revocation[];
} {
  let room = MAX_REVOKING_WRITES;
  const last: Revocation[] = [];
  const earlier: Revocation[] = [];
  for (const revocation of revocations) {
    const fits = revocation.writes.length <= room;
    if (fits) room -= revocation.writes.length;
    (fits ? last : earlier).push(revocation);
  }
  return { last, earlier };
}

/** Nobody's keys are revoked for a removal that is refused. */
async function refuseLastAdmin(team: string, { role }: Member, table: Table): Promise<void> {
  const item = role === "admin" ? await table.get(keys.team(team)) : undefined;
  if (item !== undefined && Number(item["admins"]) < 2) throw lastAdmin();
}

/** Those that succeeded: of a key list that changed meanwhile, none is revoked. */
async function revokeEach(revocations: readonly Revocation[], table: Table): Promise<Revocation[]> {
  const done: Revocation[] = [];
  for (const revocation of revocations) {
    try {
      await table.transact(revocation.writes);
      done.push(revocation);
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }
  return done;
}

function endOfMembership(team: string, { user_uid: user, role, keys_created }: Member): TransactionWrite[] {
  const isAdmin = role === "admin";
  const counted = countMember(team, -1, isAdmin ? -1 : 0);
  const unchanged = keys_created === undefined ? { exists: false } : { eq: keys_created };
  return [
    isAdmin ? { ...counted, if: ANOTHER_ADMIN } : counted,
    { kind: "delete", key: keys.member(team, user), if: { role: { eq: role }, keys_created: unchanged } },
    { kind: "update", key: keys.user(user), remove: [roleAttribute(team)] },
  ];
}
