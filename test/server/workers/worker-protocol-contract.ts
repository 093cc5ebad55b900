import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import type { Composition, CompositionWithModel } from "../support/worker-service.ts";

/** The worker protocol, except for the parts that need a model. */
export function workerProtocolContract(getService: () => Composition): void {
  it("execute a run from its offer to its end once, and frames that come later change nothing", async () => {
    const service = getService();
    const { connectWorker, createRun, readRun, untilState } = play(service);
    const run = await createRun();
    const worker = await connectWorker();
    await service.until(() => expect(worker.assignments()).toMatchObject([{ data: { task_id: run } }]));
    await worker.send("task_rejected", { task_id: run, reason: "at capacity" });
    await untilState(run, "QUEUED");
    const second = await connectWorker();
    await service.until(() => expect(second.assignments()).toHaveLength(1));
    await second.claim(run);
    await untilState(run, "CLAIMED");
    await worker.close();
    const harness = second.startHarness();
    expect((await harness.support("resolve-prompt", {})).body.prompt).toBe("work");
    expect((await harness.support("finish-task", { success: true, summary: "done" })).status).toBe(200);
    await second.send("task_failed", { task_id: run, message: "too late" });
    const next = await createRun();
    await service.until(() => expect(second.assignments()).toHaveLength(2));
    await second.claim(next);
    await untilState(next, "CLAIMED");
    expect((await readRun(run)).state).toBe("SUCCEEDED");
    const { body } = await service.call("GET", `/agent/runs/${run}/timeline`);
    const types = body.events.map(({ event_type }: { event_type: string }) => event_type);
    expect(types.filter((type: string) => /^run_(succeeded|failed)$/.test(type))).toEqual(["run_succeeded"]);
  });

  it("lose a run that they claimed without beginning it, and are refused when they come back late", async () => {
    const service = getService();
    const { workerHost, connectWorker, createRun, readRun, untilState } = play(service);
    const first = await connectWorker();
    const run = await createRun();
    await service.until(() => expect(first.assignments()).toHaveLength(1));
    await first.claim(run);
    await untilState(run, "CLAIMED");
    const late = first.startHarness();
    await first.close();
    const second = await connectWorker();
    await service.passClaimLease();
    await service.until(() => expect(second.assignments()).toHaveLength(1));
    await second.claim(run);
    await untilState(run, "CLAIMED");
    expect((await late.support("resolve-prompt", {})).status).toBe(401);
    const back = await connectWorker();
    await back.send("task_failed", { task_id: run, execution_id: late.executionId, message: "my execution failed" });
    await back.send("task_claimed", { task_id: run, execution_id: late.executionId, worker_id: workerHost });
    await service.until(() =>
      expect(back.cancellations()).toMatchObject([{ data: { task_id: run, execution_id: late.executionId } }]),
    );
    expect((await readRun(run)).state).toBe("CLAIMED");
    expect((await second.startHarness().support("resolve-prompt", {})).status).toBe(200);
    await untilState(run, "INPROGRESS");
  });

  it("can neither see nor end runs of other teams and workers, and cause no failure with invalid frames", async () => {
    const service = getService();
    const { workerHost, connectWorker, createRun, readRun, untilState, startRun } = play(service);
    const { worker, run, harness } = await startRun();
    const stranger = await connectWorker(workerHost, service.strangersKey);
    const namesake = await connectWorker(`${workerHost}-b`);
    for (const other of [stranger, namesake, worker]) {
      const texts = ["", "{", "null", "[]", '"text"', '{"type":"task_claimed"}', '{"type":1,"data":{}}', "\u0000"];
      for (const text of texts) await other.sendText(text);
      await other.send("task_failed", { task_id: "no-such-task", message: "" });
    }
    for (const other of [stranger, namesake]) {
      for (const type of ["task_claimed", "task_rejected", "task_completed", "task_failed"])
        await other.send(type, { task_id: run, message: "mine", reason: "mine", worker_id: workerHost });
      expect(other.frames()).toEqual([]);
    }
    const heartbeat = { execution_id: harness.executionId, followups_stored: 0 };
    expect((await harness.support("heartbeat", heartbeat)).status).toBe(200);
    const next = await createRun();
    await service.until(() => expect(worker.assignments()).toHaveLength(2));
    await worker.claim(next);
    await untilState(next, "CLAIMED");
    expect((await readRun(run)).state).toBe("INPROGRESS");
    expect([...stranger.frames(), ...namesake.frames()]).toEqual([]);
    expect((await harness.support("finish-task", { success: true, summary: "done" })).status).toBe(200);
    await untilState(run, "SUCCEEDED");
  });

  it("are notified to stop a run that is cancelled by force, and a plain cancel returns 422", async () => {
    const service = getService();
    const { readRun, startRun } = play(service);
    const { worker, run, harness } = await startRun();
    expect((await service.call("POST", `/agent/runs/${run}/cancel`)).status).toBe(422);
    expect((await service.call("POST", `/agent/runs/${run}/cancel?force=true`)).status).toBe(200);
    await service.until(() => expect(worker.cancellations()).toMatchObject([{ data: { task_id: run } }]));
    const heartbeat = { execution_id: harness.executionId, followups_stored: 0 };
    expect((await harness.support("heartbeat", heartbeat)).status).toBe(401);
    await worker.send("task_completed", { task_id: run, message: "stopped", task_state: "CANCELLED" });
    await service.until(async () =>
      expect(await readRun(run)).toMatchObject({ state: "CANCELLED", is_sandbox_running: false }),
    );
  });

  it("are notified to stop an execution that is over before the run continues in another one", async () => {
    const service = getService();
    const { untilState, startRun } = play(service);
    const { worker, run, harness } = await startRun();
    // The worker does not know that its harness reported a shutdown.
    expect((await harness.support("report-shutdown", {})).status).toBe(200);
    await service.until(() => expect(worker.assignments()).toHaveLength(2));
    const [stop, offer] = worker.frames().slice(-2);
    expect([stop?.type, offer?.type]).toEqual(["task_cancellation", "task_assignment"]);
    expect(stop?.data).toEqual({ task_id: run, execution_id: harness.executionId });
    const heartbeat = { execution_id: harness.executionId, followups_stored: 0 };
    expect((await harness.support("heartbeat", heartbeat)).status).toBe(401);
    await worker.send("task_completed", { task_id: run, execution_id: harness.executionId, message: "done" });
    await worker.claim(run);
    await untilState(run, "CLAIMED");
    expect((await worker.startHarness().support("resolve-prompt", {})).status).toBe(200);
  });
}

