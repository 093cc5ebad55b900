import { beforeEach, describe, expect, it, vi } from "vitest";
import { deferStart, returnToQueue } from "#shared/runs/return-to-queue.ts";
import { StartDeferred } from "#shared/sandbox/sandbox.ts";
import { keys, sortableTime } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { consume, createRun, startedRun, workingRun } from "../../support/execution.ts";
import { readState } from "../../support/look.ts";
import { reap } from "../../support/reaper.ts";
import { withFailingWrites, withWriteInBetween } from "../../support/write-conflicts.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});

const OTHER = "0199e0b2-0000-4000-8000-000000000000";
const silent = (run: string, execution: string) => returnToQueue(run, execution, "it was silent", plane.ports);
const deferred = (run: string, execution: string) => deferStart(run, execution, { hasFailed: true }, plane.ports);
const readHead = (run: string) => plane.table.get(keys.head(run));

describe.each([
  ["whose sandbox is silent", silent],
  ["whose sandbox was not started", deferred],
])("a run %s", (_, giveBack) => {
  it("returns to the queue without its execution", async () => {
    const { run_id, execution_id } = await startedRun(plane);
    await giveBack(run_id, execution_id);
    const head = await readHead(run_id);
    expect(head).toMatchObject({ state: "QUEUED" });
    for (const name of ["execution_id", "key_hash", "state_since", "heartbeat_at", "slot"]) {
      expect(head, name).not.toHaveProperty(name);
    }
  });

  it("does not change if it executes, has another execution, has ended or does not exist", async () => {
    const [working, prepared] = [await workingRun(plane), await startedRun(plane)];
    const finished = await workingRun(plane);
    await finished.finish();
    plane.sent.length = 0;
    const before = structuredClone(plane.table.all());
    for (const { run_id, execution_id } of [working, finished, { run_id: prepared.run_id, execution_id: OTHER }]) {
      await giveBack(run_id, execution_id);
    }
    await giveBack(OTHER, prepared.execution_id);
    expect(plane.table.all()).toEqual(before);
    expect(plane.sent).toEqual([]);
  });

  it("does not return to the queue if it begins concurrently", async () => {
    const harness = await startedRun(plane);
    plane.sent.length = 0;
    await withWriteInBetween(
      plane,
      (write) => write.kind === "update" && write.set?.["state"] === "QUEUED",
      harness.resolve,
      () => giveBack(harness.run_id, harness.execution_id),
    );
    expect(await readState(plane, harness.run_id)).toBe("INPROGRESS");
    expect(plane.sent).toEqual([]);
  });

  it("passes on errors other than conflicts", async () => {
    const { run_id, execution_id } = await startedRun(plane);
    const giving = withFailingWrites(plane, keys.head(run_id), () => giveBack(run_id, execution_id), new Error("gone"));
    await expect(giving).rejects.toThrow("gone");
  });
});

