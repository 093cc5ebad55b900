import { describe, expect, it } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import {
  createRun,
  deliver,
  type Harness,
  localRun,
  nextExecution,
  said,
  startedRun,
  workingRun,
} from "../../support/execution.ts";
import { readState, readTimeline, setState } from "../../support/look.ts";
import { reap } from "../../support/reaper.ts";

const MINUTE = 60_000;
const INTERRUPTED = "Interrupted by Ada. Send a follow-up to continue.";

const interrupt = (plane: TestControlPlane, id: string, headers: Record<string, string> = {}) =>
  createClient(plane).post(`/agent/runs/${id}/interrupt`, undefined, { headers });

/** What a harness reports of a turn that was interrupted. */
const toEnd = (number: number, more: object = {}) => ({
  ...{ success: false, blocked: true, summary: INTERRUPTED, interrupt: number },
  ...{ interrupts_handled: number, followups_stored: 0, ...more },
});

/** Interrupts a working run, and returns the number of the interrupt. */
async function interruptTurn(plane: TestControlPlane, harness: Harness): Promise<number> {
  expect((await interrupt(plane, harness.run_id)).status).toBe(202);
  return (await harness.beat()).body.interrupt.number;
}

const readRun = async (plane: TestControlPlane, id: string) =>
  (await createClient(plane).get(`/agent/runs/${id}`)).body;

