import { describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, type Harness, nextExecution, workingRun } from "../../support/execution.ts";
import { readState, readTimeline } from "../../support/look.ts";
import { reap } from "../../support/reaper.ts";

const MINUTE = 60_000;

const finish = (harness: Harness, stored = 0, more: object = {}) =>
  harness.support("finish-task", {
    ...{ success: true, summary: "all is done", followups_stored: stored, interrupts_handled: 0, waits: true },
    ...more,
  });

/** An interactive run whose first turn has ended. */
async function idleRun(plane: TestControlPlane, request: object = {}): Promise<Harness> {
  const harness = await workingRun(plane, { prompt: "hello", interactive: true, ...request });
  expect((await finish(harness)).body).toEqual({ waiting: true });
  await deliver(plane, "ends");
  return harness;
}

const followUp = (plane: TestControlPlane, id: string, message = "and then?") =>
  createClient(plane).post(`/agent/runs/${id}/followups`, { message });

const readHead = async (plane: TestControlPlane, id: string) => (await plane.table.get(keys.head(id))) ?? {};

/** Lets the team execute one run at a time. */
async function limitToOne(plane: TestControlPlane): Promise<void> {
  const settings = { concurrency_limit: 1 };
  expect((await createClient(plane).put(`/agent/teams/${plane.team}`, { settings })).status).toBe(200);
}

describe("an interactive run", () => {
  // @contract idle.interactive: An interactive run stays INPROGRESS after each turn for idle_timeout_minutes, and then succeeds.
  // @contract idle.default: idle_timeout_minutes is 10 by default.
  // @contract idle.timer: The control plane ends an idle run when its time is over.
  it("waits for a follow-up after each turn with its execution, and then succeeds", async () => {
    const plane = await createTestControlPlane();
    const harness = await idleRun(plane);
    const user = createClient(plane);
    expect((await user.get(`/agent/runs/${harness.run_id}`)).body).toMatchObject({
      state: "INPROGRESS",
      waiting_for: "followup",
    });
    expect((await followUp(plane, harness.run_id)).body).toMatchObject({ outcome: "live_session" });
    expect((await harness.beat()).body.followups).toMatchObject([{ number: 1, message: "and then?" }]);
    expect((await user.get(`/agent/runs/${harness.run_id}`)).body).not.toHaveProperty("waiting_for");
    expect((await finish(harness, 1)).body).toEqual({ waiting: true });
    for (let minutes = 0; minutes < 10; minutes++) {
      expect(await readState(plane, harness.run_id)).toBe("INPROGRESS");
      plane.clock.now += MINUTE / 3;
      await harness.beat(1);
      await reap(plane);
      plane.clock.now += (2 * MINUTE) / 3;
      await harness.beat(1);
    }
    await reap(plane);
    expect(await readState(plane, harness.run_id)).toBe("SUCCEEDED");
    expect((await harness.beat(1)).status).toBe(401);
    expect((await readTimeline(plane, harness.run_id)).slice(-4)).toEqual([
      "run_idle",
      "followup_received",
      "run_idle",
      "run_succeeded",
    ]);
  });

  // @contract idle.zero: idle_timeout_minutes 0 ends at once.
  // @contract idle.plain: Without interactive, a run ends with its last turn.
  // @contract idle.unable: Where the execution cannot wait, run and execution end.
  it.each([
    ["its execution cannot wait", {}, { waits: false }],
    ["idle_timeout_minutes is 0", { config: { idle_timeout_minutes: 0 } }, {}],
    ["it is not interactive", { interactive: false, config: { idle_timeout_minutes: 30 } }, {}],
  ])("ends with its turn if %s", async (_, request, more) => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane, { prompt: "hello", interactive: true, ...request });
    expect((await finish(harness, 0, more)).body).toEqual({});
    expect(await readState(plane, harness.run_id)).toBe("SUCCEEDED");
  });

  it("answers a repeated finish-task as the first one", async () => {
    const plane = await createTestControlPlane();
    const harness = await idleRun(plane);
    expect((await finish(harness)).body).toEqual({ waiting: true });
    expect(await readTimeline(plane, harness.run_id)).toHaveLength(
      (await readTimeline(plane, harness.run_id)).indexOf("run_idle") + 1,
    );
  });

  // @contract idle.continue: A follow-up continues an ended interactive run in a new execution.
  it("ends when its execution can wait no longer, and a follow-up continues it in a new one", async () => {
    const plane = await createTestControlPlane();
    const harness = await idleRun(plane);
    expect((await finish(harness, 0, { waits: false })).body).toEqual({});
    expect(await readState(plane, harness.run_id)).toBe("SUCCEEDED");
    expect((await followUp(plane, harness.run_id)).body).toMatchObject({ outcome: "handoff_execution" });
    const next = await nextExecution(plane);
    expect((await next.resolve()).body.context.followups).toMatchObject([{ number: 1 }]);
    expect(await readHead(plane, harness.run_id)).not.toHaveProperty("idle");
  });

  it("ends as its last turn when its execution is lost while it waits", async () => {
    const plane = await createTestControlPlane();
    const harness = await idleRun(plane);
    plane.clock.now += MINUTE;
    await reap(plane);
    expect(await readState(plane, harness.run_id)).toBe("SUCCEEDED");
    expect(await readTimeline(plane, harness.run_id)).not.toContain("execution_lost");
    await followUp(plane, harness.run_id);
    await (await nextExecution(plane)).resolve();
    expect(await readState(plane, harness.run_id)).toBe("INPROGRESS");
  });

  it("can be cancelled while it waits, and continued", async () => {
    const plane = await createTestControlPlane();
    const harness = await idleRun(plane);
    expect((await createClient(plane).post(`/agent/runs/${harness.run_id}/cancel`)).status).toBe(200);
    expect((await harness.beat()).body).toMatchObject({ cancel: true });
    await followUp(plane, harness.run_id);
    expect(await readHead(plane, harness.run_id)).not.toHaveProperty("idle");
  });
});

