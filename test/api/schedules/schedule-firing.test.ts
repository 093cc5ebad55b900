import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fireSchedule } from "#functions/executions/fire-schedule.ts";
import { pauseSchedulesByIdentity } from "#shared/schedules/auto-pause.ts";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness } from "../../support/execution.ts";
import { readState } from "../../support/look.ts";
import {
  fireAt,
  listRuns,
  listTicks,
  makeSchedule,
  readSchedule,
  reconcile,
  timerOff,
} from "../../support/schedules.ts";
import { sqsEvent } from "../../support/sqs-event.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});
const call = () => createClient(plane);
const minutely = { cron_schedule: "* * * * *" };
const due = "2026-05-19T02:30:00Z";

describe("a firing without its model", () => {
  afterEach(() => void vi.unstubAllEnvs());

  it("creates no run, and says which model is gone, also where the embedded model would take its place", async () => {
    const { id } = await makeSchedule(plane);
    const { id: named } = await makeSchedule(plane, { agent_config: { model_id: "local/runbook" } });
    const description = "An earlier start of the service had it. Set KEY again.";
    const model = { id: "openai/gpt", display_name: "GPT", provider: "OPENAI", vision_supported: true, description };
    vi.stubEnv("MISSING_MODELS", JSON.stringify([{ ...model, disable_reason: "PROVIDER_OUTAGE" }]));
    const model_error = expect.stringMatching(/openai\/gpt is not available: .* Set KEY again/);
    expect(await readSchedule(plane, id)).toMatchObject({ model_error });
    expect(await readSchedule(plane, named)).not.toHaveProperty("model_error");
    await fireAt(plane, id, due);
    await fireAt(plane, named, due);
    expect(await listRuns(plane, id)).toEqual([]);
    expect(await listRuns(plane, named)).toHaveLength(1);
    expect(await listTicks(plane, id)).toMatchObject([{ outcome: "failed", reason: model_error }]);
    expect(await readSchedule(plane, id)).toMatchObject({ last_spawn_error: model_error, enabled: true });
  });
});

