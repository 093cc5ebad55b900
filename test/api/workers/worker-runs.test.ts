import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import type { TransactionWrite } from "#shared/table/table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, workingRun } from "../../support/execution.ts";
import { readState, readTimeline } from "../../support/look.ts";
import { reap } from "../../support/reaper.ts";
import { connectedWorker } from "../../support/worker.ts";
import { withFailingWrites, withWriteInBetween } from "../../support/write-conflicts.ts";

type Worker = Awaited<ReturnType<typeof connectedWorker>>;

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const onRack = { prompt: "work", config: { worker_host: "rack-7" } };

/** A run that was offered to a worker. */
async function offeredRun() {
  const worker = await connectedWorker(plane);
  const run = await createRun(plane, onRack);
  await deliver(plane);
  return { worker, run };
}
/** Creates a run that a worker has claimed and whose harness has begun. */
async function begunRun() {
  const { worker, run } = await offeredRun();
  await worker.claim(run);
  const harness = worker.harness();
  expect((await harness.resolve()).status).toBe(200);
  return { worker, run, harness };
}
const pass = async (seconds: number) => {
  plane.clock.now += seconds * 1000;
  await reap(plane);
  await deliver(plane);
};

describe("a run on a self-hosted worker", () => {
  // @contract runs.state.claimed: It is CLAIMED after a self-hosted worker has claimed it and before it begins.
  // @contract runs.config.worker-own: Any other worker_host sends the run to a self-hosted worker.
  // @contract workers.begin: A claimed run is INPROGRESS from the first request with its key on.
  it("waits until its worker connects, and passes through CLAIMED and INPROGRESS to its end", async () => {
    const run = await createRun(plane, onRack);
    await deliver(plane);
    expect(await readState(plane, run)).toBe("QUEUED");
    const worker = await connectedWorker(plane);
    await deliver(plane);
    expect(await readState(plane, run)).toBe("PENDING");
    await worker.claim(run);
    expect(await readState(plane, run)).toBe("CLAIMED");
    const harness = worker.harness();
    expect((await harness.resolve()).body.prompt).toBe("work");
    expect((await user.get(`/agent/runs/${run}`)).body).toMatchObject({
      state: "INPROGRESS",
      execution_location: "REMOTE",
      is_run_type_cancellable: false,
      agent_config: { worker_host: "rack-7" },
    });
    expect((await harness.finish()).status).toBe(200);
    await deliver(plane);
    await worker.send("task_failed", { task_id: run, message: "too late" });
    expect(await readState(plane, run)).toBe("SUCCEEDED");
    expect(worker.cancellations()).toEqual([]);
    expect(await readTimeline(plane, run)).toEqual([
      "run_created",
      "run_pending",
      "run_claimed",
      "worker_container_ready",
      "run_succeeded",
    ]);
  });

  it("shows its claim even if its execution begins before the claim arrives", async () => {
    const { worker, run } = await offeredRun();
    await worker.harness().resolve();
    await worker.claim(run);
    expect(await readTimeline(plane, run)).toEqual([
      "run_created",
      "run_pending",
      "run_claimed",
      "worker_container_ready",
    ]);
  });

  it("is executed if its claim, or a follow-up, arrives while its execution begins", async () => {
    const isBegin = (write: TransactionWrite) => write.kind === "update" && write.set?.["state"] === "INPROGRESS";
    const changes = {
      claim: (worker: Worker, run: string) => worker.claim(run),
      followup: (_: Worker, run: string) => user.post(`/agent/runs/${run}/followups`, { message: "more" }),
    };
    for (const [name, change] of Object.entries(changes)) {
      const { worker, run } = await offeredRun();
      const between = async () => void (await change(worker, run));
      const reply = await withWriteInBetween(plane, isBegin, between, () => worker.harness().resolve());
      expect(reply, name).toMatchObject({ status: 200, body: { prompt: "work" } });
      expect(await readState(plane, run), name).toBe("INPROGRESS");
    }
  });

  it("is executed by one harness if two begin concurrently, and the other is refused", async () => {
    const { worker, run } = await offeredRun();
    const [first, second] = [worker.harness(), worker.harness()];
    const isBegin = (write: TransactionWrite) => write.kind === "update" && write.set?.["state"] === "INPROGRESS";
    const begin = async () => expect((await first.resolve()).status).toBe(200);
    expect(await withWriteInBetween(plane, isBegin, begin, () => second.resolve())).toMatchObject({
      status: 409,
      body: { error_code: "conflict", detail: "another harness runs this execution", retryable: false },
    });
    expect((await first.finish()).status).toBe(200);
    expect(await readState(plane, run)).toBe("SUCCEEDED");
  });

  it("begins later if it keeps changing", async () => {
    const { worker, run } = await offeredRun();
    const { result, attempts } = await withFailingWrites(plane, keys.head(run), () => worker.harness().resolve());
    const { status, body, headers } = result;
    expect([status, body.error_code, headers["x-should-retry"], attempts]).toEqual([409, "conflict", "true", 8]);
    expect((await worker.harness().resolve()).status).toBe(200);
  });

  // @contract workers.offer.frame: A run is offered in a frame with the task, the execution, its key and, without the default harness, no harness.
  it("is offered in a frame that conforms to the workers' protocol", async () => {
    const { worker, run } = await offeredRun();
    const [{ data }] = worker.assignments();
    expect(data).toMatchObject({
      task_id: run,
      task: {
        id: run,
        title: "work",
        task_definition: { prompt: "work" },
        created_at: "2026-05-18T19:00:00.000Z",
        owner: { Type: "TEAM" },
        agent_config_snapshot: { worker_host: "rack-7" },
      },
      env_vars: { WARP_API_KEY: expect.stringMatching(/^ryr_/) },
    });
    expect(Number.isSafeInteger(data.task.owner.Id)).toBe(true);
    expect(data.task.agent_config_snapshot).not.toHaveProperty("harness");
  });

  // @contract workers.offer.size: A frame stays within 128 KB: a longer prompt is cut, and resolve-prompt returns all of it.
  it("is offered with a prompt that is truncated to fit a frame, and resolves to the whole prompt", async () => {
    const prompt = "✓\n".repeat(60_000);
    const worker = await connectedWorker(plane);
    const run = await createRun(plane, { ...onRack, prompt });
    await deliver(plane);
    await worker.claim(run);
    const offered: string = worker.assignments()[0].data.task.task_definition.prompt;
    expect(prompt.startsWith(offered)).toBe(true);
    expect(offered.length, "it is halved until it fits").toBeGreaterThan(prompt.length / 10);
    expect((await worker.harness().resolve()).body.prompt).toBe(prompt);
  });

  // @contract workers.offer.rejected: A rejected run stays queued, and is offered to another connection first.
  it("is offered to another connection after a rejection, and to the first one when that is free", async () => {
    const { worker, run } = await offeredRun();
    await worker.send("task_rejected", { task_id: run, reason: "at capacity" });
    await deliver(plane);
    expect(await readState(plane, run)).toBe("QUEUED");
    plane.clock.now += 1000;
    const second = await connectedWorker(plane);
    await deliver(plane);
    expect(second.assignments()).toHaveLength(1);
    await second.send("task_rejected", { task_id: run, reason: "at capacity" });
    await pass(61);
    expect(worker.assignments()).toHaveLength(2);
    await worker.claim(run);
    expect(await readState(plane, run)).toBe("CLAIMED");
  });

  it("is offered immediately when a task of a worker at capacity ends", async () => {
    const { worker, run, harness } = await begunRun();
    const next = await createRun(plane, onRack);
    await deliver(plane);
    await worker.send("task_rejected", { task_id: next, reason: "at capacity" });
    await deliver(plane);
    expect(await readState(plane, next)).toBe("QUEUED");
    await harness.finish();
    await deliver(plane);
    expect(worker.assignments().at(-1).data.task_id).toBe(next);
    expect(await readState(plane, run)).toBe("SUCCEEDED");
  });

  it("is offered after older runs, with one unclaimed offer per connection", async () => {
    const runs: string[] = [];
    for (; runs.length < 3; plane.clock.now++) runs.push(await createRun(plane, onRack));
    await deliver(plane);
    const worker = await connectedWorker(plane);
    for (const [index, run] of runs.entries()) {
      await deliver(plane);
      expect(worker.assignments().map(({ data }) => data.task_id)).toEqual(runs.slice(0, index + 1));
      await worker.claim(run);
    }
  });

  // @contract workers.offer.unclaimed: An offer that is not claimed within 30 seconds is made again.
  it("withdraws an offer that is not claimed in time, and refuses a late claim", async () => {
    const { worker, run } = await offeredRun();
    await pass(31);
    expect(await readState(plane, run)).toBe("QUEUED");
    const other = await connectedWorker(plane);
    await deliver(plane);
    await other.claim(run);
    await worker.claim(run);
    expect(worker.cancellations()).toMatchObject([{ data: { task_id: run } }]);
    expect(await readState(plane, run)).toBe("CLAIMED");
    expect((await worker.harness().resolve()).status).toBe(401);
    expect((await other.harness().resolve()).status).toBe(200);
  });

  // @contract workers.end.lease: A claimed run that does not begin is executed elsewhere, and its old key is refused.
  it("is executed elsewhere after the claim lease of a dead worker, which is refused when it returns", async () => {
    const { worker, run } = await offeredRun();
    await worker.claim(run);
    await worker.close({ isTold: false });
    await pass(59);
    expect(await readState(plane, run)).toBe("CLAIMED");
    const other = await connectedWorker(plane);
    const late = worker.harness.bind(undefined, { data: { task_id: run, env_vars: { WARP_API_KEY: "ryr_x" } } });
    await pass(2);
    expect(other.assignments()).toHaveLength(1);
    await other.claim(run);
    expect((await late().resolve()).status).toBe(401);
    const back = await connectedWorker(plane);
    await back.send("task_failed", { task_id: run, message: "my own execution failed" });
    expect(await readState(plane, run)).toBe("CLAIMED");
    expect(await readTimeline(plane, run)).toContain("execution_lost");
  });

  // @contract workers.end.socket: A closed socket ends no run.
  it("continues when the socket of its worker closes", async () => {
    const { worker, run, harness } = await begunRun();
    await worker.close();
    expect((await harness.beat()).status).toBe(200);
    const again = await connectedWorker(plane);
    await again.send("task_completed", { task_id: run, message: "all done" });
    expect(await readState(plane, run)).toBe("SUCCEEDED");
    expect((await harness.beat()).status).toBe(401);
  });

  // @contract workers.end.frames: task_completed and task_failed end the run; graceful_shutdown queues it again.
  it.each([
    ["task_completed", {}, "SUCCEEDED", undefined],
    ["task_failed", { failure_reason: "dispatch_command" }, "FAILED", "environment_setup_failed"],
    ["task_failed", { failure_reason: "agent_invocation", exit_code: 3 }, "FAILED", undefined],
    ["task_failed", { failure_reason: "graceful_shutdown" }, "QUEUED", undefined],
    ["task_completed", { task_state: "CANCELLED" }, "PENDING", undefined],
  ])("ends after the frame %s %j in %s", async (type, data, state, code) => {
    const { worker, run } = await begunRun();
    await worker.send(type, { task_id: run, message: "so it went", ...data });
    await deliver(plane);
    const { body } = await user.get(`/agent/runs/${run}`);
    expect(body.state).toBe(state);
    expect(body.status_message?.error_code).toBe(code);
    if (state === "FAILED") expect(body.status_message.message).toContain("rack-7");
  });

  it("returns 422 to a cancel without force, and is stopped at its worker with force", async () => {
    const { worker, run, harness } = await begunRun();
    expect((await user.post(`/agent/runs/${run}/cancel`)).status).toBe(422);
    expect((await user.post(`/agent/runs/${run}/cancel?force=true`)).status).toBe(200);
    await deliver(plane);
    expect(worker.cancellations()).toMatchObject([{ data: { task_id: run } }]);
    expect((await harness.beat()).status).toBe(401);
    expect((await user.get(`/agent/runs/${run}`)).body).toMatchObject({ state: "CANCELLED", is_sandbox_running: true });
    await worker.send("task_completed", { task_id: run, message: "stopped", task_state: "CANCELLED" });
    await deliver(plane);
    expect((await readTimeline(plane, run)).at(-1)).toBe("run_stopped");
    expect((await user.get(`/agent/runs/${run}`)).body).toMatchObject({
      state: "CANCELLED",
      is_sandbox_running: false,
    });
  });

  it("takes no slot of the team's concurrency limit", async () => {
    await user.put(`/agent/teams/${plane.team}`, { settings: { concurrency_limit: 1 } });
    const worker = await connectedWorker(plane);
    const runs = [await createRun(plane, onRack), await createRun(plane, onRack)];
    await deliver(plane);
    for (const run of runs) {
      await worker.claim(run);
      await deliver(plane);
    }
    const hosted = await createRun(plane);
    await deliver(plane);
    expect(await Promise.all([...runs, hosted].map((run) => readState(plane, run)))).toEqual([
      "CLAIMED",
      "CLAIMED",
      "PENDING",
    ]);
  });

  it("is executed by the worker of its identity or environment, unless it names another or hosted", async () => {
    const post = async (at: string, body: object) => (await user.post(at, body)).body;
    const { uid: environment_id } = await post("/agent/environments", { name: "lab", worker_host: "lab-1" });
    const { uid: agent_identity_uid } = await post("/agent/identities", { name: "builder", worker_host: "rack-7" });
    const getWorker = async (body: object) => {
      const { run_id } = await post("/agent/runs", { prompt: "p", ...body });
      return (await user.get(`/agent/runs/${run_id}`)).body.agent_config.worker_host;
    };
    expect(await getWorker({ config: { environment_id } })).toBe("lab-1");
    expect(await getWorker({ agent_identity_uid })).toBe("rack-7");
    expect(await getWorker({ agent_identity_uid, config: { environment_id } })).toBe("rack-7");
    expect(await getWorker({ config: { environment_id, worker_host: "hosted" } })).toBeUndefined();
    const { id } = await post("/agent/schedules", {
      name: "nightly",
      cron_schedule: "0 3 * * *",
      prompt: "p",
      agent_config: { worker_host: "rack-9" },
    });
    const { run_id } = await post(`/agent/schedules/${id}/run`, {});
    expect((await user.get(`/agent/runs/${run_id}`)).body.agent_config.worker_host).toBe("rack-9");
  });

  it("is rejected as a personal run, and with a reserved worker id", async () => {
    const personal = await user.post("/agent/runs", { ...onRack, team: false });
    expect(personal).toMatchObject({ status: 400, body: { errors: [{ path: "config.worker_host" }] } });
    const reserved = await user.post("/agent/runs", { prompt: "p", config: { worker_host: "warp-1" } });
    expect(reserved).toMatchObject({ status: 400, body: { errors: [{ path: "config.worker_host" }] } });
  });
});

