import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { MAX_FRAME_BYTES } from "#shared/wire/worker.ts";
import { workerStore } from "#shared/workers/worker-store.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { consume, createRun, deliver } from "../../support/execution.ts";
import { readState } from "../../support/look.ts";
import { reap } from "../../support/reaper.ts";
import { connectedWorker } from "../../support/worker.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const onRack = { prompt: "work", config: { worker_host: "rack-7" } };
type Worker = Awaited<ReturnType<typeof connectedWorker>>;

const pass = async (seconds: number) => {
  plane.clock.now += seconds * 1000;
  await reap(plane);
  await deliver(plane);
};
/** Returns a stored connection. */
const findConnection = async ({ connectionId }: Worker) =>
  (await workerStore(plane.ports).find(connectionId))?.connection;
/** A run that was offered to a worker. */
async function offeredRun(body: Record<string, unknown> = onRack) {
  const worker = await connectedWorker(plane);
  const run = await createRun(plane, body);
  await deliver(plane);
  return { worker, run };
}
describe("the offer of a run", () => {
  // @contract workers.offer.frame
  it("contains the task, the execution and its key, and the models' URL", async () => {
    plane.ports = { ...plane.ports, modelUrl: "https://models.runyard.test" };
    const { worker, run } = await offeredRun();
    const { body } = await user.get(`/agent/runs/${run}`);
    const [{ data }, ...others] = worker.assignments();
    expect(others).toEqual([]);
    expect(data).toEqual({
      task_id: run,
      execution_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      task: {
        id: run,
        title: "work",
        task_definition: { prompt: "work" },
        created_at: body.created_at,
        updated_at: body.updated_at,
        owner: { Type: "TEAM", Id: createHash("sha256").update(plane.team).digest().readUIntBE(0, 6) },
        agent_config_snapshot: {
          computer_use_enabled: false,
          idle_timeout_minutes: 10,
          model_id: "local/runbook",
          worker_host: "rack-7",
        },
        agent_conversation_id: run,
      },
      env_vars: {
        WARP_API_KEY: expect.stringMatching(/^ryr_/),
        RUNYARD_EXECUTION_ID: data.execution_id,
        RUNYARD_MODEL_URL: "https://models.runyard.test",
      },
    });
  });

  it("contains the image of the run's environment", async () => {
    const { body } = await user.post("/agent/environments", { name: "py", docker_image: "python:3.13" });
    const { worker } = await offeredRun({ ...onRack, config: { ...onRack.config, environment_id: body.uid } });
    expect(worker.assignments()).toMatchObject([{ data: { docker_image: "python:3.13" } }]);
  });

  it("omits the configuration before it truncates the prompt, and keeps a kilobyte of the frame free", async () => {
    const worker = await connectedWorker(plane);
    const config = { ...onRack.config, base_prompt: "b".repeat(8_000) };
    const prompt = "p".repeat(MAX_FRAME_BYTES - 1024 - 2_000);
    const fits = await createRun(plane, { prompt, config: onRack.config, title: "t" });
    await deliver(plane);
    await worker.claim(fits);
    expect(worker.assignments()[0].data.task).toMatchObject({ task_definition: { prompt } });
    expect(worker.assignments()[0].data.task).toHaveProperty("agent_config_snapshot");
    await createRun(plane, { prompt, config, title: "t" });
    await deliver(plane);
    const [, second] = worker.assignments();
    expect(second.data.task).toMatchObject({ task_definition: { prompt } });
    expect(second.data.task).not.toHaveProperty("agent_config_snapshot");
    for (const frame of worker.assignments()) {
      expect(Buffer.byteLength(JSON.stringify(frame))).toBeLessThanOrEqual(MAX_FRAME_BYTES - 1024);
    }
  });

  it("goes to the connection that has waited longest", async () => {
    const first = await connectedWorker(plane);
    plane.clock.now += 1000;
    const second = await connectedWorker(plane);
    for (const expected of [first, second, first, second]) {
      plane.clock.now += 1000;
      const before = expected.assignments().length;
      const run = await createRun(plane, onRack);
      await deliver(plane);
      expect(expected.assignments()).toHaveLength(before + 1);
      await expected.claim(run);
    }
  });
});

describe("a connection that cannot receive frames until it is open", () => {
  beforeEach(() => {
    plane.ports = { ...plane.ports, settleSeconds: 1 };
  });

  it("is offered the oldest waiting run a second after it opens", async () => {
    const run = await createRun(plane, onRack);
    await deliver(plane);
    plane.sent.splice(0);
    const worker = await connectedWorker(plane);
    expect(plane.sent).toEqual([{ queue: "runs", runId: run, delaySeconds: 2 }]);
    expect(await findConnection(worker)).toMatchObject({ busy_until: plane.clock.now + 1000 });
    plane.clock.now += 2000;
    await deliver(plane);
    expect(worker.assignments()).toHaveLength(1);
  });

  it("is tried again two seconds later if it becomes free within that time", async () => {
    const worker = await connectedWorker(plane);
    const run = await createRun(plane, onRack);
    plane.sent.splice(0);
    await consume(plane, "runs", run);
    expect(plane.sent).toEqual([{ queue: "runs", runId: run, delaySeconds: 2 }]);
    expect(worker.assignments()).toEqual([]);
  });
});

