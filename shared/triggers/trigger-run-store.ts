import { readRunHeads } from "#shared/records/read-run-heads.ts";
import { keys } from "#shared/table/keys.ts";
import type { Put, Table } from "#shared/table/table.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { RecentRun } from "#shared/wire/schedule.ts";

/** Seconds for which a run counts among the latest ones of its trigger. */
const KEPT_SECONDS = 90 * 24 * 3600;
const MAX_RECENT = 10;

/** The write that notes a new run with its trigger. An item of its own, so that events that come together do not wait for each other. */
export const putTriggerRun = (trigger: string, run: string, now: number): Put => ({
  kind: "put",
  item: { ...keys.triggerRun(trigger, run), v: 1, expires_at: Math.ceil(now / 1000) + KEPT_SECONDS },
});

/** The ids of the latest runs of a trigger, newest first. */
export async function listTriggerRuns(trigger: string, table: Pick<Table, "query">): Promise<string[]> {
  const { pk, sk: prefix } = keys.triggerRun(trigger, "");
  const { items } = await table.query({ pk, prefix, descending: true, limit: MAX_RECENT });
  return items.map(({ sk }) => sk.slice(prefix.length));
}

/** Reads the latest runs of a trigger with their current states, newest first. */
export async function readTriggerRuns(trigger: string, table: Pick<Table, "query" | "batchGet">): Promise<RecentRun[]> {
  const heads = await readRunHeads(await listTriggerRuns(trigger, table), table);
  return heads.map(({ run_id, state, created_at }) => ({ run_id, state, created_at: toTimestamp(created_at) }));
}
