import { beforeEach, describe, expect, it } from "vitest";
import { noteRunOfTrigger } from "#shared/triggers/note-run.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { consume, createHarness, deliver } from "../../support/execution.ts";
import { createHooks } from "../../support/hooks.ts";
import { fireAt, listRuns, listTicks, makeSchedule, readSchedule } from "../../support/schedules.ts";
import { attemptRequested, streamEvents } from "../../support/webhooks.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

/** Ends a run, and delivers the message of its end. */
async function end(runId: string, how: "succeeds" | "fails" | "is cancelled"): Promise<void> {
  if (how === "is cancelled") await user.post(`/agent/runs/${runId}/cancel`);
  else {
    const harness = createHarness(plane, await plane.dispatch(runId));
    await harness.resolve();
    await harness.finish(how === "succeeds");
  }
  await deliver(plane, "ends");
}
const failures = async () => {
  await streamEvents(plane);
  await attemptRequested(plane);
  return plane.webhooks.sent.map(({ body }) => JSON.parse(body)).filter(({ data }) => data.event.paused === true);
};
const receive = () => user.post("/agent/webhooks", { url: "https://hooks.runyard.test/events" });

describe("pause_after_failures of a schedule", () => {
  let minute: number;
  const create = async (body: object = {}): Promise<string> => {
    minute = 0;
    return (await makeSchedule(plane, { cron_schedule: "* * * * *", pause_after_failures: 2, ...body })).id;
  };
  const runThat = async (id: string, how: Parameters<typeof end>[1]): Promise<string> => {
    minute += 1;
    await fireAt(plane, id, `2026-05-18T19:${String(minute).padStart(2, "0")}:00Z`);
    const [run] = await listRuns(plane, id);
    await end(run.run_id, how);
    return run.run_id;
  };

  it("pauses it once that many runs have failed in a row, with the reason, and tells its webhooks once", async () => {
    await receive();
    const id = await create();
    await runThat(id, "fails");
    expect(await readSchedule(plane, id)).toMatchObject({
      enabled: true,
      pause_after_failures: 2,
      failing_since: "2026-05-18T19:01:05.000Z",
    });
    const last = await runThat(id, "fails");
    const reason = "its last 2 runs failed in a row";
    expect(await readSchedule(plane, id)).toMatchObject({
      enabled: false,
      last_spawn_error: reason,
      failing_since: "2026-05-18T19:01:05.000Z",
      history: { next_run: null },
    });
    await consume(plane, "ends", last);
    expect(await failures()).toMatchObject([
      { type: "schedule_failed", data: { schedule_id: id, event: { paused: true, run_id: last, reason } } },
    ]);
    expect(await listTicks(plane, id)).toHaveLength(2);
  });

  it("begins again with a run that succeeds, and counts cancelled and active runs neither way", async () => {
    const id = await create();
    await runThat(id, "fails");
    await runThat(id, "succeeds");
    expect(await readSchedule(plane, id)).not.toHaveProperty("failing_since");
    await runThat(id, "fails");
    await runThat(id, "is cancelled");
    await fireAt(plane, id, "2026-05-18T19:09:00Z");
    expect(await readSchedule(plane, id)).toMatchObject({ enabled: true, failing_since: "2026-05-18T19:03:05.000Z" });
    minute = 10;
    await runThat(id, "fails");
    expect(await readSchedule(plane, id)).toMatchObject({ enabled: false });
  });

  it("begins again when it is resumed, by a request or by an update", async () => {
    const id = await create({ pause_after_failures: 1 });
    await runThat(id, "fails");
    const { body: resumed } = await user.post(`/agent/schedules/${id}/resume`);
    expect(resumed).toMatchObject({ enabled: true, failing_since: expect.any(String) });
    const [failed] = await listRuns(plane, id);
    await consume(plane, "ends", failed.run_id);
    expect(await readSchedule(plane, id)).toMatchObject({ enabled: true });
    await runThat(id, "fails");
    expect(await readSchedule(plane, id)).toMatchObject({ enabled: false });
    const same = { name: "Nightly", cron_schedule: "* * * * *", prompt: "hello", enabled: true };
    expect((await user.put(`/agent/schedules/${id}`, same)).body).toMatchObject({
      enabled: true,
      pause_after_failures: 1,
    });
    await consume(plane, "ends", failed.run_id);
    expect(await readSchedule(plane, id)).toMatchObject({ enabled: true });
    const { body } = await user.put(`/agent/schedules/${id}`, { ...same, pause_after_failures: 0 });
    expect(body).not.toHaveProperty("pause_after_failures");
    await runThat(id, "fails");
    expect(await readSchedule(plane, id)).toMatchObject({ enabled: true });
  });

  it.each([11, -1, 1.5, "3"])("returns 400 for %j", async (pause_after_failures) => {
    const body = { name: "n", cron_schedule: "@daily", prompt: "hello", pause_after_failures };
    const { status, body: problem } = await user.post("/agent/schedules", body);
    expect([status, problem.errors[0].path]).toEqual([400, "pause_after_failures"]);
  });
});