describe("the slot of an idle run", () => {
  // @contract idle.slot: An idle run releases the team's slot.
  it("goes to another run, and comes back with the next message", async () => {
    const plane = await createTestControlPlane();
    await limitToOne(plane);
    const harness = await workingRun(plane, { prompt: "hello", interactive: true });
    const other = await createRun(plane);
    await deliver(plane);
    expect(await readHead(plane, other)).toMatchObject({ state: "QUEUED", waiting: "owner" });
    await finish(harness);
    await deliver(plane);
    expect(await readState(plane, other)).toBe("PENDING");
    expect((await followUp(plane, harness.run_id)).body).toMatchObject({ outcome: "queue_pending" });
    expect((await harness.beat()).body.followups, "no slot yet").toEqual([]);
    expect((await createClient(plane).post(`/agent/runs/${other}/cancel?force=true`)).status).toBe(200);
    await deliver(plane);
    expect((await harness.beat()).body.followups).toMatchObject([{ number: 1 }]);
    expect(await readHead(plane, harness.run_id)).toMatchObject({ state: "INPROGRESS", slot: "owner" });
  });

  it("is granted by the reaper if the message that requests it was lost", async () => {
    const plane = await createTestControlPlane();
    await limitToOne(plane);
    const harness = await idleRun(plane);
    const other = await workingRun(plane);
    await followUp(plane, harness.run_id);
    await other.finish();
    plane.sent.length = 0;
    plane.clock.now += 10_000;
    await harness.beat();
    plane.clock.now += 25_000;
    await harness.beat();
    await reap(plane);
    await deliver(plane);
    expect((await harness.beat()).body.followups).toMatchObject([{ number: 1 }]);
  });

  it("is not needed by a follow-up that waits when the execution is lost: the run is queued", async () => {
    const plane = await createTestControlPlane();
    await limitToOne(plane);
    const harness = await idleRun(plane);
    await workingRun(plane);
    await followUp(plane, harness.run_id);
    await harness.shutDown({ error: { category: "internal", message: "it broke" } });
    await deliver(plane);
    expect(await readHead(plane, harness.run_id)).toMatchObject({ state: "QUEUED", waiting: "owner" });
  });
});
