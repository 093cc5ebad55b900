import { logLine } from "#shared/log/log.ts";
import { isTerminal } from "#shared/records/run.ts";
import { executorOf, parseOwner, type RunHead } from "#shared/records/run-head.ts";
import { computeCost } from "#shared/records/run-time.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Table } from "#shared/table/table.ts";
import { type Dimensions, type Sums, usageStore } from "./usage-store.ts";

interface CountPorts {
  readonly table: Table;
  readonly sandboxUsdPerHour?: number | undefined;
}

/**
 * Counts an ended run with what it has used. A run that is counted again, because its end is delivered twice or because it
 * went on after a follow-up, adds only the difference.
 */
export async function countUsage(head: RunHead, { table, sandboxUsdPerHour }: CountPorts): Promise<void> {
  if (!isTerminal(head.state)) return;
  const store = usageStore(table);
  await retryOnConflict("the usage of the run is", async () => {
    const { counted, used } = await store.readCounted(head.run_id);
    const sums: Sums = {
      runs: 1,
      succeeded: head.state === "SUCCEEDED" ? 1 : 0,
      failed: head.state === "FAILED" || head.state === "ERROR" ? 1 : 0,
      tokens: used.tokens,
      cost: used.cost,
      compute: computeCost(head, head.updated_at, sandboxUsdPerHour) ?? 0,
      run_ms: head.run_time_ms,
    };
    if (!differs(sums, counted)) return;
    const owner = parseOwner(head);
    await store.count({ runId: head.run_id, owner, part: head.part }, toDimensions(head), counted, sums);
    logLine("info", "run counted", {
      run_id: head.run_id,
      owner_type: owner.type,
      owner_uid: owner.uid,
      state: head.state,
      // What was not counted before, so that sums of lines are right.
      cost: sums.cost + sums.compute - counted.cost - counted.compute,
      run_seconds: (sums.run_ms - counted.run_ms) / 1_000,
    });
  });
}

const differs = (a: Sums, b: Sums): boolean =>
  a.runs !== b.runs ||
  a.succeeded !== b.succeeded ||
  a.failed !== b.failed ||
  a.tokens !== b.tokens ||
  a.cost !== b.cost ||
  a.compute !== b.compute ||
  a.run_ms !== b.run_ms;

function toDimensions({ p, created_at }: RunHead): Dimensions {
  return {
    day: new Date(created_at).toISOString().slice(0, 10),
    creator: p.creator,
    executor: executorOf(p),
    ...(p.model === undefined ? {} : { model: p.model }),
    ...(p.schedule === undefined ? {} : { schedule: p.schedule }),
    ...(p.environment === undefined ? {} : { environment: p.environment }),
  };
}
