import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Table } from "#shared/table/table.ts";
import { type Trigger, triggerStore } from "./trigger-store.ts";

/** Pauses those triggers of a team whose runs could no longer be created, and stores why. */
export async function pauseTriggers(
  team: string,
  isAffected: (trigger: Trigger) => boolean,
  pause_reason: string,
  { table, now }: { readonly table: Table; readonly now: () => number },
): Promise<void> {
  const store = triggerStore(table);
  for (const { uid } of (await store.list([team])).filter(isAffected)) {
    await retryOnConflict("the trigger is", async () => {
      const before = await store.get(uid);
      if (before?.enabled !== true || !isAffected(before)) return;
      const updated_at = Math.max(now(), before.updated_at + 1);
      await store.update(before, { ...before, enabled: false, pause_reason, updated_at });
    });
  }
}
