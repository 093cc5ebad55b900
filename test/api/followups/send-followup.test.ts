import { describe, expect, it } from "vitest";
import { RUN_CAPS } from "#shared/records/run.ts";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, deliver, nextExecution, startedRun, workingRun } from "../../support/execution.ts";
import { readState, readTimeline, setState } from "../../support/look.ts";

const followup = (
  plane: TestControlPlane,
  id: string,
  message: string | undefined,
  headers: Record<string, string> = {},
) => createClient(plane).post(`/agent/runs/${id}/followups`, message === undefined ? {} : { message }, { headers });

describe("POST /agent/runs/{runId}/followups", () => {
  // @contract runs.followups.response: A follow-up returns 200 with its id, its run and its outcome.
  // @contract runs.followups.waiting: Follow-ups to a waiting or PENDING run are delivered with the first turn.
  // @contract runs.timeline.followup: followup_received records a follow-up.
  it("delivers follow-ups to a waiting or PENDING run with its first turn, in order", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    const queued = { followup_id: "followup-1", run_id: id, outcome: "queued_prompt" };
    expect((await followup(plane, id, "one")).body).toEqual(queued);
    const harness = createHarness(plane, await plane.dispatch(id));
    expect((await followup(plane, id, "two")).body).toEqual({
      followup_id: "followup-2",
      run_id: id,
      outcome: "queue_pending",
    });
    const { context } = (await harness.resolve()).body;
    expect(context.followups).toMatchObject([
      { number: 1, message: "one", policy: "enqueue", created_at: "2026-05-18T19:00:00.000Z" },
      { number: 2, message: "two" },
    ]);
    expect(await readTimeline(plane, id)).toEqual([
      "run_created",
      "followup_received",
      "run_pending",
      "followup_received",
      "worker_container_ready",
    ]);
  });

  // @contract runs.followups.working: A working agent gets them before it begins its next turn.
  // @contract runs.followups.order
  it("delivers to an executing run with its heartbeats, until they are acknowledged as stored", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    expect((await harness.beat()).body.followups).toEqual([]);
    plane.clock.now += 1_000;
    await followup(plane, harness.run_id, "one");
    await followup(plane, harness.run_id, "two");
    expect((await createClient(plane).get(`/agent/runs/${harness.run_id}`)).body.updated_at).toBe(
      "2026-05-18T19:00:01.000Z",
    );
    const numbers = async (stored: number) =>
      (await harness.beat(stored)).body.followups.map(({ number }: { number: number }) => number);
    expect(await numbers(0)).toEqual([1, 2]);
    expect(await numbers(0)).toEqual([1, 2]);
    expect(await numbers(1)).toEqual([2]);
    expect(await numbers(0), "stored follow-ups are not sent again").toEqual([2]);
    expect(await numbers(2)).toEqual([]);
    expect((await harness.finish()).status).toBe(200);
    expect(await readState(plane, harness.run_id)).toBe("SUCCEEDED");
  });

  it("returns 429 above the number that a run stores", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    const followups = RUN_CAPS.followups - 1;
    await plane.table.write({ kind: "update", key: keys.head(id), set: { followups } });
    expect((await followup(plane, id, "the last")).status).toBe(200);
    const refused = await followup(plane, id, "one more");
    expect(refused).toMatchObject({ status: 429, body: { error_code: "resource_unavailable" } });
    expect(refused.body.detail).toBe(`a run stores at most ${RUN_CAPS.followups} follow-ups`);
    expect((await plane.ports.runs.head(id))?.followups).toBe(RUN_CAPS.followups);
  });

  it("requeues a run that finishes with an unprocessed follow-up", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await harness.messages(1, "so far");
    await followup(plane, harness.run_id, "more");
    plane.clock.now += 2_000;
    expect((await harness.finish()).status).toBe(200);
    expect(await readState(plane, harness.run_id)).toBe("QUEUED");
    expect((await harness.beat()).status, "its execution has ended").toBe(401);
    const next = await nextExecution(plane);
    expect(next.execution_id).not.toBe(harness.execution_id);
    const { context } = (await next.resolve()).body;
    expect(context).toMatchObject({ next_sequence: 2, followups: [{ number: 1, message: "more" }] });
    expect(context.messages).toMatchObject([{ content: [{ text: "so far" }] }]);
    plane.clock.now += 3_000;
    await next.beat(1);
    await next.finish();
    await deliver(plane);
    expect((await createClient(plane).get(`/agent/runs/${harness.run_id}`)).body).toMatchObject({
      state: "SUCCEEDED",
      run_time: "PT5.000S",
    });
  });

  // @contract runs.transitions.revive
  // @contract runs.followups.terminal: A follow-up restarts a run however it ended, with a new execution of the same conversation.
  // @contract runs.followups.clears: Then it has no status_message; started_at is kept, and run_time accumulates.
  it.each(["SUCCEEDED", "FAILED", "CANCELLED"])(
    "restarts a run that is %s, as a new execution of the same conversation",
    async (state) => {
      const plane = await createTestControlPlane();
      const user = createClient(plane);
      const harness = await workingRun(plane);
      await harness.messages(1, "the first answer");
      plane.clock.now += 2_000;
      if (state === "CANCELLED") await user.post(`/agent/runs/${harness.run_id}/cancel`);
      else await harness.finish(state === "SUCCEEDED");
      await deliver(plane);
      plane.clock.now += 60_000;

      const continued = { followup_id: "followup-1", run_id: harness.run_id, outcome: "handoff_execution" };
      expect((await followup(plane, harness.run_id, "and then?")).body).toEqual(continued);
      const waiting = (await user.get(`/agent/runs/${harness.run_id}`)).body;
      expect(waiting).toMatchObject({
        state: "QUEUED",
        started_at: "2026-05-18T19:00:00.000Z",
        run_time: "PT2.000S",
        is_sandbox_running: false,
      });
      expect(waiting).not.toHaveProperty("status_message");
      expect(
        (await user.get(`/agent/runs/${harness.run_id}/transcript`)).status,
        "it is composed again at the next end",
      ).toBe(404);

      const next = await nextExecution(plane);
      expect((await harness.beat()).status, "the old key stays revoked").toBe(401);
      // After a cancel, the conversation notes where the run was cancelled.
      const roles = state === "CANCELLED" ? ["user", "assistant", "system"] : ["assistant"];
      expect((await next.resolve()).body.context).toMatchObject({
        next_sequence: state === "CANCELLED" ? 3 : 2,
        messages: roles.map((role) => ({ role })),
        followups: [{ number: 1, message: "and then?" }],
      });
      await next.beat(1);
      plane.clock.now += 1_000;
      await next.finish();
      await deliver(plane);
      expect((await user.get(`/agent/runs/${harness.run_id}`)).body).toMatchObject({
        state: "SUCCEEDED",
        run_time: "PT3.000S",
      });
      expect((await user.get(`/agent/runs/${harness.run_id}/transcript`)).status).toBe(302);
    },
  );

  // @contract runs.state.blocked
  // @contract runs.transitions.revive
  // @contract runs.followups.terminal
  it.each(["BLOCKED", "ERROR"])("restarts a run that is %s", async (state) => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await harness.finish();
    await setState(plane, harness.run_id, state);
    expect((await followup(plane, harness.run_id, "the answer")).status).toBe(200);
    expect((await (await nextExecution(plane)).resolve()).body.context.followups).toMatchObject([
      { message: "the answer" },
    ]);
  });

  // @contract runs.followups.no-message: Only an ended run accepts a follow-up without a message: it continues.
  // @contract followups.message: The message may be absent on a run that has ended.
  it("continues an ended run without a message, once for repeated requests", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await harness.finish();
    const headers = { "idempotency-key": "go-on" };
    expect((await followup(plane, harness.run_id, undefined, headers)).status).toBe(200);
    expect(await readState(plane, harness.run_id)).toBe("QUEUED");
    const again = await followup(plane, harness.run_id, undefined, headers);
    expect(again.status).toBe(200);
    expect(again.headers["idempotent-replay"]).toBe("true");
    expect(again.body).toEqual({ followup_id: "followup-1", run_id: harness.run_id, outcome: "handoff_execution" });
    expect((await (await nextExecution(plane)).resolve()).body.context.followups).toHaveLength(1);
  });

  // @contract runs.retry.followup
  it("stores a repeated request once, and the same message in two requests twice", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await followup(plane, harness.run_id, "same", { "x-stainless-retry-count": "0" });
    await followup(plane, harness.run_id, "same", { "x-stainless-retry-count": "1" });
    await followup(plane, harness.run_id, "same", { "x-stainless-retry-count": "2" });
    expect((await harness.beat()).body.followups).toHaveLength(1);
    await followup(plane, harness.run_id, "same", { "x-stainless-retry-count": "0" });
    expect((await harness.beat()).body.followups).toHaveLength(2);
  });

  // @contract errors.conflict.race
  // @contract runs.followups.order: Each follow-up is delivered once, in order.
  it("stores each of twenty concurrent follow-ups once", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const texts = Array.from({ length: 20 }, (_, index) => `message ${index}`);
    const responses = await Promise.all(texts.map((text) => followup(plane, harness.run_id, text)));
    const taken = texts.filter((_, index) => responses[index]?.status === 200);
    for (const { status, body } of responses)
      if (status !== 200) expect(body).toMatchObject({ error_code: "conflict", retryable: true });
    const { followups } = (await harness.beat()).body;
    expect(followups.map(({ number }: { number: number }) => number)).toEqual(taken.map((_, index) => index + 1));
    expect(followups.map(({ message }: { message: string }) => message).toSorted()).toEqual(taken.toSorted());
  });

  // @contract runs.followups.message
  it("keeps a message of 256 KiB whole", async () => {
    const plane = await createTestControlPlane();
    const harness = await startedRun(plane);
    const long = "é".repeat(131_072);
    expect((await followup(plane, harness.run_id, long)).status).toBe(200);
    expect((await harness.resolve()).body.context.followups).toMatchObject([{ message: long }]);
  });

  // @contract runs.followups.conversation: conversation_id of a run that has not ended is 409 and names the run.
  it("refuses to continue the conversation of an unfinished run with a new run, and names it", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const harness = await workingRun(plane);
    const create = () => user.post("/agent/runs", { prompt: "go on", conversation_id: harness.run_id });
    const refused = await create();
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({
      error_code: "conflict",
      retryable: false,
      detail: expect.stringContaining(harness.run_id),
    });
    await harness.finish();
    expect((await create()).status).toBe(200);
    expect((await create()).status, "the new run has not ended yet").toBe(409);
  });

  it("refuses to continue a conversation while a follow-up has any of its runs work again, and names that run", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await workingRun(plane);
    await first.finish();
    const body = { prompt: "go on", conversation_id: first.run_id };
    const middle = await workingRun(plane, body);
    await middle.finish();
    await (await workingRun(plane, body)).finish();
    await user.post(`/agent/runs/${middle.run_id}/followups`, { message: "again" });
    const refused = await user.post("/agent/runs", body);
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining(middle.run_id)]);
  });
});