describe("a worker", () => {
  it("cannot see or end a run of another team or with another worker id", async () => {
    const { worker, run } = await begunRun();
    const stranger = await connectedWorker(plane, "rack-7", { key: plane.otherKey });
    const namesake = await connectedWorker(plane, "rack-8");
    for (const other of [stranger, namesake]) {
      for (const type of ["task_claimed", "task_completed", "task_failed", "task_rejected"]) {
        await other.send(type, { task_id: run, message: "mine", reason: "mine", worker_id: "rack-7" });
      }
      expect(other.frames()).toEqual([]);
    }
    expect(await readState(plane, run)).toBe("INPROGRESS");
    expect(worker.frames()).toHaveLength(1);
  });

  // @contract workers.frames.malformed: Frames that cannot be read have no effect.
  it("is not affected by malformed frames", async () => {
    const { worker, run } = await begunRun();
    const texts = ["", "{", "null", "[]", '"text"', '{"type":"task_claimed"}', '{"type":1,"data":{}}', "x".repeat(1e6)];
    const huge = JSON.stringify({ type: "task_failed", data: { task_id: run, message: "m".repeat(1e6) } });
    for (const text of [...texts, huge]) expect(await worker.sendText(text)).toEqual({ statusCode: 200 });
    await worker.sendText(Buffer.from('{"type":"task_failed"}').toString("base64"), true);
    await worker.send("task_failed", { task_id: "no-such-task" });
    await worker.send("hello", { task_id: run });
    for (let flood = 0; flood < 200; flood++) await worker.claim(run);
    expect(await readState(plane, run)).toBe("INPROGRESS");
    expect(worker.frames()).toHaveLength(1);
  });

  it("gets no offers and is disconnected after its key is deleted", async () => {
    const agent = await plane.agent();
    const worker = await connectedWorker(plane, "rack-7", { key: agent.key });
    await user.delete(`/agent/identities/${agent.uid}/keys/${agent.keyUid}`);
    const run = await createRun(plane, onRack);
    await deliver(plane);
    expect(await readState(plane, run)).toBe("QUEUED");
    expect(plane.received.has(worker.connectionId)).toBe(false);
  });

  it("loses a run whose offer finds the connection gone", async () => {
    const gone = await connectedWorker(plane);
    await gone.close({ isTold: false });
    plane.clock.now += 10_000;
    const run = await createRun(plane, onRack);
    await deliver(plane);
    expect(await readState(plane, run)).toBe("QUEUED");
    expect((await user.get("/agent/connected-self-hosted-workers")).body.workers).toEqual([]);
    const worker = await connectedWorker(plane);
    await deliver(plane);
    expect(worker.assignments()).toHaveLength(1);
  });
});