describe("a connection that is closed when a run is offered", () => {
  it.each([
    [4_999, true],
    [5_000, false],
  ])("is kept after %i ms, because it may still be opening: %j", async (age, isKept) => {
    const worker = await connectedWorker(plane);
    plane.received.delete(worker.connectionId);
    plane.clock.now += age;
    const run = await createRun(plane, onRack);
    await consume(plane, "runs", run);
    expect(await readState(plane, run)).toBe("QUEUED");
    expect(await findConnection(worker)).toEqual(
      isKept ? expect.objectContaining({ busy_until: plane.clock.now + 1000 }) : undefined,
    );
  });
});

describe("a connection that does not claim its offers", () => {
  it("gets the next one after a minute, then after intervals that double up to 15 minutes", async () => {
    const { worker, run } = await offeredRun();
    const waits: number[] = [];
    for (let round = 0; round < 6; round++) {
      await pass(46);
      expect(await readState(plane, run), `round ${round}`).toBe("QUEUED");
      const { busy_until = 0, unclaimed } = (await findConnection(worker)) ?? {};
      expect(unclaimed).toBe(round + 1);
      waits.push((busy_until - plane.clock.now) / 1000);
      plane.clock.now = busy_until;
      await workerStore(plane.ports).noteSeen({
        team: plane.team,
        workerHost: "rack-7",
        connectionId: worker.connectionId,
      });
      await pass(60);
      expect(worker.assignments(), `round ${round}`).toHaveLength(round + 2);
    }
    expect(waits).toEqual([60, 120, 240, 480, 900, 900]);
    await worker.claim(run);
    expect(await findConnection(worker)).toMatchObject({ unclaimed: 0, busy_until: 0 });
    expect(await findConnection(worker)).not.toHaveProperty("offer");
  });

  it("is not released by the end of another run of its worker", async () => {
    const { worker } = await offeredRun();
    await pass(46);
    const other = await connectedWorker(plane);
    await deliver(plane);
    const { task_id } = other.assignments()[0].data;
    await other.claim(task_id);
    const harness = other.harness();
    await harness.resolve();
    await harness.finish();
    await deliver(plane);
    expect(await findConnection(worker)).toMatchObject({ unclaimed: 1, busy_until: expect.any(Number) });
    expect((await findConnection(worker))?.busy_until).toBeGreaterThan(plane.clock.now);
  });
});

describe("a worker at capacity", () => {
  it("gets no offer for 30 seconds, or until one of its tasks has ended", async () => {
    const { worker, run } = await offeredRun();
    await worker.send("task_rejected", { task_id: run });
    const { busy_until } = (await findConnection(worker)) ?? {};
    expect(busy_until).toBe(plane.clock.now + 30_000);
    const { body } = await user.get(`/agent/runs/${run}/timeline`);
    expect(JSON.stringify(body)).toContain("the worker rejected the run: no reason given");
    // A frame about an ended task reports free capacity.
    await worker.send("task_failed", { task_id: run, execution_id: "another" });
    expect(await findConnection(worker)).toMatchObject({ busy_until: 0 });
  });
});

