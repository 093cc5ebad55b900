import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, type Harness, nextExecution, startedRun, workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const QUESTION = "Which of the two databases is the right one?";
const askQuestion = (harness: Harness, summary = QUESTION) =>
  harness.support("finish-task", { success: false, blocked: true, summary });
const read = async (runId: string) => (await user.get(`/agent/runs/${runId}`)).body;
const getTimeline = async (runId: string) => (await user.get(`/agent/runs/${runId}/timeline`)).body.events;

describe("an agent's question", () => {
  // @contract runs.state.blocked: It is BLOCKED while a question of the agent's is open, until a follow-up returns it.
  // @contract runs.item.status-failed: status_message is present on FAILED, ERROR and BLOCKED, with the code on the first two.
  // @contract runs.item.status-blocked: On BLOCKED it is the question.
  // @contract runs.item.waiting: waiting_for is there on a BLOCKED run.
  it("ends its execution and leaves the run BLOCKED with the question as its status message", async () => {
    const harness = await workingRun(plane);
    plane.clock.now += 2_000;
    await harness.messages(1, QUESTION);
    expect((await askQuestion(harness)).status).toBe(200);
    const run = await read(harness.run_id);
    expect(run).toMatchObject({
      state: "BLOCKED",
      status_message: { message: QUESTION },
      waiting_for: "answer",
      run_time: "PT2.000S",
      is_sandbox_running: false,
    });
    expect(run.status_message.error_code, "a question is not an error").toBeUndefined();
    expect(await getTimeline(harness.run_id)).toMatchObject([
      { event_type: "run_created" },
      { event_type: "run_pending" },
      { event_type: "worker_container_ready" },
      { event_type: "run_blocked", payload: { state: "BLOCKED", detail: QUESTION } },
    ]);
    expect((await getTimeline(harness.run_id)).at(-1).payload.is_error).toBeUndefined();
    expect((await harness.beat()).status, "its key is revoked").toBe(401);
    expect((await user.get("/agent/runs?state=BLOCKED")).body.runs).toMatchObject([{ run_id: harness.run_id }]);
    const { body } = await user.get(`/agent/runs/${harness.run_id}/events?after=0&wait=0`);
    expect(body.ended, "readers of its events see that it has ended").toBe(true);
    expect((await user.get(`/agent/runs/${harness.run_id}/response`)).body).toMatchObject({ state: "BLOCKED" });
  });

  // @contract runs.state.blocked
  it("is answered by a follow-up: the next execution continues the conversation with the answer", async () => {
    const harness = await workingRun(plane);
    await harness.messages(1, QUESTION);
    await askQuestion(harness);
    await deliver(plane);
    const before = await user.get(`/agent/runs/${harness.run_id}/transcript`);
    expect(before.status, "it is composed although the run may continue").toBe(302);
    const { started_at } = await read(harness.run_id);
    expect((await user.post(`/agent/runs/${harness.run_id}/followups`, { message: "the second" })).status).toBe(200);
    const queued = await read(harness.run_id);
    expect(queued).toMatchObject({ state: "QUEUED", started_at });
    expect(queued.status_message).toBeUndefined();
    const next = await nextExecution(plane);
    const { context } = (await next.resolve()).body;
    expect(context.messages).toMatchObject([{ content: [{ text: QUESTION }] }]);
    expect(context.followups).toMatchObject([{ message: "the second" }]);
    await next.beat(1);
    await next.finish();
    expect((await read(harness.run_id)).state).toBe("SUCCEEDED");
    const types = (await getTimeline(harness.run_id)).map(({ event_type }: { event_type: string }) => event_type);
    expect(types.slice(3)).toEqual([
      "run_blocked",
      "followup_received",
      "run_pending",
      "worker_container_ready",
      "run_succeeded",
    ]);
  });

  it("passes through INPROGRESS if it is the execution's first message", async () => {
    const harness = await startedRun(plane);
    expect((await askQuestion(harness)).status).toBe(200);
    expect(await getTimeline(harness.run_id)).toMatchObject([
      { event_type: "run_created" },
      { event_type: "run_pending" },
      { event_type: "worker_container_ready", payload: { state: "INPROGRESS" } },
      { event_type: "run_blocked" },
    ]);
  });

  it("does not block the run if its answer has already arrived", async () => {
    const harness = await workingRun(plane);
    await user.post(`/agent/runs/${harness.run_id}/followups`, { message: "by the way: the second" });
    await askQuestion(harness);
    expect((await read(harness.run_id)).state).toBe("QUEUED");
    const { context } = (await (await nextExecution(plane)).resolve()).body;
    expect(context.followups).toMatchObject([{ message: "by the way: the second" }]);
  });

  it("holds no slot while it is unanswered", async () => {
    await user.put(`/agent/teams/${plane.team}`, { settings: { concurrency_limit: 1 } });
    const harness = await workingRun(plane);
    const second = await createRun(plane);
    await deliver(plane, "runs");
    expect((await read(second)).state).toBe("QUEUED");
    await askQuestion(harness);
    await deliver(plane);
    expect((await read(second)).state).toBe("PENDING");
  });

  it("blocks the run even if it is empty, and is truncated if it is long", async () => {
    const harness = await workingRun(plane);
    await askQuestion(harness, " \n ");
    expect((await read(harness.run_id)).status_message.message).toBe("the agent waits for an answer");
    const other = await workingRun(plane);
    await askQuestion(other, "why ".repeat(1_000));
    expect((await read(other.run_id)).status_message.message).toHaveLength(1_024);
  });

  it("returns 400 in an ended run, and has no effect", async () => {
    const harness = await workingRun(plane);
    const response = await harness.support("finish-task", { success: true, blocked: true, summary: QUESTION });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "blocked" }] } });
    expect((await read(harness.run_id)).state).toBe("INPROGRESS");
    const notBlocked = { success: true, blocked: false, summary: "done" };
    expect((await harness.support("finish-task", notBlocked)).status).toBe(200);
    expect((await read(harness.run_id)).state).toBe("SUCCEEDED");
  });

  it("can be repeated after each answer", async () => {
    const { run_id, ...first } = await workingRun(plane);
    await askQuestion({ run_id, ...first });
    for (const response of ["one", "two"]) {
      await user.post(`/agent/runs/${run_id}/followups`, { message: response });
      await deliver(plane, "ends");
      const next = await nextExecution(plane);
      await next.resolve();
      await next.beat((await next.resolve()).body.context.followups[0].number);
      await askQuestion(next, `and after ${response}?`);
      expect(await read(run_id)).toMatchObject({
        state: "BLOCKED",
        status_message: { message: `and after ${response}?` },
      });
    }
  });
});