describe("a worker that shuts down", () => {
  const losses = async (run: string) => {
    const head = await plane.ports.runs.head(run);
    return { losses: head?.losses, restarts: head?.restarts };
  };
  /** Ways in which the service learns of the shutdown, before it learns that the execution has ended. */
  const ENDS: Record<string, (begun: Awaited<ReturnType<typeof begunRun>>) => Promise<unknown>> = {
    "worker_draining, then task_failed": async ({ worker, run }) => {
      await worker.send("worker_draining", {});
      await worker.send("task_failed", { task_id: run, message: "stopped", failure_reason: "graceful_shutdown" });
    },
    "task_failed alone": ({ worker, run }) =>
      worker.send("task_failed", { task_id: run, message: "stopped", failure_reason: "graceful_shutdown" }),
    "worker_draining, then the harness's own report": async ({ worker, harness }) => {
      await worker.send("worker_draining", {});
      await harness.shutDown({ error: { category: "shutdown", message: "SIGTERM" } });
    },
  };

  // @contract workers.draining: worker_draining stops offers to the connection.
  it.each(Object.entries(ENDS))("is offered no run again, and its run is not lost: %s", async (_, end) => {
    const begun = await begunRun();
    await end(begun);
    await deliver(plane);
    await pass(40);
    expect(begun.worker.assignments()).toHaveLength(1);
    expect(await readState(plane, begun.run)).toBe("QUEUED");
    expect(await losses(begun.run)).toEqual({ losses: 0, restarts: 1 });
    const next = await connectedWorker(plane);
    await deliver(plane);
    expect(next.assignments()).toMatchObject([{ data: { task_id: begun.run } }]);
  });

  // @contract workers.end.shutdown: graceful_shutdown is not counted as a loss.
  it("may do so more often than a run may lose executions", async () => {
    const begun = await begunRun();
    let { worker } = begun;
    for (let restart = 1; restart <= 4; restart++) {
      await worker.send("task_failed", { task_id: begun.run, failure_reason: "graceful_shutdown" });
      worker = await connectedWorker(plane);
      await deliver(plane);
      await worker.claim(begun.run);
      expect((await worker.harness().resolve()).status).toBe(200);
      expect(await losses(begun.run)).toEqual({ losses: 0, restarts: restart });
    }
  });

  it("gets no offer after worker_draining, also if one of its tasks ends", async () => {
    const { worker, run, harness } = await begunRun();
    await worker.send("worker_draining", {});
    const other = await createRun(plane, onRack);
    await harness.finish();
    await worker.send("task_completed", { task_id: run, message: "done" });
    await deliver(plane);
    expect(worker.assignments()).toHaveLength(1);
    expect(await readState(plane, other)).toBe("QUEUED");
  });

  it("is lost where a harness that no worker executes reports a shutdown", async () => {
    const harness = await workingRun(plane);
    await harness.shutDown({ error: { category: "shutdown", message: "SIGTERM" } });
    expect(await losses(harness.run_id)).toEqual({ losses: 1, restarts: undefined });
  });
});
