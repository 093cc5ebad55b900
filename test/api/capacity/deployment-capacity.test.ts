import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import {
  consume,
  createHarness,
  createRun,
  deliver,
  type Harness,
  startedRun,
  workingRun,
} from "../../support/execution.ts";
import { reap } from "../../support/reaper.ts";

async function planeWith(maxExecutions: number | undefined): Promise<TestControlPlane> {
  const plane = await createTestControlPlane();
  plane.capacity.maxExecutions = maxExecutions;
  return plane;
}
const readState = async (plane: TestControlPlane, id: string): Promise<string> =>
  (await createClient(plane).get(`/agent/runs/${id}`)).body.state;
const counted = async (plane: TestControlPlane) => (await plane.table.get(keys.executions()))?.["running"];

/** Dispatches a run while the deployment is full: it waits, and nothing dispatches it again. */
async function waits(plane: TestControlPlane, id: string): Promise<void> {
  plane.sent.length = 0;
  expect((await consume(plane, "runs", id)).batchItemFailures).toEqual([]);
  expect(await readHead(plane, id)).toMatchObject({ state: "QUEUED" });
  expect(plane.sent.filter(({ runId }) => runId === id)).toEqual([]);
}

/** Creates a run that waits for the deployment. */
async function waitingRun(plane: TestControlPlane, key = plane.key): Promise<string> {
  plane.clock.now += 10;
  const id = await createRun(plane, { prompt: "waits" }, key);
  await waits(plane, id);
  return id;
}

const readHead = (plane: TestControlPlane, id: string) => plane.table.get(keys.head(id));
const readOwner = (plane: TestControlPlane) => plane.table.get(keys.counters({ type: "Team", uid: plane.team }));
const waiting = async (plane: TestControlPlane) =>
  (await plane.table.query({ pk: "DEPLOYMENT", prefix: "WAITING#" })).items.length;

/** Stores a checkpoint from which the run can continue. */
async function checkpoint(plane: TestControlPlane, harness: Harness): Promise<void> {
  const sha256 = createHash("sha256").update("w").digest("hex");
  const files = [{ filename: "workspace.tar.gz", mime_type: "application/gzip", size_bytes: 1, sha256 }];
  const { body } = await harness.support("upload-snapshot", { mode: "checkpoint", generation: "slice-1", files });
  await plane.upload(body.uploads[0].url, "w");
  await harness.support("commit-snapshot", { generation: "slice-1", files: ["workspace.tar.gz"] });
}

