import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import {
  consume,
  createHarness,
  createRun,
  deliver,
  type Harness,
  startedRun,
  workingRun,
} from "../support/execution.ts";
import { reap } from "../support/reaper.ts";

async function planeWith(maxExecutions: number | undefined): Promise<TestControlPlane> {
  const plane = await createTestControlPlane();
  plane.capacity.maxExecutions = maxExecutions;
  return plane;
}
const readState = async (plane: TestControlPlane, id: string): Promise<string> =>
  (await createClient(plane).get(`/agent/runs/${id}`)).body.state;
const counted = async (plane: TestControlPlane) => (await plane.table.get(keys.executions()))?.["running"];

/** Dispatches a run while the deployment is full, and returns the delay until its next dispatch. */
async function waits(plane: TestControlPlane, id: string): Promise<number | undefined> {
  plane.sent.length = 0;
  expect((await consume(plane, "runs", id)).batchItemFailures).toEqual([]);
  expect(await readState(plane, id)).toBe("QUEUED");
  return plane.sent.find(({ runId }) => runId === id)?.delaySeconds;
}

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
    for (let attempt = 0; attempt < 30; attempt++) expect(await waits(plane, third)).toBeGreaterThan(0);
    expect(await counted(plane)).toBe(2);
    await first.finish();
    await deliver(plane, "ends");
    await consume(plane, "runs", third);
    expect(await readState(plane, third)).toBe("PENDING");
    expect(await counted(plane)).toBe(2);
  });

  it("frees the owner's slot while a run waits", async () => {
    const plane = await planeWith(1);
    const first = await workingRun(plane);
    const second = await createRun(plane, { prompt: "second" });
    await waits(plane, second);
    const counters = await plane.table.get(keys.counters({ type: "Team", uid: plane.team }));
    expect(counters).toMatchObject({ running: 1, queued: 1 });
    expect((await createClient(plane).post(`/agent/runs/${second}/cancel`)).status).toBe(200);
    await first.finish();
    expect(await counted(plane)).toBe(0);
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
});