describe("a firing", () => {
  // @contract runs.item.schedule
  // @contract schedules.firing.run: A firing creates one run with source SCHEDULED_AGENT and its schedule.
  it("creates one run of the team, records it, and requests its dispatch", async () => {
    const { id } = await makeSchedule(plane);
    await fireAt(plane, id, due);
    const [run, ...others] = await listRuns(plane, id);
    expect(others).toEqual([]);
    expect(run).toMatchObject({
      title: "Nightly",
      state: "QUEUED",
      source: "SCHEDULED_AGENT",
      schedule: { schedule_id: id, schedule_name: "Nightly", cron_schedule: "30 2 * * *" },
      creator: { uid: plane.user },
      executor: { uid: plane.user },
    });
    expect(plane.sent).toEqual([{ queue: "runs", runId: run.run_id }]);
    expect(await listTicks(plane, id)).toEqual([
      {
        scheduled_at: "2026-05-19T02:30:00.000Z",
        outcome: "fired",
        recorded_at: "2026-05-19T02:30:05.000Z",
        run_id: run.run_id,
      },
    ]);
    expect(await readSchedule(plane, id)).toMatchObject({
      history: { last_ran: "2026-05-19T02:30:05.000Z", next_run: "2026-05-20T02:30:00.000Z" },
      recent_runs: [{ run_id: run.run_id, state: "QUEUED" }],
    });
  });

  // @contract schedules.firing.once: It creates one run even if its trigger is delivered twice.
  it("creates one run for repeated deliveries of its trigger, sequential or concurrent", async () => {
    const { id } = await makeSchedule(plane);
    await fireAt(plane, id, due);
    await timerOff(plane, id, due);
    await Promise.all(Array.from({ length: 5 }, () => timerOff(plane, id, due)));
    expect(await listRuns(plane, id)).toHaveLength(1);
    const { id: other } = await makeSchedule(plane, { cron_schedule: "0 3 * * *" });
    plane.clock.now = Date.parse("2026-05-19T03:00:05Z");
    await Promise.all(Array.from({ length: 5 }, () => timerOff(plane, other, "2026-05-19T03:00:00Z")));
    expect(await listRuns(plane, other)).toHaveLength(1);
    expect(await listTicks(plane, other)).toHaveLength(1);
  });

  it("is accepted up to 30 seconds before its time, since clocks differ, and refused earlier", async () => {
    const { id } = await makeSchedule(plane);
    plane.clock.now = Date.parse(due) - 30_001;
    expect(await timerOff(plane, id, due)).toBe(1);
    expect(await listTicks(plane, id)).toEqual([]);
    plane.clock.now += 1;
    expect(await timerOff(plane, id, due)).toBe(0);
    expect(await listTicks(plane, id)).toMatchObject([{ scheduled_at: "2026-05-19T02:30:00.000Z", outcome: "fired" }]);
  });

  it("arrives through a queue on a single machine, which reports failed messages", async () => {
    const { id } = await makeSchedule(plane);
    plane.clock.now = Date.parse(due) + 5_000;
    const event = sqsEvent("schedules", [
      { v: 1, schedule_id: id, scheduled_time: due },
      { v: 1, schedule_id: id },
    ]);
    expect(await fireSchedule.handle(event, plane.ports)).toEqual({
      batchItemFailures: [{ itemIdentifier: "message-2" }],
    });
    expect(await listRuns(plane, id)).toHaveLength(1);
    expect(await listTicks(plane, id)).toMatchObject([{ scheduled_at: "2026-05-19T02:30:00.000Z", outcome: "fired" }]);
  });

  it("treats seconds in the trigger's time as delay", async () => {
    const { id } = await makeSchedule(plane);
    await fireAt(plane, id, "2026-05-19T02:30:41Z");
    await timerOff(plane, id, due);
    expect(await listRuns(plane, id)).toHaveLength(1);
    expect(await listTicks(plane, id)).toMatchObject([{ scheduled_at: "2026-05-19T02:30:00.000Z" }]);
  });

  // @contract schedules.cron.superset
  it("is skipped if the timer fires more often than the cron expression", async () => {
    const { id } = await makeSchedule(plane, { cron_schedule: "30 2 13 * 5" });
    expect(plane.timers.get(id)?.expression).toBe("cron(30 2 * * ? *)");
    // The trigger of the 23rd arrives before the planned one.
    for (const day of ["19", "20", "21", "23", "22"]) await fireAt(plane, id, `2026-05-${day}T02:30:00Z`);
    expect(await listTicks(plane, id)).toMatchObject([{ scheduled_at: "2026-05-22T02:30:00.000Z", outcome: "fired" }]);
    expect(await listRuns(plane, id)).toHaveLength(1);
  });

  it("is refused before its time, and has no effect for a time before the schedule was created", async () => {
    const { id } = await makeSchedule(plane);
    expect(await timerOff(plane, id, due)).toBe(1);
    expect(await timerOff(plane, id, "2026-05-18T02:30:00Z")).toBe(0);
    expect(await listRuns(plane, id)).toEqual([]);
    // The timers' clock may be up to 30 seconds ahead.
    plane.clock.now = Date.parse(due) - 30_001;
    expect(await timerOff(plane, id, due)).toBe(1);
    plane.clock.now += 1;
    expect(await timerOff(plane, id, due)).toBe(0);
    expect(await listTicks(plane, id)).toMatchObject([{ outcome: "fired" }]);
  });

  // @contract general.creator.schedule
  // @contract general.executor.identity
  it("is executed by the schedule's agent, if it has one", async () => {
    const agent = await plane.agent("builder");
    const { id } = await makeSchedule(plane, { agent_uid: agent.uid });
    await fireAt(plane, id, due);
    expect(await listRuns(plane, id)).toMatchObject([
      {
        creator: { type: "user", uid: plane.user },
        executor: { type: "service_account", uid: agent.uid, display_name: "builder" },
      },
    ]);
  });

  it("uses the configuration of its agent and team where it has none of its own", async () => {
    const agent = await plane.agent("builder");
    const defaults = { prompt: "Be brief.", skills: ["acme/tools:check"] };
    await call().put(`/agent/identities/${agent.uid}`, defaults);
    const { id } = await makeSchedule(plane, { agent_uid: agent.uid, agent_config: { name: "n" } });
    await fireAt(plane, id, due);
    expect(await listRuns(plane, id)).toMatchObject([
      {
        agent_config: {
          name: "n",
          base_prompt: "Be brief.",
          skill_spec: "acme/tools:check",
          model_id: "local/runbook",
        },
      },
    ]);
    expect((await readSchedule(plane, id)).agent_config).toEqual({ name: "n" });
  });

  it("fails for a personal schedule whose runs a self-hosted worker would execute", async () => {
    const { id } = await makeSchedule(plane, { team: false, agent_config: { worker_host: "rack-7" } });
    await fireAt(plane, id, due);
    expect(await listTicks(plane, id)).toMatchObject([
      { outcome: "failed", reason: expect.stringContaining("executes runs of a team only") },
    ]);
    expect(await listRuns(plane, id)).toEqual([]);
  });

  // @contract schedules.item.error: last_spawn_error is null, or the reason why the last firing created no run.
  it("records its failure with a readable reason, once, and clears it on success", async () => {
    const { id } = await makeSchedule(plane, minutely);
    const counters = keys.counters({ type: "Team", uid: plane.team });
    await plane.table.write({ kind: "update", key: counters, set: { queued: 1_000 } });
    await fireAt(plane, id, "2026-05-18T19:01:00Z");
    await timerOff(plane, id, "2026-05-18T19:01:00Z");
    const reason = expect.stringContaining("the queue is full");
    expect(await listTicks(plane, id)).toMatchObject([{ outcome: "failed", reason }]);
    expect(await readSchedule(plane, id)).toMatchObject({ last_spawn_error: reason, enabled: true });
    await plane.table.write({ kind: "update", key: counters, set: { queued: 0 } });
    await fireAt(plane, id, "2026-05-18T19:02:00Z");
    expect(await readSchedule(plane, id)).toMatchObject({ last_spawn_error: null });
    expect(await listTicks(plane, id)).toMatchObject([{ outcome: "fired" }, { outcome: "failed" }]);
  });

  it("is refused if requested manually while the queue is full, and stores nothing", async () => {
    const { id } = await makeSchedule(plane);
    const counters = keys.counters({ type: "Team", uid: plane.team });
    await plane.table.write({ kind: "update", key: counters, set: { queued: 1_000 } });
    const response = await call().post(`/agent/schedules/${id}/run`);
    expect(response).toMatchObject({ status: 429, body: { error_code: "resource_unavailable", retryable: true } });
    expect(await listRuns(plane, id)).toEqual([]);
    expect(await readSchedule(plane, id)).toMatchObject({ last_spawn_error: null });
  });

  it.each([
    [89_999, "fired"],
    [90_000, "late"],
  ])("runs even if its trigger is late by %i ms, and is recorded as %s", async (delay, outcome) => {
    const { id } = await makeSchedule(plane);
    plane.clock.now = Date.parse(due) + delay;
    await timerOff(plane, id, due);
    expect(await listTicks(plane, id)).toMatchObject([{ outcome, run_id: expect.any(String) }]);
  });
});

