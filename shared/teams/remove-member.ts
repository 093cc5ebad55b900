import { keyStore, revokeKeys } from "#shared/keys/key-store.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { pauseTriggersOfCreator } from "#shared/triggers/pause-triggers.ts";
import type { RemovedMember } from "#shared/wire/team.ts";
import { type KeyRevocation, readAgentKeys } from "./member-keys.ts";
import { memberStore } from "./member-store.ts";
import { keepAdmin, MEMBERS_CHANGED, readMember, refuseLastAdmin } from "./members.ts";
import type { TeamPorts } from "./team-ports.ts";

/** Writes of one transaction that may revoke keys; the rest are those of the membership. */
const MAX_REVOKING_WRITES = 90;

interface Removal {
  readonly team: string;
  readonly user: string;
  /** True: the agent keys that they created stay valid. */
  readonly keepKeys: boolean;
}

/**
 * Ends a membership and revokes the agent keys that the member created, in one transaction: from the next request on,
 * neither they nor those keys reach the team. More keys than fit into one transaction are revoked before the membership ends. Then
 * pauses the triggers that they created, whose runs are created in their name.
 */
export async function endMembership(removal: Removal, ports: TeamPorts): Promise<RemovedMember> {
  const removed = await removeWithKeys(removal, ports);
  const { team, user } = removal;
  // Where this is interrupted, their events are refused when they come.
  await pauseTriggersOfCreator(team, user, ports);
  return removed;
}

function removeWithKeys({ team, user, keepKeys }: Removal, { table }: TeamPorts): Promise<RemovedMember> {
  const revoked: RemovedMember["revoked_keys"] = [];
  return retryOnConflict(MEMBERS_CHANGED, async () => {
    // Read before the keys: its count shows whether another key was created since.
    const member = await readMember(team, user, table);
    const { created, unattributed } = await readAgentKeys(team, user, table);
    const { last, earlier } = keepKeys ? { last: [], earlier: [] } : splitByRoom(created);
    if (earlier.length > 0) await refuseLastAdmin(team, member, table);
    const done = await revokeEach(earlier, table);
    revoked.push(...done.flatMap((one) => one.keys));
    if (done.length < earlier.length) throw new ConflictError(new Set(["keys"]));
    await keepAdmin(memberStore(table).remove(team, member, last));
    const remainingKeys = keepKeys ? created.flatMap((one) => one.keys) : [];
    return {
      revoked_keys: [...revoked, ...last.flatMap((one) => one.keys)],
      kept_keys: [...remainingKeys, ...unattributed],
    };
  });
}

/** The revocations that fit into the transaction that ends the membership, and those that must be done before. */
function splitByRoom(revocations: readonly KeyRevocation[]): {
  readonly last: readonly KeyRevocation[];
  readonly earlier: readonly KeyRevocation[];
} {
  let room = MAX_REVOKING_WRITES;
  const last: KeyRevocation[] = [];
  const earlier: KeyRevocation[] = [];
  for (const revocation of revocations) {
    const size = revokeKeys(revocation).length;
    const fits = size <= room;
    if (fits) room -= size;
    (fits ? last : earlier).push(revocation);
  }
  return { last, earlier };
}

/** Returns the revocations that succeeded. Where a key list changed meanwhile, none of its keys is revoked. */
async function revokeEach(revocations: readonly KeyRevocation[], table: Table): Promise<KeyRevocation[]> {
  const done: KeyRevocation[] = [];
  for (const revocation of revocations) {
    try {
      await keyStore(table).revoke(revocation);
      done.push(revocation);
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
    }
  }
  return done;
}
