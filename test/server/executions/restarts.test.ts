import { afterEach, describe, expect, it, vi } from "vitest";
import { expireExecutions, recoverExecutions } from "#server/sandbox/recover-executions.ts";
import { MAX_RESTARTS } from "#shared/records/run.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, type Harness, workingRun } from "../../support/execution.ts";
import { readState, readTimeline } from "../../support/look.ts";

afterEach(() => void vi.restoreAllMocks());

/** Recovers the execution of a harness that ended with the service. */
async function restart(plane: TestControlPlane, ...harnesses: readonly Harness[]): Promise<void> {
  const left = new Map(harnesses.map(({ run_id, execution_id }) => [execution_id, run_id]));
  const log = {
    add: () => undefined,
    remove: (id: string) => void left.delete(id),
    all: () => [...left].map(([id, run_id]) => ({ id, run_id })),
  };
  expect(await recoverExecutions(log, plane.ports)).toBe(harnesses.length);
  expect(log.all(), "what was recovered is not recovered again").toEqual([]);
}

async function nextExecution(plane: TestControlPlane, runId: string): Promise<Harness> {
  const next = createHarness(plane, await plane.dispatch(runId));
  expect((await next.resolve()).status).toBe(200);
  return next;
}

describe("a restart of the service", () => {
  it(`lets a run continue ${MAX_RESTARTS - 1} times without counting losses of the run, and then ends it`, async () => {
    const plane = await createTestControlPlane();
    let harness = await workingRun(plane);
    const { run_id } = harness;
    for (let count = 1; count < MAX_RESTARTS; count++) {
      await restart(plane, harness);
      expect(await readState(plane, run_id)).toBe("QUEUED");
      expect(await plane.ports.runs.head(run_id)).toMatchObject({ losses: 0, restarts: count });
      expect((await harness.beat()).status).toBe(401);
      harness = await nextExecution(plane, run_id);
    }
    await restart(plane, harness);
    expect(await readState(plane, run_id)).toBe("ERROR");
    expect((await readTimeline(plane, run_id)).filter((type) => type === "execution_lost")).toHaveLength(MAX_RESTARTS);
  });

  it("ends the sandbox of a run that was cancelled, and leaves a run that has another execution", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const cancelled = await workingRun(plane);
    expect((await user.post(`/agent/runs/${cancelled.run_id}/cancel`)).status).toBe(200);
    const isRunning = async () => (await user.get(`/agent/runs/${cancelled.run_id}`)).body.is_sandbox_running;
    expect(await isRunning()).toBe(true);
    const first = await workingRun(plane);
    await restart(plane, first);
    const second = await nextExecution(plane, first.run_id);
    await restart(plane, first, cancelled);
    expect([await isRunning(), await readState(plane, first.run_id)]).toEqual([false, "INPROGRESS"]);
    expect((await second.beat()).status).toBe(200);
  });
});

describe("a stop of the service", () => {
  it("counts as a restart, whatever the harness reports afterwards, and leaves a cancelled run to its harness", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const [harness, cancelled] = [await workingRun(plane), await workingRun(plane)];
    expect((await user.post(`/agent/runs/${cancelled.run_id}/cancel`)).status).toBe(200);
    const all = () => [harness, cancelled].map(({ run_id, execution_id }) => ({ id: execution_id, run_id }));
    await expireExecutions({ all }, plane.ports);
    expect((await harness.shutDown({ error: { category: "shutdown", message: "terminated" } })).status).toBe(401);
    expect(await plane.ports.runs.head(harness.run_id)).toMatchObject({ state: "QUEUED", losses: 0, restarts: 1 });
    expect((await user.get(`/agent/runs/${cancelled.run_id}`)).body.is_sandbox_running).toBe(true);
  });

  it("goes on where an execution cannot be expired", async () => {
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const { runs } = plane.ports;
    const head = (runId: string) => (runId === "unread" ? Promise.reject(new Error("no")) : runs.head(runId));
    const all = () => ["unread", harness.run_id].map((run_id) => ({ id: harness.execution_id, run_id }));
    await expireExecutions({ all }, { ...plane.ports, runs: { ...runs, head } });
    expect(await readState(plane, harness.run_id)).toBe("QUEUED");
  });
});