describe("a schedule that is paused, changed or deleted", () => {
  it("never fires, even if its trigger is in flight", async () => {
    const { id: paused } = await makeSchedule(plane, minutely);
    const { id: deleted } = await makeSchedule(plane, minutely);
    const { id: changed } = await makeSchedule(plane, minutely);
    plane.clock.now = Date.parse("2026-05-18T19:01:02Z");
    await call().post(`/agent/schedules/${paused}/pause`);
    await call().delete(`/agent/schedules/${deleted}`);
    const yearly = { name: "Yearly", cron_schedule: "@yearly", enabled: true, prompt: "hello" };
    await call().put(`/agent/schedules/${changed}`, yearly);
    for (const id of [paused, deleted, changed]) {
      expect(await timerOff(plane, id, "2026-05-18T19:01:00Z")).toBe(0);
      expect(await listRuns(plane, id)).toEqual([]);
    }
    const cutOff = [{ outcome: "skipped", reason: "the schedule was changed before it fired" }];
    expect(await listTicks(plane, paused)).toMatchObject(cutOff);
    expect(await listTicks(plane, changed)).toMatchObject(cutOff);
    await call().post(`/agent/schedules/${paused}/resume`);
    expect(await timerOff(plane, paused, "2026-05-18T19:01:00Z")).toBe(0);
    expect(await listRuns(plane, paused)).toEqual([]);
  });

  it("does not fire if it is paused between the check and the run", async () => {
    const { id } = await makeSchedule(plane, minutely);
    plane.clock.now = Date.parse("2026-05-18T19:01:02Z");
    const { runs } = plane.ports;
    let paused = false;
    const ports = {
      ...plane.ports,
      runs: {
        ...runs,
        create: async (writes: Parameters<typeof runs.create>[0]) => {
          if (!paused) await call().post(`/agent/schedules/${id}/pause`);
          paused = true;
          return runs.create(writes);
        },
      },
    };
    expect(await timerOff(plane, id, "2026-05-18T19:01:00Z", ports)).toBe(0);
    expect(await listRuns(plane, id)).toEqual([]);
    expect(await listTicks(plane, id)).toMatchObject([{ outcome: "skipped" }]);
  });

  it("records at most twenty firings that the change of its plan cancels", async () => {
    const { id: few } = await makeSchedule(plane, minutely);
    const { id: many } = await makeSchedule(plane, minutely);
    plane.clock.now = Date.parse("2026-05-18T19:03:00Z");
    await call().post(`/agent/schedules/${few}/pause`);
    expect((await listTicks(plane, few)).map(({ scheduled_at, outcome }) => [scheduled_at, outcome])).toEqual([
      ["2026-05-18T19:03:00.000Z", "skipped"],
      ["2026-05-18T19:02:00.000Z", "skipped"],
      ["2026-05-18T19:01:00.000Z", "skipped"],
    ]);
    plane.clock.now = Date.parse("2026-05-18T19:21:00Z");
    await call().post(`/agent/schedules/${many}/pause`);
    expect(await listTicks(plane, many)).toHaveLength(20);
  });

  it("keeps a firing in flight if its times do not change", async () => {
    const { id } = await makeSchedule(plane);
    plane.clock.now = Date.parse(due) + 1_000;
    const same = { name: "Nightly", cron_schedule: "30 2 * * *", enabled: true, prompt: "something else" };
    await call().put(`/agent/schedules/${id}`, same);
    await timerOff(plane, id, due);
    expect(await listRuns(plane, id)).toMatchObject([{ prompt: "something else" }]);
  });

  it("removes a timer that still fires", async () => {
    const { id } = await makeSchedule(plane);
    await call().delete(`/agent/schedules/${id}`);
    plane.timers.set(id, { id, expression: "cron(30 2 * * ? *)", timeZone: "UTC" });
    await fireAt(plane, id, due);
    expect(plane.timers.size).toBe(0);
  });
});