describe("a frame of a worker", () => {
  async function claimedRun() {
    const { worker, run } = await offeredRun();
    await worker.claim(run);
    return { worker, run, execution_id: worker.assignments()[0].data.execution_id };
  }
  const message = async (run: string) => (await user.get(`/agent/runs/${run}`)).body.status_message;

  it("is ignored if it is binary", async () => {
    const { worker, run } = await offeredRun();
    await worker.sendText(JSON.stringify({ type: "task_claimed", data: { task_id: run } }), true);
    expect(await readState(plane, run)).toBe("PENDING");
    await worker.sendText(JSON.stringify({ type: "task_claimed", data: { task_id: run } }));
    expect(await readState(plane, run)).toBe("CLAIMED");
  });

  it("closes a connection that is unknown, or whose key is deleted, and has no effect", async () => {
    const agent = await plane.agent();
    const worker = await connectedWorker(plane, "rack-7", { key: agent.key });
    const run = await createRun(plane, onRack);
    await deliver(plane);
    await user.delete(`/agent/identities/${agent.uid}/keys/${agent.keyUid}`);
    await worker.claim(run);
    expect(await readState(plane, run)).toBe("PENDING");
    expect(plane.received.has(worker.connectionId)).toBe(false);
    expect(await findConnection(worker)).toBeUndefined();
    plane.received.set(worker.connectionId, []);
    await worker.claim(run);
    expect(plane.received.has(worker.connectionId)).toBe(false);
  });

  it("applies only to the execution that it names", async () => {
    const { worker, run, execution_id } = await claimedRun();
    await worker.send("task_completed", { task_id: run, execution_id: "another", message: "done" });
    expect(await readState(plane, run)).toBe("CLAIMED");
    await worker.send("task_completed", { task_id: run, execution_id, message: "done" });
    expect(await readState(plane, run)).toBe("SUCCEEDED");
  });

  it.each([
    [
      { failure_reason: "agent_invocation", exit_code: 3, message: "bad" },
      "the worker rack-7 failed (agent_invocation, exit code 3): bad",
      undefined,
    ],
    [{ exit_code: 0, message: "bad" }, "the worker rack-7 failed (exit code 0): bad", undefined],
    [{ message: "bad" }, "the worker rack-7 failed: bad", undefined],
    [
      { failure_reason: "dispatch_timeout" },
      "the worker rack-7 failed (dispatch_timeout):",
      "environment_setup_failed",
    ],
  ])("ends the run if it reports the failure %j", async (data, text, code) => {
    const { worker, run } = await claimedRun();
    await worker.send("task_failed", { task_id: run, ...data });
    expect(await readState(plane, run)).toBe("FAILED");
    const shown = await message(run);
    expect([shown.message.trim(), shown.error_code]).toEqual([text, code]);
  });

  // @contract workers.end.followup: A task that ends without a waiting follow-up queues the run once more, and no more often.
  it("requeues the run once for a follow-up that waits, and ends it if the next execution fails too", async () => {
    const { worker, run } = await claimedRun();
    await user.post(`/agent/runs/${run}/followups`, { message: "more" });
    const fail = () => worker.send("task_failed", { task_id: run, failure_reason: "dispatch_command", message: "bad" });
    await fail();
    await deliver(plane);
    expect(await readState(plane, run)).toBe("PENDING");
    await worker.claim(run);
    await fail();
    expect(await readState(plane, run)).toBe("FAILED");
    await user.post(`/agent/runs/${run}/followups`, { message: "again" });
    await deliver(plane);
    await worker.claim(run);
    const { body } = await worker.harness().resolve();
    expect(body.context.followups).toMatchObject([{ message: "more" }, { message: "again" }]);
  });

  it("requeues the run if it reports a failure before the claim; a success then has no effect", async () => {
    const { worker, run } = await offeredRun();
    await worker.send("task_completed", { task_id: run });
    expect(await readState(plane, run)).toBe("PENDING");
    await worker.send("task_failed", { task_id: run, message: "no space" });
    expect(await readState(plane, run)).toBe("QUEUED");
    expect(JSON.stringify((await user.get(`/agent/runs/${run}/timeline`)).body)).toContain(
      "the worker failed: no space",
    );
  });

  it.each([
    ["task_completed", "SUCCEEDED"],
    ["task_failed", "FAILED"],
  ])("ends the run if %s names its execution and comes before the claim", async (type, state) => {
    const { worker, run } = await offeredRun();
    const [{ data }] = worker.assignments();
    await worker.send(type, { task_id: run, execution_id: data.execution_id, message: "it is over" });
    expect(await readState(plane, run)).toBe(state);
    await worker.claim(run);
    expect(await readState(plane, run)).toBe(state);
  });

  it("makes the worker stop an execution that it claims too late", async () => {
    const { worker, run, execution_id } = await claimedRun();
    await worker.claim(run);
    await worker.send("task_claimed", { task_id: run, execution_id });
    expect(worker.cancellations()).toEqual([]);
    await worker.send("task_claimed", { task_id: run, execution_id: "another" });
    const second = await connectedWorker(plane);
    await second.claim(run);
    expect(worker.cancellations()).toEqual([
      { type: "task_cancellation", data: { task_id: run, execution_id: "another" } },
    ]);
    expect(second.cancellations()).toEqual([{ type: "task_cancellation", data: { task_id: run } }]);
  });

  it("shows that its connection is alive, with at most one write per minute", async () => {
    const { worker } = await offeredRun();
    const connectedAt = plane.clock.now;
    plane.clock.now += 60_000;
    await worker.sendText("{}");
    expect(await findConnection(worker)).toMatchObject({ last_seen_at: connectedAt });
    plane.clock.now += 1;
    await worker.sendText("{}");
    expect(await findConnection(worker)).toMatchObject({
      last_seen_at: plane.clock.now,
      expires_at: Math.ceil(plane.clock.now / 1000) + 7_800,
    });
  });

  it("confirms only the stop of the execution that it names", async () => {
    const { worker, run, execution_id } = await claimedRun();
    await user.post(`/agent/runs/${run}/cancel?force=true`);
    await deliver(plane);
    expect(worker.cancellations()).toEqual([{ type: "task_cancellation", data: { task_id: run, execution_id } }]);
    const isRunning = async () => (await user.get(`/agent/runs/${run}`)).body.is_sandbox_running;
    await worker.send("task_completed", { task_id: run, execution_id: "another" });
    expect(await isRunning()).toBe(true);
    await worker.send("task_completed", { task_id: run, execution_id });
    expect(await isRunning()).toBe(false);
  });
});