describe("POST /agent/runs/{runId}/interrupt", () => {
  // @contract interrupt.waits: An interrupted run stays INPROGRESS and waits for a follow-up.
  // @contract interrupt.name: The event says who interrupted.
  // @contract interrupt.accepted: An interrupt returns 202 with the run's id.
  it("tells the execution who interrupts until it has ended the turn, and the run waits for a follow-up", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const { status, body } = await interrupt(plane, harness.run_id);
    expect([status, body]).toEqual([202, { run_id: harness.run_id }]);
    const { interrupt: told } = (await harness.beat()).body;
    expect(told).toEqual({ number: expect.any(Number), by: "Ada" });
    expect((await harness.beat()).body.interrupt).toEqual(told);
    const last = { first_sequence: 1, messages: [said(INTERRUPTED)], waits: true };
    expect((await harness.support("finish-task", toEnd(told.number, last))).body).toEqual({ waiting: true });
    expect((await harness.beat()).body).not.toHaveProperty("interrupt");
    expect(await readRun(plane, harness.run_id)).toMatchObject({
      state: "INPROGRESS",
      waiting_for: "followup",
      is_sandbox_running: true,
    });
    expect((await readTimeline(plane, harness.run_id)).slice(-2)).toEqual(["run_interrupted", "run_idle"]);
    const timeline = (await createClient(plane).get(`/agent/runs/${harness.run_id}/timeline`)).body.events;
    expect(timeline.at(-2)).toMatchObject({
      event_type: "run_interrupted",
      payload: { detail: "interrupted by Ada" },
    });
  });

  // @contract interrupt.blocked: After idle_timeout_minutes the interrupted run ends BLOCKED.
  it("ends the waiting run as BLOCKED after its idle_timeout_minutes", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane, { prompt: "hello", config: { idle_timeout_minutes: 2 } });
    const number = await interruptTurn(plane, harness);
    await harness.support("finish-task", toEnd(number, { waits: true }));
    plane.clock.now += 2 * MINUTE - 1;
    await harness.beat();
    await reap(plane);
    expect(await readState(plane, harness.run_id)).toBe("INPROGRESS");
    plane.clock.now += MINUTE / 2;
    await reap(plane);
    expect(await readRun(plane, harness.run_id)).toMatchObject({
      state: "BLOCKED",
      status_message: { message: INTERRUPTED },
      waiting_for: "followup",
    });
    expect((await harness.beat()).status, "the execution may stop").toBe(401);
  });

  it.each([
    ["the execution cannot wait", {}, {}],
    ["idle_timeout_minutes is 0", { waits: true }, { config: { idle_timeout_minutes: 0 } }],
  ])("ends the run as BLOCKED at once if %s", async (_, request, config) => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane, { prompt: "hello", ...config });
    const number = await interruptTurn(plane, harness);
    expect((await harness.support("finish-task", toEnd(number, request))).body).toEqual({});
    expect(await readRun(plane, harness.run_id)).toMatchObject({ state: "BLOCKED", waiting_for: "followup" });
  });

  it("keeps a run from ending whose turn ended before its execution learned of the interrupt", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await interrupt(plane, harness.run_id);
    const done = { success: true, summary: "done", followups_stored: 0, interrupts_handled: 0, waits: true };
    const { body } = await harness.support("finish-task", done);
    expect(body).toEqual({ interrupt: { number: expect.any(Number), by: "Ada" } });
    const number = body.interrupt.number;
    expect((await harness.support("finish-task", toEnd(number, { waits: true }))).body).toEqual({ waiting: true });
  });

  it("lets the execution take the follow-ups that wait already", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await createClient(plane).post(`/agent/runs/${harness.run_id}/followups`, { message: "and then?" });
    const number = await interruptTurn(plane, harness);
    const { body } = await harness.support("finish-task", toEnd(number, { waits: true }));
    expect(body.followups).toMatchObject([{ number: 1, message: "and then?" }]);
    const done = { success: true, summary: "done", followups_stored: 1, interrupts_handled: number, waits: true };
    expect((await harness.support("finish-task", done)).body).toEqual({});
    expect(await readState(plane, harness.run_id)).toBe("SUCCEEDED");
  });

  it("interrupts a run whose execution is lost in the next one", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const number = await interruptTurn(plane, harness);
    await harness.shutDown({ error: { category: "internal", message: "it broke" } });
    const next = await workingAgain(plane);
    expect(next.context.interrupt).toEqual({ number, by: "Ada" });
    await next.harness.support("heartbeat", {
      execution_id: next.harness.execution_id,
      followups_stored: 0,
      interrupts_handled: number,
    });
    expect((await next.harness.beat()).body).not.toHaveProperty("interrupt");
  });

  // @contract interrupt.waiting: Interrupting a run that waits already has no effect.
  it("has no effect on a run that waits already", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const number = await interruptTurn(plane, harness);
    await harness.support("finish-task", toEnd(number, { waits: true }));
    const before = structuredClone(plane.table.all());
    expect((await interrupt(plane, harness.run_id)).status).toBe(202);
    expect(plane.table.all()).toEqual(before);
  });

  // @contract repeats.interrupt: A repeated interrupt returns the first response again.
  it("answers a repeat of the request as the first one, even if the run has ended since", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const number = await interruptTurn(plane, harness);
    await harness.support("finish-task", toEnd(number));
    expect(await readState(plane, harness.run_id)).toBe("BLOCKED");
    expect((await interrupt(plane, harness.run_id)).status).toBe(400);
    const repeat = await interrupt(plane, harness.run_id, { "x-stainless-retry-count": "1" });
    expect([repeat.status, repeat.body]).toEqual([202, { run_id: harness.run_id }]);
    expect(repeat.headers).toMatchObject({ "idempotent-replay": "true" });
  });

  // @contract interrupt.order: Interrupting a run in QUEUED, PENDING or CLAIMED returns a retryable 409.
  it.each(["QUEUED", "PENDING", "CLAIMED"])("returns a retryable 409 for a run that is %s", async (state) => {
    const plane = await createTestControlPlane();
    const id = state === "QUEUED" ? await createRun(plane) : (await startedRun(plane)).run_id;
    if (state === "CLAIMED") await setState(plane, id, "CLAIMED");
    const { status, body } = await interrupt(plane, id);
    expect([status, body.retryable]).toEqual([409, true]);
  });

  // @contract interrupt.refusals: Interrupting an ended run returns 400, and one that cannot be interrupted 422.
  // @contract interrupt.local: An interrupt of a LOCAL run is 422.
  it("returns 422 for a run whose caller or another harness executes it, and 400 once it has ended", async () => {
    const plane = await createTestControlPlane();
    const local = await localRun(plane);
    expect((await interrupt(plane, local.run_id)).body).toMatchObject({ error_code: "operation_not_supported" });
    const other = await startedRun(plane);
    await other.client.post("/harness-support/resolve-prompt", {});
    expect((await interrupt(plane, other.run_id)).status).toBe(422);
    await other.client.post("/harness-support/finish-task", { success: true, summary: "done" });
    expect((await interrupt(plane, other.run_id)).status).toBe(400);
  });
});

describe("POST /agent/conversations/{conversationId}/interrupt", () => {
  // @contract interrupt.conversation: POST /agent/conversations/{id}/interrupt interrupts the newest run.
  it("interrupts the latest run of the conversation", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await workingRun(plane);
    await first.finish();
    await deliver(plane);
    const next = await workingRun(plane, { prompt: "go on", conversation_id: first.run_id });
    const { status, body } = await user.post(`/agent/conversations/${first.run_id}/interrupt`);
    expect([status, body]).toEqual([202, { run_id: next.run_id }]);
    expect((await next.beat()).body.interrupt.by).toBe("Ada");
  });
});

/** Starts the next execution of a run, and returns it with the context that it gets. */
async function workingAgain(plane: TestControlPlane) {
  const harness = await nextExecution(plane);
  const { body } = await harness.resolve();
  return { harness, context: body.context };
}