describe("a conversation of several runs", () => {
  /** Two ended runs of one conversation. */
  async function endedRuns(plane: TestControlPlane) {
    const first = await workingRun(plane);
    await first.finish();
    const second = await workingRun(plane, { prompt: "go on", conversation_id: first.run_id });
    await second.finish();
    return [first.run_id, second.run_id] as const;
  }
  const isActive = async (plane: TestControlPlane, id: string) => (await readState(plane, id)) === "QUEUED";

  it("refuses a follow-up to an ended run while another one is active, names that one, and stores nothing", async () => {
    const plane = await createTestControlPlane();
    const [first, second] = await endedRuns(plane);
    for (const [id, other] of [
      [second, first],
      [first, second],
    ] as const) {
      expect((await followup(plane, id, "go on")).status).toBe(200);
      const before = structuredClone(plane.table.all());
      expect(await followup(plane, other, "and this")).toMatchObject({
        status: 409,
        body: { error_code: "conflict", retryable: false, detail: expect.stringContaining(`run ${id} `) },
      });
      expect(plane.table.all()).toEqual(before);
      expect((await followup(plane, id, "more")).status, "the active run takes follow-ups").toBe(200);
      expect((await createClient(plane).post(`/agent/runs/${id}/cancel`)).status).toBe(200);
    }
  });

  it("repeats the response to a follow-up that is sent again after another run has become active", async () => {
    const plane = await createTestControlPlane();
    const [first, second] = await endedRuns(plane);
    const headers = { "idempotency-key": "k" };
    await followup(plane, first, "go on", headers);
    await createClient(plane).post(`/agent/runs/${first}/cancel`);
    await followup(plane, second, "go on");
    expect((await followup(plane, first, "go on", headers)).status).toBe(200);
    expect([await isActive(plane, first), await isActive(plane, second)]).toEqual([false, true]);
  });

  it("has one active run, however requests that continue it overlap", async () => {
    const user = (plane: TestControlPlane) => createClient(plane);
    const requests = [
      (plane: TestControlPlane, [first]: readonly string[]) => followup(plane, first ?? "", "a"),
      (plane: TestControlPlane, [, second]: readonly string[]) => followup(plane, second ?? "", "b"),
      (plane: TestControlPlane, [first]: readonly string[]) =>
        user(plane).post("/agent/runs", { prompt: "c", conversation_id: first }),
    ];
    for (const one of requests) {
      for (const other of requests.filter((request) => request !== one)) {
        // The other request comes between any two calls of the first one.
        for (let call = 0; call < 12; call++) {
          let calls = -1;
          let late: ReturnType<typeof followup> | undefined;
          const plane: TestControlPlane = await createTestControlPlane(undefined, async (_name, perform) => {
            if (calls >= 0 && calls++ === call) {
              calls = -1;
              late = other(plane, runs);
              await late;
            }
            return perform();
          });
          const runs = await endedRuns(plane);
          calls = 0;
          const { status } = await one(plane, runs);
          calls = -1;
          late ??= other(plane, runs);
          expect([status, (await late).status].sort()).toEqual([200, 409]);
        }
      }
    }
  });
});

