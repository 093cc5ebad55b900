import { isMember } from "#shared/records/read-team.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Table } from "#shared/table/table.ts";
import { type Trigger, triggerStore } from "./trigger-store.ts";

interface Ports {
  readonly table: Table;
  readonly now: () => number;
}

const CREATOR_LEFT = "the member who created the trigger has left the team";

/** Pauses those triggers of a team whose runs could no longer be created, and stores why, also with those that are paused. */
export async function pauseTriggers(
  team: string,
  isAffected: (trigger: Trigger) => boolean,
  pause_reason: string,
  ports: Ports,
): Promise<void> {
  const triggers = await triggerStore(ports.table).list([{ type: "Team", uid: team }]);
  for (const { uid } of triggers.filter(isAffected)) await pauseTrigger(uid, isAffected, pause_reason, ports);
}

/** Pauses the triggers of a member who has left the team. */
export const pauseTriggersOfCreator = (team: string, user: string, ports: Ports): Promise<void> =>
  pauseTriggers(team, ({ created_by }) => created_by.uid === user, CREATOR_LEFT, ports);

/** Pauses a trigger that was just written, where its creator has left the team meanwhile and its triggers were paused before that. */
export async function pauseWithoutCreator({ uid, owner, created_by }: Trigger, ports: Ports): Promise<void> {
  if (owner.type === "User" || (await isMember(owner.uid, created_by.uid, ports.table))) return;
  await pauseTrigger(uid, () => true, CREATOR_LEFT, ports);
}

async function pauseTrigger(
  uid: string,
  isAffected: (trigger: Trigger) => boolean,
  pause_reason: string,
  { table, now }: Ports,
): Promise<void> {
  const store = triggerStore(table);
  await retryOnConflict("the trigger is", async () => {
    const before = await store.get(uid);
    if (before === undefined || !isAffected(before)) return;
    if (!before.enabled && before.pause_reason === pause_reason) return;
    // The failures of a paused trigger count from when it is resumed.
    const { failures_from: _, ...rest } = before;
    const updated_at = Math.max(now(), before.updated_at + 1);
    await store.update(before, { ...rest, enabled: false, pause_reason, updated_at });
  });
}