// @contract schedules.overlap: A schedule has the overlap allow, skip or cancel_previous.
describe("overlap", () => {
  const firstAndSecond = async (overlap: string): Promise<{ id: string; first: string }> => {
    const { id } = await makeSchedule(plane, { ...minutely, overlap });
    await fireAt(plane, id, "2026-05-18T19:01:00Z");
    const [first] = await listRuns(plane, id);
    const harness = createHarness(plane, await plane.dispatch(first.run_id));
    await harness.resolve();
    await fireAt(plane, id, "2026-05-18T19:02:00Z");
    return { id, first: first.run_id };
  };

  it("allow: runs next to an unfinished run", async () => {
    const { id, first } = await firstAndSecond("allow");
    expect(await listRuns(plane, id)).toHaveLength(2);
    expect(await readState(plane, first)).toBe("INPROGRESS");
  });

  it("skip: creates no run while one has not ended, and names that run", async () => {
    const { id, first } = await firstAndSecond("skip");
    expect(await listRuns(plane, id)).toHaveLength(1);
    const skipped = { outcome: "skipped", reason: `run ${first} has not ended` };
    expect(await listTicks(plane, id)).toMatchObject([skipped, { outcome: "fired" }]);
    await call().post(`/agent/runs/${first}/cancel`);
    await fireAt(plane, id, "2026-05-18T19:03:00Z");
    expect(await listRuns(plane, id)).toHaveLength(2);
  });

  it("cancel_previous: cancels the unfinished run, but not the run of a repeated trigger", async () => {
    const { id, first } = await firstAndSecond("cancel_previous");
    const [second, ...others] = await listRuns(plane, id);
    expect(others).toHaveLength(1);
    expect((await call().get(`/agent/runs/${first}`)).body).toMatchObject({
      state: "CANCELLED",
      status_message: { message: 'cancelled by the next run of schedule "Nightly"' },
    });
    await timerOff(plane, id, "2026-05-18T19:02:00Z");
    // Out of order: the minute before is still missing.
    await fireAt(plane, id, "2026-05-18T19:04:00Z");
    await timerOff(plane, id, "2026-05-18T19:04:00Z");
    expect(await readState(plane, second.run_id)).toBe("CANCELLED");
    const [latest] = await listRuns(plane, id);
    expect(latest).toMatchObject({ state: "QUEUED" });
  });
});