describe("a conversation that a new run continues", () => {
  it("stays personal if the request does not name an owner", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const personal = await workingRun(plane, { prompt: "hello", team: false });
    await personal.finish();
    const next = await user.post("/agent/runs", { prompt: "go on", conversation_id: personal.run_id });
    expect(next.status).toBe(200);
    const { scope } = (await user.get(`/agent/runs/${next.body.run_id}`)).body;
    expect(scope).toMatchObject({ type: "User" });
  });

  it("is refused to a run of another owner, which would share its messages, and stores nothing", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const ofTeam = await workingRun(plane);
    const personal = await workingRun(plane, { prompt: "hello", team: false });
    for (const run of [ofTeam, personal]) await run.finish();
    const before = structuredClone(plane.table.all());
    for (const [run, team] of [
      [ofTeam, false],
      [personal, true],
    ] as const) {
      const response = await user.post("/agent/runs", { prompt: "go on", conversation_id: run.run_id, team });
      expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "conversation_id" }] } });
    }
    expect(plane.table.all()).toEqual(before);
  });
});

// @contract followups.policy: A follow-up has the policy enqueue, interrupt or reject.
describe("the policy of a follow-up", () => {
  const send = (plane: TestControlPlane, id: string, policy: string) =>
    createClient(plane).post(`/agent/runs/${id}/followups`, { message: "now", policy });

  it("is passed to the harness, and is enqueue by default", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await send(plane, harness.run_id, "interrupt");
    await followup(plane, harness.run_id, "then");
    expect((await harness.beat()).body.followups).toMatchObject([{ policy: "interrupt" }, { policy: "enqueue" }]);
  });

  // @contract errors.conflict.reject: The conflict of a follow-up with the policy reject is not retryable.
  it("returns 409 for reject until the run has ended, in any state, and stores nothing", async () => {
    const plane = await createTestControlPlane();
    const working = await workingRun(plane);
    for (const id of [await createRun(plane), (await startedRun(plane)).run_id, working.run_id]) {
      const before = structuredClone(plane.table.all());
      expect(await send(plane, id, "reject")).toMatchObject({
        status: 409,
        body: { error_code: "conflict", retryable: false, detail: expect.stringContaining("policy") },
      });
      expect(plane.table.all()).toEqual(before);
    }
    await working.finish();
    expect((await send(plane, working.run_id, "reject")).status).toBe(200);
    expect(await readState(plane, working.run_id)).toBe("QUEUED");
  });

  it("must be one of three values: 400 names it", async () => {
    const plane = await createTestControlPlane();
    const response = await send(plane, await createRun(plane), "shout");
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "policy" }] } });
  });
});
