import { describe, expect, it } from "vitest";
import { dispatchRun } from "#functions/executions/dispatch-run.ts";
import { reapRuns } from "#functions/executions/reap-runs.ts";
import { reapUntilQuiet } from "#shared/executions/reaper-passes.ts";
import type { DeadLetterQueue } from "#shared/queue/run-queue.ts";
import { isExecutingHead } from "#shared/records/run-head.ts";
import { failExecution } from "#shared/runs/end-run.ts";
import { StartDeferred } from "#shared/sandbox/sandbox.ts";
import { keys, sortableTime } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import {
  consume,
  createHarness,
  createRun,
  deliver,
  nextExecution,
  startedRun,
  workingRun,
} from "../../support/execution.ts";
import { readState, readTimeline, setState } from "../../support/look.ts";
import { reap } from "../../support/reaper.ts";
import { sqsEvent } from "../../support/sqs-event.ts";

const get = async (plane: TestControlPlane, id: string) => (await createClient(plane).get(`/agent/runs/${id}`)).body;

describe("an expired execution", () => {
  // @contract runs.transitions.lost: A run whose execution expires goes back to QUEUED.
  // @contract runs.timeline.lost: execution_lost records an expired execution.
  it("can be reported by the sandbox itself: the run waits for a new one, and the old key is refused", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await harness.messages(1, "before");
    plane.clock.now += 2_000;
    expect((await harness.shutDown({ error: { category: "oom", message: "out of memory" } })).status).toBe(200);
    expect(await get(plane, harness.run_id)).toMatchObject({
      state: "QUEUED",
      is_sandbox_running: false,
      run_time: "PT2.000S",
    });
    for (const response of [
      await harness.beat(),
      await harness.messages(2, "late"),
      await harness.finish(),
      await harness.shutDown(),
    ]) {
      expect(response.status).toBe(401);
      expect(response.body.error_code).toBe("authentication_required");
    }
    const next = await nextExecution(plane);
    expect(next.execution_id).not.toBe(harness.execution_id);
    expect(next.key).not.toBe(harness.key);
    expect((await next.resolve()).body.context).toMatchObject({ next_sequence: 2, messages: [] });
    expect((await next.messages(2, "after")).body).toEqual({ next_sequence: 3, watched: false });
    expect((await next.finish()).status).toBe(200);
    const { events } = (await createClient(plane).get(`/agent/runs/${harness.run_id}/timeline`)).body;
    expect(events.find(({ event_type }: { event_type: string }) => event_type === "execution_lost")).toMatchObject({
      execution_id: harness.execution_id,
      payload: { detail: "oom: out of memory", losses: 1 },
    });
  });

  // @contract runs.transitions.lost
  it("is detected within a minute without heartbeats, but not while it sends them", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    for (let beat = 0; beat < 12; beat++) {
      plane.clock.now += 10_000;
      expect((await harness.beat()).status).toBe(200);
      await reap(plane);
    }
    expect(await readState(plane, harness.run_id)).toBe("INPROGRESS");
    let waited = 0;
    for (; (await readState(plane, harness.run_id)) === "INPROGRESS"; waited += 15) {
      plane.clock.now += 15_000;
      await reap(plane);
      expect(waited).toBeLessThan(60);
    }
    expect(waited).toBeGreaterThanOrEqual(30);
    expect(await readState(plane, harness.run_id)).toBe("QUEUED");
    expect(await readTimeline(plane, harness.run_id)).toContain("execution_lost");
    expect((await harness.beat()).status).toBe(401);
    const next = await nextExecution(plane);
    expect((await next.resolve()).body.context.execution_id).not.toBe(harness.execution_id);
  });

  it("counts every call as a heartbeat", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    for (let number = 1; number <= 6; number++) {
      plane.clock.now += 20_000;
      await harness.messages(number, `message ${number}`);
      await reap(plane);
    }
    expect(await readState(plane, harness.run_id)).toBe("INPROGRESS");
  });

  // @contract errors.ends.error: An error caused by the platform ends a run in ERROR, with its code in status_message.
  // @contract runs.state.error: It ends in ERROR if the platform caused the failure.
  // @contract runs.item.status-failed
  it("ends the run in ERROR when it is the third in a row", async () => {
    const plane = await createTestControlPlane();
    const first = await workingRun(plane);
    await first.shutDown();
    const second = await nextExecution(plane);
    await second.resolve();
    await second.shutDown();
    await (await nextExecution(plane)).shutDown({ error: { category: "crash", message: "once more" } });
    const run = await get(plane, first.run_id);
    expect(run).toMatchObject({
      state: "ERROR",
      status_message: { error_code: "resource_unavailable", retryable: true },
    });
    expect(run.status_message.message).toMatch(/lost 3 times.*once more/);
    expect((await readTimeline(plane, first.run_id)).slice(-2)).toEqual(["execution_lost", "run_errored"]);
    await deliver(plane);
    expect((await createClient(plane).get(`/agent/runs/${first.run_id}/transcript`)).status).toBe(302);
  });

  it("is counted from zero again after a follow-up restarts the run", async () => {
    const plane = await createTestControlPlane();
    const first = await workingRun(plane);
    await first.shutDown();
    for (const _ of [1, 2]) await (await nextExecution(plane)).shutDown();
    expect(await readState(plane, first.run_id)).toBe("ERROR");
    await createClient(plane).post(`/agent/runs/${first.run_id}/followups`, { message: "try again" });
    await (await nextExecution(plane)).shutDown();
    expect(await readState(plane, first.run_id)).toBe("QUEUED");
  });

  it("cannot be used by the service to end the run", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const stale = await plane.ports.runs.head(harness.run_id);
    await harness.shutDown();
    await (await nextExecution(plane)).resolve();
    if (stale === undefined || !isExecutingHead(stale)) throw new Error("the run does not execute");
    const fail = failExecution(stale, "budget_exceeded", "nothing is left", plane.ports);
    await expect(fail).rejects.toMatchObject({ code: "authentication_required" });
    expect(await readState(plane, harness.run_id)).toBe("INPROGRESS");
  });

  it("has no effect if it is no longer the run's execution", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await harness.shutDown();
    const next = await nextExecution(plane);
    await next.resolve();
    const before = structuredClone(plane.table.all());
    for (const call of [harness.resolve, harness.finish, harness.shutDown, harness.beat])
      expect((await call()).status).toBe(401);
    expect((await harness.messages(1, "stale")).status).toBe(401);
    expect(plane.table.all()).toEqual(before);
  });
});