describe("the limit of executions of a deployment", () => {
  it("keeps further runs of any owner QUEUED, and starts them after another execution has ended", async () => {
    const plane = await planeWith(2);
    const first = await workingRun(plane);
    await workingRun(plane, { prompt: "second" }, plane.otherKey);
    const third = await createRun(plane, { prompt: "third" });
    await waits(plane, third);
    expect(await counted(plane)).toBe(2);
    await first.finish();
    await deliver(plane, "ends");
    expect(plane.sent).toEqual([{ queue: "runs", runId: third }]);
    await consume(plane, "runs", third);
    expect(await readState(plane, third)).toBe("PENDING");
    expect(await counted(plane)).toBe(2);
  });

  it("lets a waiting run hold its owner's slot until it is cancelled", async () => {
    const plane = await planeWith(1);
    const first = await workingRun(plane);
    const second = await createRun(plane, { prompt: "second" });
    await waits(plane, second);
    expect(await readOwner(plane)).toMatchObject({ running: 2, queued: 1 });
    expect(await waiting(plane)).toBe(1);
    expect((await createClient(plane).post(`/agent/runs/${second}/cancel`)).status).toBe(200);
    expect(await readOwner(plane)).toMatchObject({ running: 1, queued: 0 });
    expect(await plane.table.query({ pk: "DEPLOYMENT", prefix: "WAITING#" })).toMatchObject({ items: [] });
    await first.finish();
    await deliver(plane, "ends");
    expect(await plane.table.get(keys.executions())).toMatchObject({ running: 0 });
  });

  it("counts an execution that was lost, cancelled or not started as ended", async () => {
    const plane = await planeWith(3);
    const lost = await workingRun(plane);
    plane.clock.now += 31_000;
    await reap(plane);
    expect(await readState(plane, lost.run_id)).toBe("QUEUED");
    expect(await counted(plane)).toBe(0);
    const silent = await startedRun(plane, { prompt: "silent" });
    plane.clock.now += 40_000;
    await reap(plane);
    expect(await readState(plane, silent.run_id)).toBe("QUEUED");
    expect(await counted(plane)).toBe(0);
    const cancelled = await workingRun(plane, { prompt: "cancelled" });
    expect(await counted(plane)).toBe(1);
    await createClient(plane).post(`/agent/runs/${cancelled.run_id}/cancel`);
    expect(await counted(plane)).toBe(0);
  });

  it("keeps the place of a run that continues in a new execution after its time limit", async () => {
    const plane = await planeWith(1);
    const long = await workingRun(plane);
    const other = await createRun(plane, { prompt: "other" });
    await checkpoint(plane, long);
    const over = { category: "slice_ended", message: "the time is over" };
    expect((await long.shutDown({ error: over })).status).toBe(200);
    expect(await readState(plane, long.run_id)).toBe("QUEUED");
    expect(await counted(plane)).toBe(1);
    await waits(plane, other);
    const envelope = await plane.dispatch(long.run_id);
    await createHarness(plane, envelope).resolve();
    expect(await readState(plane, long.run_id)).toBe("INPROGRESS");
    expect(await counted(plane)).toBe(1);
  });

  it("can be introduced and removed while runs execute", async () => {
    const plane = await planeWith(undefined);
    const early = await workingRun(plane);
    expect(await counted(plane)).toBeUndefined();
    plane.capacity.maxExecutions = 1;
    const counting = await workingRun(plane, { prompt: "counting" });
    await early.finish();
    expect(await counted(plane)).toBe(1);
    plane.capacity.maxExecutions = undefined;
    await workingRun(plane, { prompt: "late" });
    await counting.finish();
    expect(await counted(plane)).toBe(0);
  });

  it("lets new runs wait behind a run that waits already", async () => {
    const plane = await planeWith(1);
    const first = await workingRun(plane);
    const waited = await waitingRun(plane);
    await first.finish();
    const late = await waitingRun(plane);
    await deliver(plane, "ends");
    expect(await readHead(plane, waited)).toMatchObject({ counted: true, slot: "owner" });
    expect(await readHead(plane, late)).toMatchObject({ deployment_entry: expect.stringContaining(late) });
  });

  it("gives the next execution to an owner whose turn is next, not to the one with most runs", async () => {
    const plane = await planeWith(1);
    const first = await workingRun(plane);
    const own = [await waitingRun(plane), await waitingRun(plane), await waitingRun(plane)];
    const other = await waitingRun(plane, plane.otherKey);
    const started: string[] = [];
    let working = first;
    for (let end = 0; end < 4; end++) {
      plane.sent.length = 0;
      await working.finish();
      await deliver(plane, "ends");
      const next = plane.sent.find(({ queue }) => queue === "runs")?.runId ?? "";
      started.push(next);
      working = createHarness(plane, await plane.dispatch(next));
      await working.resolve();
    }
    expect(started).toEqual([own[0], other, own[1], own[2]]);
  });

  it("reports that a run waits, with its position", async () => {
    const plane = await planeWith(1);
    await workingRun(plane);
    await waitingRun(plane);
    const second = await waitingRun(plane);
    const client = createClient(plane);
    const { body } = await client.get(`/agent/runs/${second}/events?live=true`);
    expect(body.waiting).toEqual({ position: 2 });
    const { data } = body.events.find(({ type }: { type: string }) => type === "run_waiting");
    expect(data).toEqual({ position: 2, detail: "waiting for capacity, position 2 in the queue" });
  });

  it("has the reaper grant an execution whose end nobody handled", async () => {
    const plane = await planeWith(1);
    const first = await workingRun(plane);
    const waited = await waitingRun(plane);
    await first.finish();
    plane.sent.length = 0;
    await reap(plane);
    expect(plane.sent).toContainEqual({ queue: "runs", runId: waited });
    expect(await readHead(plane, waited)).toMatchObject({ counted: true });
  });

  it("has the reaper request the dispatch of a granted run whose message was lost", async () => {
    const plane = await planeWith(1);
    const first = await workingRun(plane);
    const waited = await waitingRun(plane);
    await first.finish();
    await deliver(plane, "ends");
    plane.sent.length = 0;
    plane.clock.now += 31_000;
    await reap(plane);
    expect(plane.sent).toContainEqual({ queue: "runs", runId: waited });
  });

  it("costs a waiting run no request of its own, and a write a week", async () => {
    const plane = await planeWith(1);
    const first = await workingRun(plane);
    const waited = await waitingRun(plane);
    plane.sent.length = 0;
    const before = await plane.ports.runs.head(waited);
    for (let hour = 0; hour < 167; hour++) {
      plane.clock.now += 3_600_000;
      await first.beat();
      await reap(plane);
    }
    expect(await plane.ports.runs.head(waited)).toEqual(before);
    for (let hour = 0; hour < 2; hour++) {
      plane.clock.now += 3_600_000;
      await first.beat();
      await reap(plane);
    }
    const { check_at: checkAt, ...head } = (await plane.ports.runs.head(waited)) ?? {};
    expect(head).toEqual({ ...before, check_at: undefined });
    expect(String(checkAt) > String(before?.check_at)).toBe(true);
    expect(plane.sent.filter(({ runId }) => runId === waited)).toEqual([]);
  });

  it("lets all waiting runs start once it is removed", async () => {
    const plane = await planeWith(1);
    await workingRun(plane);
    const waited = await waitingRun(plane);
    plane.capacity.maxExecutions = undefined;
    await reap(plane);
    await consume(plane, "runs", waited);
    expect(await readState(plane, waited)).toBe("PENDING");
  });
});
