import { beforeEach, describe, expect, it } from "vitest";
import { TREE_CONCURRENCY_LIMIT } from "#shared/records/run.ts";
import { dequeueMore, readQueuePosition } from "#shared/runs/capacity/wait-queue.ts";
import { keys, sortableTime } from "#shared/table/keys.ts";
import type { Query, TransactionWrite } from "#shared/table/table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { consume, createRun, deliver, type Harness, workingRun } from "../../support/execution.ts";
import { readState, readTimeline } from "../../support/look.ts";
import { withFailingWrites, withWriteInBetween } from "../../support/write-conflicts.ts";

let plane: TestControlPlane;
let user: Client;
let working: Harness;
/** A team whose only slot is taken by a working run. */
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  await user.put(`/agent/teams/${plane.team}`, { settings: { concurrency_limit: 1 } });
  working = await workingRun(plane);
});

const owner = () => ({ type: "Team", uid: plane.team }) as const;
const readCounters = () => plane.table.get(keys.counters(owner()));
const readHead = (id: string) => plane.table.get(keys.head(id));
/** Creates a run that waits for the slot. */
async function waitingRun(): Promise<string> {
  plane.clock.now += 10;
  const id = await createRun(plane);
  await deliver(plane);
  expect(await readHead(id)).toMatchObject({ state: "QUEUED", waiting: "owner" });
  return id;
}
const grants = (write: TransactionWrite) => write.kind === "update" && write.set?.["slot"] === "owner";
const entersQueue = (write: TransactionWrite) => write.kind === "update" && write.set?.["waiting"] !== undefined;

describe("a slot that becomes free", () => {
  it("goes to the next run if the longest waiting run is cancelled concurrently", async () => {
    const [first, second] = [await waitingRun(), await waitingRun()];
    await working.finish();
    await withWriteInBetween(
      plane,
      grants,
      () => user.post(`/agent/runs/${first}/cancel`),
      () => consume(plane, "ends", working.run_id),
    );
    expect(await readHead(second)).toMatchObject({ slot: "owner" });
    expect(await readCounters()).toMatchObject({ running: 1, waiting: 0, queued: 1 });
  });

  it("is reserved for a run for thirty seconds before the reaper requests its dispatch", async () => {
    const id = await waitingRun();
    await working.finish();
    await deliver(plane, "ends");
    const head = await readHead(id);
    expect(head).toMatchObject({ slot: "owner", check_at: sortableTime(plane.clock.now + 30_000) });
    expect(head).not.toHaveProperty("waiting");
    expect(plane.sent).toEqual([{ queue: "runs", runId: id }]);
  });

  it("is not granted to a run that has one, or if the table fails", async () => {
    const id = await waitingRun();
    const raise = { kind: "update", key: keys.counters(owner()), set: { concurrency_limit: 2 } } as const;
    await plane.table.write(raise);
    const failing = withFailingWrites(
      plane,
      keys.head(id),
      () => dequeueMore(owner(), plane.ports),
      new Error("no table"),
    );
    await expect(failing).rejects.toThrow("no table");
    await dequeueMore(owner(), plane.ports);
    const counters = await readCounters();
    expect(counters).toMatchObject({ running: 2, waiting: 0 });
    await dequeueMore(owner(), plane.ports);
    expect(await readCounters()).toEqual(counters);
  });
});

describe("a run that finds no slot", () => {
  it("enters the wait queue once if two messages dispatch it concurrently", async () => {
    const id = await createRun(plane);
    const dispatch = () => consume(plane, "runs", id);
    const { batchItemFailures } = await withWriteInBetween(plane, entersQueue, dispatch, dispatch);
    expect(batchItemFailures).toEqual([]);
    expect(await readCounters()).toMatchObject({ waiting: 1, queued: 1 });
    const { events } = (await user.get(`/agent/runs/${id}/events`)).body;
    expect(events.map(({ type }: { type: string }) => type)).toEqual(["run_created", "run_waiting"]);
    expect(await readTimeline(plane, id), "the timeline omits it").toEqual(["run_created"]);
  });

  it.each(["cancelled", "given a follow-up"])("handles being %s before it waits", async (how) => {
    const id = await createRun(plane);
    const { batchItemFailures } = await withWriteInBetween(
      plane,
      entersQueue,
      () =>
        how === "cancelled"
          ? user.post(`/agent/runs/${id}/cancel`)
          : user.post(`/agent/runs/${id}/followups`, { message: "more" }),
      () => consume(plane, "runs", id),
    );
    expect(batchItemFailures).toEqual([]);
    const waiting = how === "cancelled" ? 0 : 1;
    expect((await readCounters())?.["waiting"] ?? 0).toBe(waiting);
    expect(await readState(plane, id)).toBe(how === "cancelled" ? "CANCELLED" : "QUEUED");
  });

  it("takes a slot of its owner if the root of its tree frees its slot concurrently", async () => {
    const id = await createRun(plane, { prompt: "child", parent_run_id: working.run_id });
    const full = { running: TREE_CONCURRENCY_LIMIT };
    await plane.table.write({ kind: "update", key: keys.tree(working.run_id, 1), set: full });
    await withWriteInBetween(plane, entersQueue, working.finish, () => consume(plane, "runs", id));
    expect(await readHead(id)).toMatchObject({ state: "PENDING", slot: "owner" });
    expect(await readCounters()).toMatchObject({ running: 1, queued: 0 });
  });
});

describe("the position of a run among many that wait", () => {
  it("follows from tickets, without reading the queue, and changes as runs leave it", async () => {
    const runs: string[] = [];
    for (let index = 0; index < 103; index++) runs.push(await waitingRun());
    const [first = "", second = ""] = runs;
    const queries: unknown[] = [];
    const query = (one: Query) => {
      queries.push(one);
      return plane.table.query(one);
    };
    const table = { ...plane.table, query };
    const readPosition = async (id = "") => {
      const head = await plane.ports.runs.head(id);
      return head && readQueuePosition(head, { table });
    };
    expect([await readPosition(first), await readPosition(runs[102])]).toEqual([1, 103]);
    await user.post(`/agent/runs/${first}/cancel`);
    await working.finish();
    await deliver(plane);
    expect(await readState(plane, second)).toBe("PENDING");
    expect([await readPosition(runs[2]), await readPosition(runs[102])]).toEqual([1, 101]);
    expect(queries).toEqual([]);
    await user.post(`/agent/runs/${runs[50]}/cancel`);
    expect([await readPosition(runs[2]), await readPosition(runs[102])], "counted, as few enough wait").toEqual([
      1, 100,
    ]);
    expect(queries).toHaveLength(2);
  });
});