describe("the reaper", () => {
  it("sends a lost message of a waiting run again, with increasing intervals", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    plane.sent.length = 0;
    const sentAt: number[] = [];
    for (let seconds = 0; seconds < 4 * 3_600; seconds += 30) {
      await reap(plane);
      if (plane.sent.splice(0).length > 0) sentAt.push(seconds);
      plane.clock.now += 30_000;
    }
    // Each interval equals the time that the run has waited, from a minute to an hour.
    expect(sentAt).toEqual([30, 90, 180, 360, 720, 1_440, 2_880, 5_760, 9_360, 12_960]);
    expect(await readState(plane, id)).toBe("QUEUED");
    await consume(plane, "runs", id);
    expect(await readState(plane, id)).toBe("PENDING");
  });

  // @contract runs.transitions.pending-short
  it("requeues a run whose sandbox does not begin within 20 seconds, under a new execution", async () => {
    const plane = await createTestControlPlane();
    const harness = await startedRun(plane);
    plane.clock.now += 19_000;
    await reap(plane);
    expect(await readState(plane, harness.run_id)).toBe("PENDING");
    plane.clock.now += 11_000;
    await reap(plane);
    expect(await readState(plane, harness.run_id)).toBe("QUEUED");
    expect((await harness.resolve()).status, "it is too late").toBe(401);
    const next = await nextExecution(plane);
    expect(next.execution_id).not.toBe(harness.execution_id);
    expect(await readTimeline(plane, harness.run_id)).toEqual([
      "run_created",
      "run_pending",
      "run_queued",
      "run_pending",
    ]);
  });

  it.each([
    ["a sandbox that has not begun for 20 seconds", startedRun, 20_000, "PENDING"],
    ["an execution without a heartbeat for 30 seconds", workingRun, 30_000, "INPROGRESS"],
  ])("gives up on %s, and not before", async (_, start, milliseconds, state) => {
    const plane = await createTestControlPlane();
    const { run_id, execution_id } = await start(plane);
    const pass = async () => {
      await setCheck(plane, run_id, plane.clock.now);
      return reap(plane);
    };
    plane.clock.now += milliseconds - 1;
    const common = { looked: 1, failed: 0, alive: true, circuitOpen: false };
    expect(await pass()).toEqual({ ...common, lost: 0 });
    expect(await readState(plane, run_id)).toBe(state);
    plane.clock.now += 1;
    expect(await pass()).toEqual({ ...common, lost: 1 });
    expect(await readState(plane, run_id)).toBe("QUEUED");
    const { events } = (await createClient(plane).get(`/agent/runs/${run_id}/timeline`)).body;
    const detail = state === "PENDING" ? "the sandbox did not start in time" : "no heartbeat for 30 seconds";
    expect(events.at(-1)).toMatchObject({ execution_id, payload: { detail } });
  });

  it("stays active while a check is due within a minute", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    const isAlive = async (milliseconds: number) => {
      await setCheck(plane, id, plane.clock.now + milliseconds);
      return reap(plane);
    };
    const pass = { looked: 0, lost: 0, failed: 0, circuitOpen: false };
    expect(await isAlive(60_000)).toEqual({ ...pass, alive: true });
    expect(await isAlive(60_001)).toEqual({ ...pass, alive: false });
    expect(await isAlive(0), "in the same pass, again after a minute").toEqual({ ...pass, looked: 1, alive: true });
  });

  it("checks all runs that are due in one pass, also more than one read of a shard has", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const head = await plane.table.get(keys.head(harness.run_id));
    if (head === undefined) throw new Error("the run has no head");
    const check_at = sortableTime(plane.clock.now);
    for (let count = 0; count < 450; count++) {
      const run = `${harness.run_id.slice(0, -6)}${String(count).padStart(3, "0")}000`;
      await plane.table.write({
        kind: "put",
        item: { ...head, ...keys.head(run), run_id: run, check_shard: "RUNS#0", check_at },
      });
    }
    expect(await reap(plane)).toMatchObject({ looked: 450, failed: 0, lost: 0 });
    expect(await reap(plane)).toMatchObject({ looked: 0 });
  });

  it("requests its next pass while runs are active, up to the last one of the minute", async () => {
    const plane = await createTestControlPlane();
    const sent: (readonly [number, number])[] = [];
    const passes = {
      everySeconds: 15,
      sendPass: async (pass: number, delaySeconds: number) => void sent.push([pass, delaySeconds]),
    };
    await reapUntilQuiet(0, { ...plane.ports, passes });
    expect(sent, "no run is active").toEqual([]);
    await workingRun(plane);
    for (const pass of [0, 2, 3]) await reapUntilQuiet(pass, { ...plane.ports, passes });
    expect(sent).toEqual([
      [1, 15],
      [3, 15],
    ]);
  });

  it("requests a transcript again if its message was lost", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await harness.finish();
    plane.sent.length = 0;
    plane.clock.now += 61_000;
    await reap(plane);
    await deliver(plane);
    expect((await createClient(plane).get(`/agent/runs/${harness.run_id}/transcript`)).status).toBe(302);
    plane.clock.now += 3_600_000;
    expect(await reap(plane)).toMatchObject({ looked: 0, alive: false });
  });

  it("continues with other runs if one cannot be read", async () => {
    const plane = await createTestControlPlane();
    const broken = await createRun(plane);
    const harness = await startedRun(plane);
    await plane.table.write({ kind: "update", key: keys.head(broken), set: { state: "NONE" } });
    plane.clock.now += 40_000;
    expect(await reap(plane)).toMatchObject({ failed: 1 });
    expect(await readState(plane, harness.run_id)).toBe("QUEUED");
    plane.clock.now += 60_000;
    expect(await reap(plane), "it is not checked in every pass").toMatchObject({ failed: 0 });
  });

  it("extends leases once if more than 50 and a fifth of all expire in one pass, and then expires them", async () => {
    const plane = await createTestControlPlane();
    const ids = await manyWorking(plane, 60);
    plane.clock.now += 31_000;
    expect(await reap(plane)).toMatchObject({ circuitOpen: true, lost: 0 });
    expect(await states(plane, ids)).toEqual({ INPROGRESS: 60 });
    plane.clock.now += 31_000;
    expect(await reap(plane)).toMatchObject({ circuitOpen: false, lost: 60 });
    expect(await states(plane, ids)).toEqual({ QUEUED: 60 });
  });

  it("expires 50 simultaneous executions unless that indicates its own outage", async () => {
    const plane = await createTestControlPlane();
    const ids = await manyWorking(plane, 50);
    plane.clock.now += 31_000;
    expect(await reap(plane)).toMatchObject({ circuitOpen: false, lost: 50 });
    expect(await states(plane, ids)).toEqual({ QUEUED: 50 });
  });
});