/** The worker protocol for a run that spends its budget. */
export function workerBudgetContract(getService: () => CompositionWithModel): void {
  it("are notified to stop a run whose budget is spent", async () => {
    const service = getService();
    const { readRun, startRun } = play(service);
    const { worker, run, harness } = await startRun({ model_id: service.model, budget_usd: 0.013 });
    const messages = [{ role: "user", content: "hello" }];
    const call = { model: service.model, messages, max_tokens: 1_000 };
    service.models.turns.push({ usage: { input: 4_000, output: 1_000 } });
    expect(await service.callModel(harness.key, call)).toBe(200);
    expect(worker.cancellations()).toEqual([]);
    expect(await service.callModel(harness.key, call)).toBe(403);
    await service.until(() => expect(worker.cancellations()).toMatchObject([{ data: { task_id: run } }]));
    expect(await readRun(run)).toMatchObject({
      state: "FAILED",
      status_message: { error_code: "budget_exceeded" },
    });
    expect(await service.callModel(harness.key, call)).toBe(401);
  });
}

/** Workers and runs of one test: workers have an id of their own, because tests share a service. */
function play(service: Composition) {
  const workerHost = `rack-${randomUUID().slice(0, 8)}`;
  /** A worker that behaves as workers of this protocol do. */
  async function connectWorker(workerId = workerHost, key?: string) {
    const connection = await service.connect(workerId, key);
    const listFrames = (type: string) => connection.frames().filter((frame) => frame.type === type);
    const send = (type: string, data: object) => connection.sendText(JSON.stringify({ type, data }));
    return {
      ...connection,
      send,
      claim: (task_id: string) => send("task_claimed", { task_id, worker_id: workerId }),
      assignments: () => listFrames("task_assignment"),
      cancellations: () => listFrames("task_cancellation"),
      /** The harness that the worker starts for its last assignment. */
      startHarness() {
        const { env_vars } = listFrames("task_assignment").at(-1)?.data ?? {};
        const key: string = env_vars.WARP_API_KEY;
        const headers = { "runyard-instance": randomUUID(), "runyard-protocol": "1" };
        const support = (name: string, body: object) =>
          service.call("POST", `/harness-support/${name}`, { key, headers, body });
        return { key, executionId: String(env_vars.RUNYARD_EXECUTION_ID), support };
      },
    };
  }

  const createRun = async (config: object = {}): Promise<string> => {
    const body = { prompt: "work", config: { worker_host: workerHost, ...config } };
    const { status, body: created } = await service.call("POST", "/agent/runs", { body });
    expect(status, JSON.stringify(created)).toBe(200);
    return created.run_id;
  };
  const readRun = async (id: string) => (await service.call("GET", `/agent/runs/${id}`)).body;
  const untilState = (id: string, state: string) =>
    service.until(async () => expect((await readRun(id)).state).toBe(state));

  /** A run that a worker executes. */
  async function startRun(config?: object) {
    const worker = await connectWorker();
    const run = await createRun(config);
    await service.until(() => expect(worker.assignments()).toHaveLength(1));
    await worker.claim(run);
    await untilState(run, "CLAIMED");
    const harness = worker.startHarness();
    expect((await harness.support("resolve-prompt", {})).status).toBe(200);
    await untilState(run, "INPROGRESS");
    return { worker, run, harness };
  }
  return { workerHost, connectWorker, createRun, readRun, untilState, startRun };
}