describe("a start", () => {
  it("does not count as failed if it is deferred", async () => {
    const id = await createRun(plane);
    const start = async (failure: Error) => {
      plane.failures.push(failure);
      await consume(plane, "runs", id);
      return readState(plane, id);
    };
    for (let failed = 1; failed <= 4; failed++) expect(await start(new Error("no such function"))).toBe("QUEUED");
    expect(await start(new StartDeferred("throttled"))).toBe("QUEUED");
    expect(await readHead(id)).toMatchObject({ failed_starts: 4, deferred_starts: 5 });
    expect(await start(new Error("no such function"))).toBe("ERROR");
  });

  it.each(["lambda", "microvm"] as const)(
    "ends the run in ERROR when it is the third in a row without a request (%s)",
    async (provider) => {
      plane.offered.splice(0, 1, provider);
      const id = await createRun(plane);
      vi.mocked(process.stdout.write).mockClear();
      for (let start = 1; start <= 3; start++) {
        expect(await readHead(id), `start ${start}`).toMatchObject({ state: "QUEUED" });
        await plane.dispatch(id);
        plane.clock.now += 70_000;
        await reap(plane);
      }
      expect((await createClient(plane).get(`/agent/runs/${id}`)).body).toMatchObject({
        state: "ERROR",
        status_message: {
          error_code: "internal_error",
          message: "the sandbox was started 3 times in a row and sent no request",
          retryable: true,
        },
      });
      const lines = vi.mocked(process.stdout.write).mock.calls.map(([line]): unknown => JSON.parse(String(line)));
      expect(lines).toContainEqual(expect.objectContaining({ level: "error", run_id: id, startFailed: true }));
    },
  );

  it("does not count as silent if it is deferred, or refused by a worker", async () => {
    const id = await createRun(plane);
    for (let start = 1; start <= 2; start++) await silent(id, (await plane.dispatch(id)).execution_id);
    for (let start = 1; start <= 5; start++) {
      plane.failures.push(new StartDeferred("throttled"));
      await consume(plane, "runs", id);
      const { execution_id } = await plane.dispatch(id);
      await returnToQueue(id, execution_id, "it is at capacity", plane.ports, "unstarted");
      expect(await readHead(id), `start ${start}`).toMatchObject({ state: "QUEUED", silent_starts: 2 });
    }
    await silent(id, (await plane.dispatch(id)).execution_id);
    expect(await readState(plane, id)).toBe("ERROR");
  });

  it("is counted from zero again after a follow-up restarts the run", async () => {
    const id = await createRun(plane);
    plane.failures.push(new StartDeferred("throttled"), new Error("no such function"));
    for (let start = 1; start <= 2; start++) await consume(plane, "runs", id);
    for (let start = 1; start <= 3; start++) await silent(id, (await plane.dispatch(id)).execution_id);
    expect(await readHead(id)).toMatchObject({
      state: "ERROR",
      silent_starts: 2,
      deferred_starts: 2,
      failed_starts: 1,
    });
    await createClient(plane).post(`/agent/runs/${id}/followups`, { message: "try again" });
    const head = await readHead(id);
    expect(head).toMatchObject({ state: "QUEUED" });
    for (const name of ["silent_starts", "deferred_starts", "failed_starts"]) expect(head).not.toHaveProperty(name);
  });

  it("has its sandbox stopped if it was silent, and has no sandbox to stop if it failed", async () => {
    plane.offered.push("fargate");
    const image = { name: "py", docker_image: "python:3.13" };
    const environment_id = (await createClient(plane).post("/agent/environments", image)).body.uid;
    const body = { prompt: "a", config: { environment_id } };
    const [first, second] = [await startedRun(plane, body), await createRun(plane, body)];
    plane.sent.length = 0;
    await silent(first.run_id, first.execution_id);
    expect(await readHead(first.run_id)).toMatchObject({ stops: [{ execution_id: first.execution_id }] });
    expect(plane.sent).toEqual([
      { queue: "runs", runId: first.run_id },
      { queue: "ends", runId: first.run_id },
    ]);
    plane.failures.push(new Error("no such task"));
    await consume(plane, "runs", second);
    expect(await readHead(second)).toMatchObject({ state: "QUEUED", failed_starts: 1 });
    expect(await readHead(second)).not.toHaveProperty("stops");
  });

  it("is checked by the reaper after five seconds if it was silent", async () => {
    const { run_id, execution_id } = await startedRun(plane);
    await silent(run_id, execution_id);
    expect(await readHead(run_id)).toMatchObject({ check_at: sortableTime(plane.clock.now + 5_000) });
  });
});

describe("a run whose execution was lost", () => {
  it("is checked by the reaper thirty seconds later", async () => {
    const harness = await workingRun(plane);
    plane.clock.now += 1_000;
    await harness.shutDown();
    expect(await readHead(harness.run_id)).toMatchObject({ check_at: sortableTime(plane.clock.now + 30_000) });
  });
});