/** Makes the reaper check the run at this time. */
const setCheck = (plane: TestControlPlane, id: string, at: number) =>
  plane.table.write({ kind: "update", key: keys.head(id), set: { check_at: sortableTime(at) } });

describe("consumers of run messages", () => {
  it("start one sandbox for a duplicate message", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    await Promise.all([consume(plane, "runs", id), consume(plane, "runs", id)]);
    await consume(plane, "runs", id);
    expect(plane.started).toHaveLength(1);
  });

  it("report only malformed messages of a batch as failed, and repeat a failed start later", async () => {
    const plane = await createTestControlPlane();
    const [good, bad] = [await createRun(plane), await createRun(plane)];
    plane.failures.push(new Error("no such function"));
    const bodies = [
      { v: 1, run_id: bad },
      "{",
      { v: 2, run_id: good },
      { v: 1 },
      { v: 1, run_id: good },
      { v: 1, run_id: "none" },
    ];
    const { batchItemFailures } = await dispatchRun.handle(sqsEvent("runs", bodies), plane.ports);
    expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual([
      "message-2",
      "message-3",
      "message-4",
    ]);
    expect(plane.sent.at(-1)).toMatchObject({ runId: bad, delaySeconds: expect.any(Number) });
    expect(plane.started.map(({ run_id }) => run_id)).toEqual([good]);
  });

  it("restart a sandbox that never began, and accept only the newer one", async () => {
    const plane = await createTestControlPlane();
    const harness = await startedRun(plane);
    plane.clock.now += 180_000;
    await consume(plane, "runs", harness.run_id);
    const [, again] = plane.started;
    if (again === undefined) throw new Error("no sandbox was started");
    expect((await harness.resolve()).status).toBe(401);
    expect((await createHarness(plane, again).resolve()).status).toBe(200);
  });

  // @contract runs.transitions.pending-short: A start that is postponed or never begins goes back to QUEUED within seconds.
  it("requeue a run whose start is postponed", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    plane.failures.push(new StartDeferred("throttled"));
    expect((await consume(plane, "runs", id)).batchItemFailures).toEqual([]);
    expect(await readState(plane, id)).toBe("QUEUED");
    await nextExecution(plane);
    expect(await readState(plane, id)).toBe("PENDING");
  });

  // @contract errors.ends.error
  it("repeat a broken start after a delay, and end the run in ERROR after five", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    const delays: unknown[] = [];
    for (let start = 1; start <= 5; start++) {
      expect(await readState(plane, id)).toBe("QUEUED");
      plane.failures.push(new Error("no such function"));
      plane.sent.length = 0;
      expect((await consume(plane, "runs", id)).batchItemFailures).toEqual([]);
      delays.push(plane.sent.find(({ queue }) => queue === "runs")?.delaySeconds);
    }
    expect(delays).toEqual([...Array.from({ length: 4 }, () => expect.any(Number)), undefined]);
    expect(await get(plane, id)).toMatchObject({
      state: "ERROR",
      status_message: { error_code: "internal_error", retryable: true },
    });
    await deliver(plane);
    expect((await createClient(plane).get(`/agent/runs/${id}/transcript`)).status).toBe(302);
    expect((await consume(plane, "runs-dead", id)).batchItemFailures, "a dead letter is harmless").toEqual([]);
  });

  it("end a waiting run whose message is a dead letter in ERROR", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    await consume(plane, "runs-dead", id);
    expect(await readState(plane, id)).toBe("ERROR");
  });

  it("keep a run whose start is deferred repeatedly QUEUED, with delays that grow to a minute", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    const delays: number[] = [];
    for (let start = 1; start <= 40; start++) {
      plane.failures.push(new StartDeferred("throttled"));
      plane.sent.length = 0;
      expect((await consume(plane, "runs", id)).batchItemFailures).toEqual([]);
      delays.push(plane.sent.find(({ queue }) => queue === "runs")?.delaySeconds ?? 0);
    }
    expect(await readState(plane, id)).toBe("QUEUED");
    for (const [index, delay] of delays.entries()) {
      const longest = Math.min(60, 5 * 2 ** index);
      expect(delay, `delay ${index + 1}`).toBeGreaterThanOrEqual(Math.ceil(longest / 2));
      expect(delay, `delay ${index + 1}`).toBeLessThanOrEqual(longest);
    }
    const checkAt = plane.clock.now + (delays.at(-1) ?? 0) * 1000 + 60_000;
    const head = await plane.table.get(keys.head(id));
    expect(head).toMatchObject({ deferred_starts: 40, check_at: sortableTime(checkAt) });
    await nextExecution(plane);
    expect(await readState(plane, id)).toBe("PENDING");
  });

  it("leave a deferred run whose message is lost to the reaper, once the delay is over", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    plane.failures.push(new StartDeferred("throttled"));
    await consume(plane, "runs", id);
    plane.sent.length = 0;
    plane.clock.now += 10_000;
    await reap(plane);
    expect(plane.sent, "the message may still come").toEqual([]);
    plane.clock.now += 60_000;
    await reap(plane);
    expect(plane.sent).toEqual([{ queue: "runs", runId: id }]);
  });

  it("do not end an executing run because an old message is a dead letter", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    for (const state of ["INPROGRESS", "CLAIMED"]) {
      await setState(plane, harness.run_id, state);
      await consume(plane, "runs-dead", harness.run_id);
      expect(await readState(plane, harness.run_id)).toBe(state);
    }
  });
});

