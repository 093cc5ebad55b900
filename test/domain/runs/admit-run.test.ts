import { expect, it } from "vitest";
import { createWithinLimits } from "#shared/runs/capacity/admit-run.ts";
import { count } from "#shared/runs/capacity/slot-store.ts";
import { QUEUE_ROOM, RUN_ROOM } from "#shared/runs/capacity/slots.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { ConflictError, type NamedWrites } from "#shared/table/transact.ts";

const own = keys.counters({ type: "Team", uid: "t" });
const queue = count(own, { queued: 1 });
const head = { kind: "put", item: { ...keys.head("r"), scope: "TEAM#t#0" } } as const;

/** Creates a run whose attempts fail with these writes, in order. Returns the outcome and the tried limits. */
async function admit(...failures: readonly (readonly string[] | undefined)[]) {
  const limits: unknown[] = [];
  const create = async (writes: NamedWrites) => {
    limits.push(writes["queue"]);
    const failed = failures[limits.length - 1];
    if (failed !== undefined) throw new ConflictError(new Set(failed), new Error("a condition failed"));
  };
  const ports = { runs: { create }, table: memoryTable() };
  const result = await createWithinLimits({ head, queue }, RUN_ROOM, ports).catch((error: unknown) => error);
  return { result, limits };
}
const [room, rest] = [RUN_ROOM, QUEUE_ROOM].map((limit) => ({ ...queue, if: limit }));
const full = expect.objectContaining({ code: "resource_unavailable", status: 429, retryAfterSeconds: 10 });
const conflict = (...failed: string[]) => expect.objectContaining({ failed: new Set(failed) });

it.each([
  ["begins where there is room", [], false, [room]],
  ["waits where its queue has room only", [["queue"]], true, [room, rest]],
  ["is refused where its queue is full", [["queue"], ["queue"]], full, [room, rest]],
  ["is not tried again where another write fails", [["tree"]], conflict("tree"), [room]],
  ["is not tried again where another write fails as well", [["queue", "tree"]], conflict("queue", "tree"), [room]],
  [
    "names the other write that fails the second time",
    [["queue"], ["queue", "tree"]],
    conflict("queue", "tree"),
    [room, rest],
  ],
] as const)("a new run %s", async (_, failures, result, limits) => {
  expect(await admit(...failures)).toEqual({ result, limits });
});