describe("a deleted identity", () => {
  // @contract general.identity-gone.schedules
  it("pauses its schedule when it fires, with the reason", async () => {
    const agent = await plane.agent();
    const { id } = await makeSchedule(plane, { agent_uid: agent.uid });
    await plane.table.write({ kind: "delete", key: keys.identity(plane.team, agent.uid) });
    await fireAt(plane, id, due);
    expect(await listTicks(plane, id)).toMatchObject([{ outcome: "failed" }]);
    expect(await readSchedule(plane, id)).toMatchObject({
      enabled: false,
      last_spawn_error: "agent_uid: there is no such identity in the team",
    });
    plane.clock.now += 90_000;
    await reconcile(plane);
    expect(plane.timers.size).toBe(0);
  });

  it("records an outcome for the firing due when its schedule was paused, but not for a later one", async () => {
    const agent = await plane.agent();
    const { id } = await makeSchedule(plane, { agent_uid: agent.uid });
    const { id: later } = await makeSchedule(plane, { agent_uid: agent.uid, cron_schedule: "31 2 * * *" });
    const { id: paused } = await makeSchedule(plane, { agent_uid: agent.uid, enabled: false });
    plane.clock.now = Date.parse(due);
    await call().delete(`/agent/identities/${agent.uid}`);
    const reason = "the identity builder is deleted";
    expect(await listTicks(plane, id)).toEqual([
      {
        scheduled_at: "2026-05-19T02:30:00.000Z",
        outcome: "skipped",
        recorded_at: "2026-05-19T02:30:00.000Z",
        reason,
      },
    ]);
    expect([await listTicks(plane, later), await listTicks(plane, paused)]).toEqual([[], []]);
    expect(await readSchedule(plane, later)).toMatchObject({ enabled: false, last_spawn_error: reason });
    expect(await readSchedule(plane, paused)).toMatchObject({ enabled: false, last_spawn_error: null });
  });

  it("disables its schedules immediately, and no others", async () => {
    const agent = await plane.agent();
    const { id } = await makeSchedule(plane, { agent_uid: agent.uid });
    const { id: other } = await makeSchedule(plane);
    const { id: made } = await makeSchedule(plane, {}, agent.key);
    const before = await plane.ports.schedules.get(id);
    await pauseSchedulesByIdentity(agent.uid, "the identity was deleted", plane.ports);
    // A timer that is set for the earlier plan meanwhile is not recorded as matching.
    if (before !== undefined) expect(await plane.ports.schedules.noteSynced(before)).toBe(false);
    expect(await plane.ports.schedules.get(id)).toMatchObject({ pending_since: plane.clock.now, plan: 2 });
    expect(await readSchedule(plane, made)).toMatchObject({ enabled: false });
    expect(await readSchedule(plane, id)).toMatchObject({
      enabled: false,
      last_spawn_error: "the identity was deleted",
    });
    expect(await readSchedule(plane, other)).toMatchObject({ enabled: true, last_spawn_error: null });
  });
});