async function manyWorking(plane: TestControlPlane, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    // Each has its own scope, so that no team limit applies.
    const { key } = await plane.person(`Person ${index}`, []);
    ids.push((await workingRun(plane, { prompt: "a" }, key)).run_id);
  }
  return ids;
}

async function states(plane: TestControlPlane, ids: readonly string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const id of ids) {
    const head = await plane.ports.runs.head(id);
    const state = head?.state ?? "none";
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

describe("reap-runs", () => {
  it("runs a pass for the empty event of an operator, and ends the runs of dead letters in ERROR", async () => {
    const plane = await createTestControlPlane();
    const sent: number[][] = [];
    const passes = { everySeconds: 30, sendPass: async (...pass: number[]) => void sent.push(pass) };
    const id = await createRun(plane);
    const event = sqsEvent("runs-dead", [{ v: 1, run_id: id }, { odd: true }]);
    const deadRuns: DeadLetterQueue = {
      async drain(handle) {
        expect((await handle(event)).batchItemFailures).toEqual([{ itemIdentifier: "message-2" }]);
      },
    };
    const result = await reapRuns.handle(JSON.parse("{}"), { ...plane.ports, passes, deadRuns });
    expect(result).toEqual({ batchItemFailures: [] });
    expect(await readState(plane, id)).toBe("ERROR");
    expect(sent, "the second pass of the minute").toEqual([[1, 30]]);
  });

  it("runs the other passes of a minute through its queue on a single machine, while runs are active", async () => {
    const plane = await createTestControlPlane();
    const sent: number[][] = [];
    const passes = { everySeconds: 15, sendPass: async (...pass: number[]) => void sent.push(pass) };
    const deadRuns: DeadLetterQueue = { drain: () => Promise.reject(new Error("only the first pass drains")) };
    const run = (pass: number) =>
      reapRuns.handle(sqsEvent("reaper", [{ v: 1, pass }, { v: 1 }]), { ...plane.ports, passes, deadRuns });
    expect(await run(1)).toEqual({ batchItemFailures: [{ itemIdentifier: "message-2" }] });
    expect(sent, "no run is active").toEqual([]);
    await workingRun(plane);
    for (const pass of [1, 2, 3]) await run(pass);
    expect(sent).toEqual([
      [2, 15],
      [3, 15],
    ]);
  });
});