describe("pause_after_failures of a trigger", () => {
  const create = (body: object = {}) => createHooks(plane).createPlain({ pause_after_failures: 2, ...body });
  let build = 0;
  const runThat = async (uid: string, how: Parameters<typeof end>[1]): Promise<string> => {
    build += 1;
    await createHooks(plane).sendPlain(uid, { build });
    const [{ run_id }] = await createHooks(plane).deliveries(uid);
    await end(run_id, how);
    return run_id;
  };
  const read = async (uid: string) => (await user.get(`/agent/triggers/${uid}`)).body;

  it("pauses it once that many runs have failed in a row, with the reason, and tells its webhooks once", async () => {
    await receive();
    const uid = await create();
    const first = await runThat(uid, "fails");
    expect(await read(uid)).toMatchObject({ enabled: true, failing_since: "2026-05-18T19:00:01.000Z" });
    const last = await runThat(uid, "fails");
    const reason = "its last 2 runs failed in a row";
    expect(await read(uid)).toMatchObject({
      enabled: false,
      pause_reason: reason,
      failing_since: "2026-05-18T19:00:01.000Z",
      recent_runs: [
        { run_id: last, state: "FAILED" },
        { run_id: first, state: "FAILED" },
      ],
    });
    await consume(plane, "ends", last);
    expect(await failures()).toMatchObject([
      { type: "trigger_failed", data: { trigger_uid: uid, title: "events", event: { run_id: last, reason } } },
    ]);
    await createHooks(plane).sendPlain(uid, { build: "another" });
    expect((await createHooks(plane).deliveries(uid))[0]).toMatchObject({ outcome: "ignored", reason: "paused" });
  });

  it("begins again with a run that succeeds, and when it is resumed", async () => {
    const uid = await create();
    await runThat(uid, "fails");
    await runThat(uid, "succeeds");
    expect(await read(uid)).not.toHaveProperty("failing_since");
    await runThat(uid, "fails");
    await runThat(uid, "fails");
    expect(await read(uid)).toMatchObject({ enabled: false });
    expect((await user.post(`/agent/triggers/${uid}/resume`)).body).not.toHaveProperty("pause_reason");
    await runThat(uid, "fails");
    expect(await read(uid)).toMatchObject({ enabled: true, failing_since: expect.any(String) });
    await runThat(uid, "fails");
    const { body } = await user.put(`/agent/triggers/${uid}`, { enabled: true, pause_after_failures: 0 });
    expect(body).not.toHaveProperty("pause_after_failures");
    expect(body).not.toHaveProperty("pause_reason");
    expect(await read(uid)).toMatchObject({ enabled: true });
  });

  it("keeps the time of the failure although the trigger is changed at the same time", async () => {
    const uid = await create();
    await createHooks(plane).sendPlain(uid, { build: ++build });
    const [{ run_id }] = await createHooks(plane).deliveries(uid);
    const harness = createHarness(plane, await plane.dispatch(run_id));
    await harness.resolve();
    await harness.finish(false);
    const { table, now } = plane.ports;
    let changes = 1;
    const query: typeof table.query = async (...args) => {
      if (changes-- > 0) await user.put(`/agent/triggers/${uid}`, { name: "Builds" });
      return table.query(...args);
    };
    await noteRunOfTrigger(uid, { table: { ...table, query }, now });
    expect(await read(uid)).toMatchObject({ name: "Builds", failing_since: expect.any(String) });
  });

  it("is absent by default: then a trigger shows that it fails, and goes on", async () => {
    const uid = await create({ pause_after_failures: 0 });
    for (let count = 0; count < 3; count++) await runThat(uid, "fails");
    const trigger = await read(uid);
    expect(trigger).toMatchObject({ enabled: true, failing_since: expect.any(String) });
    expect(trigger).not.toHaveProperty("pause_after_failures");
    expect((await user.get("/agent/triggers")).body.triggers).toMatchObject([{ failing_since: trigger.failing_since }]);
  });
});
