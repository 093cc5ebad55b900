import { beforeEach, describe, expect, it } from "vitest";
import { reconcileSchedules } from "#functions/executions/reconcile-schedules.ts";
import { createSchedule } from "#functions/schedules/create-schedule.ts";
import { deleteSchedule } from "#functions/schedules/delete-schedule.ts";
import { pauseSchedule } from "#functions/schedules/pause-schedule.ts";
import { resumeSchedule } from "#functions/schedules/resume-schedule.ts";
import { updateSchedule } from "#functions/schedules/update-schedule.ts";
import { setLogOutput } from "#shared/log/log.ts";
import { toUnsynced } from "#shared/schedules/schedule-store.ts";
import { keys } from "#shared/table/keys.ts";
import { type Scheduler, TimerRefused, TimersExhausted } from "#shared/timers/scheduler.ts";
import { createClient } from "../../support/client.ts";
import {
  createTestControlPlane,
  httpEvent,
  type TestControlPlane,
  type TestPorts,
} from "../../support/control-plane.ts";
import {
  fireAt,
  listRuns,
  listTicks,
  makeSchedule,
  nightly,
  readSchedule,
  reconcile,
} from "../../support/schedules.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});
const call = () => createClient(plane);

/** Simulates the end of the process: nothing after this point happens. */
class Crash extends Error {}

type Point = "before the timer" | "after the timer" | "after the note";
const POINTS: readonly Point[] = ["before the timer", "after the timer", "after the note"];

/** Ports whose process dies at a point of the next change of a timer. */
function crashing(point: Point): TestPorts {
  const { scheduler, schedules } = plane.ports;
  const dying = (act: () => Promise<void>) => async () => {
    if (point !== "before the timer") await act();
    if (point !== "after the note") throw new Crash();
  };
  return {
    ...plane.ports,
    scheduler: {
      put: (timer) => dying(() => scheduler.put(timer))(),
      remove: (id) => dying(() => scheduler.remove(id))(),
    },
    schedules: {
      ...schedules,
      noteSynced: async (schedule) => {
        await schedules.noteSynced(schedule);
        throw new Crash();
      },
    },
  };
}

interface Change {
  readonly path?: string;
  readonly body?: unknown;
  readonly endpoint: { handle(event: ReturnType<typeof httpEvent>, ports: TestPorts): Promise<unknown> };
}
const change = async ({ path, body, endpoint }: Change, ports: TestPorts): Promise<void> => {
  const options = {
    key: plane.key,
    ...(body === undefined ? {} : { body }),
    ...(path === undefined ? {} : { path: { scheduleId: path } }),
  };
  await endpoint.handle(httpEvent({ method: "POST", ...options }), ports);
};
const later = (seconds: number): void => {
  plane.clock.now += seconds * 1000;
};

describe.each(POINTS)("a process that dies %s", (point) => {
  it("leaves a creation that the reconciler completes", async () => {
    await change({ endpoint: createSchedule, body: nightly }, crashing(point));
    const { body } = await call().get("/agent/schedules");
    expect(body.schedules).toMatchObject([{ ...nightly, enabled: true }]);
    later(91);
    await reconcile(plane);
    expect([...plane.timers.keys()]).toEqual([body.schedules[0].id]);
    await expectSettled(body.schedules[0].id);
  });

  it("leaves an update that the reconciler completes", async () => {
    const { id } = await makeSchedule(plane);
    const body = { ...nightly, enabled: true, cron_schedule: "0 5 * * *" };
    await change({ endpoint: updateSchedule, path: id, body }, crashing(point));
    later(91);
    await reconcile(plane);
    expect(plane.timers.get(id)).toMatchObject({ expression: "cron(0 5 * * ? *)" });
    await expectSettled(id);
  });

  it("leaves a pause that holds, and that the reconciler completes", async () => {
    const { id } = await makeSchedule(plane);
    await change({ endpoint: pauseSchedule, path: id }, crashing(point));
    later(91);
    await reconcile(plane);
    expect(plane.timers.size).toBe(0);
    await expectSettled(id);
    await fireAt(plane, id, "2026-05-19T02:30:00Z");
    expect(await listRuns(plane, id)).toEqual([]);
  });

  it("leaves a resumption that the reconciler completes", async () => {
    const { id } = await makeSchedule(plane, { enabled: false });
    await change({ endpoint: resumeSchedule, path: id }, crashing(point));
    later(91);
    await reconcile(plane);
    expect(plane.timers.size).toBe(1);
    await expectSettled(id);
  });

  it("leaves a deletion that holds, and that the reconciler completes", async () => {
    const { id } = await makeSchedule(plane);
    const lines: { message: string; schedule_id?: string }[] = [];
    setLogOutput((line) => void lines.push(JSON.parse(line)));
    await change({ endpoint: deleteSchedule, path: id }, crashing(point)).finally(() =>
      setLogOutput((line) => void process.stdout.write(line)),
    );
    expect(lines).toContainEqual(expect.objectContaining({ message: "a timer was not removed", schedule_id: id }));
    if (point !== "after the note") {
      expect(await plane.ports.schedules.get(id)).toMatchObject({ plan: 2, timing: { state: "deleted" } });
    }
    expect((await call().get(`/agent/schedules/${id}`)).status).toBe(404);
    expect((await call().delete(`/agent/schedules/${id}`)).status).toBe(404);
    later(91);
    await reconcile(plane);
    expect(plane.timers.size).toBe(0);
    expect(await plane.ports.schedules.get(id)).toBeUndefined();
    expect(plane.table.all().filter(({ pk, sk }) => pk.startsWith("SCHEDULE#") || sk.startsWith("SCHEDULE#"))).toEqual(
      [],
    );
  });
});

/** Expects that nothing is left to do, and that the next check is at the next firing. */
async function expectSettled(id: string): Promise<void> {
  const schedule = await plane.ports.schedules.get(id);
  expect(schedule?.pending_since).toBeNull();
  expect(await plane.ports.schedules.due(plane.clock.now, 10)).toEqual([]);
}

describe("two concurrent changes", () => {
  it("leave the timer of the later one, regardless of which reaches the scheduler last", async () => {
    const { id } = await makeSchedule(plane);
    const { scheduler } = plane.ports;
    // The pause is still in flight to the scheduler when the schedule is resumed.
    const slow: Scheduler = {
      put: scheduler.put,
      async remove(name) {
        await call().post(`/agent/schedules/${id}/resume`);
        await scheduler.remove(name);
      },
    };
    await change({ endpoint: pauseSchedule, path: id }, { ...plane.ports, scheduler: slow });
    expect(await readSchedule(plane, id)).toMatchObject({ enabled: true });
    expect(plane.timers.size).toBe(1);
    await expectSettled(id);
  });

  it("both apply if they concern different members", async () => {
    const { id } = await makeSchedule(plane);
    await Promise.all([
      call().post(`/agent/schedules/${id}/pause`),
      call().post(`/agent/schedules/${id}/run`),
      call().post(`/agent/schedules/${id}/run`),
    ]);
    const schedule = await readSchedule(plane, id);
    expect(schedule).toMatchObject({ enabled: false });
    expect(schedule.recent_runs).toHaveLength(2);
  });
});

describe("a scheduler of an account with as many timers as it may have", () => {
  const full = (): TestPorts => ({
    ...plane.ports,
    scheduler: {
      ...plane.ports.scheduler,
      put: async () => {
        throw new TimersExhausted("quota exceeded");
      },
    },
  });
  const refusal = /^EventBridge Scheduler has no room.*ask AWS to raise the quota/;
  const read = ({ statusCode, headers, body }: { statusCode: number; headers: object; body: string }) => ({
    statusCode,
    ...headers,
    ...JSON.parse(body),
  });

  it("makes the creation return 503 with the remedy, and leaves nothing behind", async () => {
    const before = plane.table.all().filter(({ pk }) => !pk.startsWith("KEY#"));
    const response = await createSchedule.handle(httpEvent({ key: plane.key, body: nightly }), full());
    expect(read(response)).toMatchObject({
      statusCode: 503,
      "retry-after": "60",
      retryable: false,
      detail: expect.stringMatching(refusal),
    });
    expect(plane.table.all().filter(({ pk }) => !pk.startsWith("KEY#"))).toEqual(before);
  });

  it("makes the update that enables a schedule return 503, and leaves it as it was", async () => {
    const { id } = await makeSchedule(plane, { enabled: false });
    const before = await readSchedule(plane, id);
    const event = httpEvent({
      method: "PUT",
      key: plane.key,
      path: { scheduleId: id },
      body: { ...nightly, enabled: true },
    });
    expect((await updateSchedule.handle(event, full())).statusCode).toBe(503);
    expect(await readSchedule(plane, id)).toEqual(before);
  });

  it("leaves the firings to the reconciler, which goes on trying", async () => {
    const { id } = await makeSchedule(plane);
    plane.clock.now = Date.parse("2026-05-19T02:31:30Z");
    await reconcile(plane, full());
    expect(await listTicks(plane, id)).toMatchObject([{ outcome: "late" }]);
  });
});

describe("a scheduler that refuses a timer", () => {
  const refusing = (): TestPorts => ({
    ...plane.ports,
    scheduler: {
      ...plane.ports.scheduler,
      put: async () => {
        throw new TimerRefused("Invalid Schedule Expression");
      },
    },
  });

  // @contract schedules.cron.refused
  it("makes the creation return 400 and leaves nothing behind", async () => {
    const before = plane.table.all().filter(({ pk }) => !pk.startsWith("KEY#"));
    const response = await createSchedule.handle(httpEvent({ key: plane.key, body: nightly }), refusing());
    expect(response.statusCode).toBe(400);
    expect(response.body).toContain("cron_schedule");
    expect(plane.table.all().filter(({ pk }) => !pk.startsWith("KEY#"))).toEqual(before);
  });

  it("makes the update return 400 and changes nothing", async () => {
    const { id } = await makeSchedule(plane);
    const before = await readSchedule(plane, id);
    const put = plane.ports.scheduler.put;
    let refused = false;
    const once: Scheduler = {
      ...plane.ports.scheduler,
      put: async (timer) => {
        if (refused) return put(timer);
        refused = true;
        throw new TimerRefused("Invalid Schedule Expression");
      },
    };
    const body = { ...nightly, enabled: true, cron_schedule: "0 5 * * *", name: "Other" };
    const event = httpEvent({ method: "PUT", key: plane.key, path: { scheduleId: id }, body });
    expect((await updateSchedule.handle(event, { ...plane.ports, scheduler: once })).statusCode).toBe(400);
    expect(await readSchedule(plane, id)).toEqual(before);
    expect(plane.timers.get(id)).toMatchObject({ expression: "cron(30 2 * * ? *)" });
  });

  it("leaves the firings to the reconciler", async () => {
    const { id } = await makeSchedule(plane);
    plane.clock.now = Date.parse("2026-05-19T02:31:30Z");
    await reconcile(plane, refusing());
    expect(await listTicks(plane, id)).toMatchObject([{ outcome: "late" }]);
  });

  it("gets one request from the reconciler, not one in every pass", async () => {
    const put = () => Promise.reject(new Error("the scheduler does not respond"));
    const silent = { ...plane.ports, scheduler: { ...plane.ports.scheduler, put } };
    const created = await createSchedule.handle(httpEvent({ key: plane.key, body: nightly }), silent);
    expect(created.statusCode).toBe(201);
    plane.clock.now += 90_000;
    expect(await reconcile(plane, refusing())).toEqual({ looked: 1, failed: 0 });
    plane.clock.now += 90_000;
    expect(await reconcile(plane, refusing())).toEqual({ looked: 0, failed: 0 });
  });
});

describe("toUnsynced", () => {
  it("makes the reconciler set the timer of a schedule again, and leaves every other item unchanged", async () => {
    const { id } = await makeSchedule(plane);
    await fireAt(plane, id, "2026-05-19T02:30:00Z");
    await makeSchedule(plane, { enabled: false });
    const items = plane.table.all();
    const changed = items.map((item) => toUnsynced(item, plane.clock.now));
    const schedules = items.filter(({ pk, sk }) => pk.startsWith("SCHEDULE#") && !sk.startsWith("TICK#"));
    expect(schedules).toHaveLength(2);
    expect(changed.filter((item, index) => item !== items[index]).map(({ pk }) => pk)).toEqual(
      schedules.map(({ pk }) => pk),
    );
    for (const item of changed) await plane.table.write({ kind: "put", item });
    plane.timers.clear();
    expect(await reconcile(plane)).toEqual({ looked: 2, failed: 0 });
    expect([...plane.timers.keys()]).toEqual([id]);
    await expectSettled(id);
  });
});

describe("the reconciler", () => {
  it("fires 90 seconds late if no timer reported a firing, and sets the timer", async () => {
    const { id } = await makeSchedule(plane);
    plane.timers.clear();
    plane.clock.now = Date.parse("2026-05-19T02:31:29Z");
    expect(await reconcile(plane)).toEqual({ looked: 0, failed: 0 });
    later(1);
    expect(await reconcile(plane)).toEqual({ looked: 1, failed: 0 });
    expect(await listTicks(plane, id)).toMatchObject([{ scheduled_at: "2026-05-19T02:30:00.000Z", outcome: "late" }]);
    expect(await listRuns(plane, id)).toHaveLength(1);
    expect(plane.timers.size).toBe(1);
    expect(await reconcile(plane)).toEqual({ looked: 0, failed: 0 });
  });

  it("fails a late firing while the queue is full, and continues with the next", async () => {
    const { id } = await makeSchedule(plane);
    const counters = keys.counters({ type: "Team", uid: plane.team });
    await plane.table.write({ kind: "update", key: counters, set: { queued: 1_000 } });
    plane.clock.now = Date.parse("2026-05-19T02:31:30Z");
    await reconcile(plane);
    const reason = expect.stringContaining("the queue is full");
    expect(await listTicks(plane, id)).toMatchObject([{ outcome: "failed", reason }]);
    expect(await listRuns(plane, id)).toEqual([]);
    expect(await readSchedule(plane, id)).toMatchObject({ history: { next_run: "2026-05-20T02:30:00.000Z" } });
  });

  it("reads no schedules that are on time", async () => {
    const { id } = await makeSchedule(plane, { cron_schedule: "* * * * *" });
    for (let minute = 1; minute < 10; minute++) {
      await fireAt(plane, id, `2026-05-18T19:0${minute}:00Z`);
      expect(await reconcile(plane)).toEqual({ looked: 0, failed: 0 });
    }
  });

  it("only corrects the next check time of a schedule that it checks too early", async () => {
    const { id } = await makeSchedule(plane);
    plane.clock.now = Date.parse("2026-05-19T02:29:00Z");
    await plane.ports.schedules.checkAgain(id, plane.clock.now - 120_000);
    const set: unknown[] = [];
    const scheduler: Scheduler = { ...plane.ports.scheduler, put: async (timer) => void set.push(timer) };
    expect(await reconcile(plane, { ...plane.ports, scheduler })).toEqual({ looked: 1, failed: 0 });
    expect(set).toEqual([]);
    const next = Date.parse("2026-05-19T02:30:00Z");
    expect(await plane.ports.schedules.due(next - 1, 10)).toEqual([]);
    expect(await plane.ports.schedules.due(next, 10)).toEqual([id]);
    expect(await listTicks(plane, id)).toEqual([]);
  });

  it("finds a missing firing between two others, and gives each one outcome", async () => {
    const { id } = await makeSchedule(plane, { cron_schedule: "* * * * *" });
    for (const minute of ["01", "03", "04"]) await fireAt(plane, id, `2026-05-18T19:${minute}:00Z`);
    await reconcile(plane);
    expect(await listTicks(plane, id)).toMatchObject([
      { scheduled_at: "2026-05-18T19:04:00.000Z", outcome: "fired" },
      { scheduled_at: "2026-05-18T19:03:00.000Z", outcome: "fired" },
      { scheduled_at: "2026-05-18T19:02:00.000Z", outcome: "late" },
      { scheduled_at: "2026-05-18T19:01:00.000Z", outcome: "fired" },
    ]);
    expect(await readSchedule(plane, id)).toMatchObject({ history: { next_run: "2026-05-18T19:05:00.000Z" } });
    await fireAt(plane, id, "2026-05-18T19:05:00Z");
    expect(await readSchedule(plane, id)).toMatchObject({ history: { next_run: "2026-05-18T19:06:00.000Z" } });
    expect(await listRuns(plane, id)).toHaveLength(5);
  });

  it("fires the latest firings of the last hours after an outage, and records the others as skipped", async () => {
    const { id } = await makeSchedule(plane, { cron_schedule: "*/10 * * * *" });
    plane.clock.now = Date.parse("2026-05-20T19:05:00Z");
    await reconcile(plane);
    const ticks = (await call().get(`/agent/schedules/${id}/ticks`)).body.ticks;
    const outcomes = ticks.map(({ outcome }: { outcome: string }) => outcome);
    // Two days with six firings an hour. The last two, 18:50 and 19:00, are recent enough to fire late.
    expect(outcomes).toEqual(["late", "late", ...Array.from({ length: 286 }, () => "skipped")]);
    expect(new Set(ticks.map(({ scheduled_at }: { scheduled_at: string }) => scheduled_at)).size).toBe(288);
    expect(await readSchedule(plane, id)).toMatchObject({ history: { next_run: "2026-05-20T19:10:00.000Z" } });
  });

  it("fires the latest firing of a rare schedule, however late", async () => {
    const { id } = await makeSchedule(plane);
    plane.clock.now = Date.parse("2026-05-19T20:00:00Z");
    await reconcile(plane);
    expect(await listTicks(plane, id)).toMatchObject([{ outcome: "late" }]);
  });

  // @contract schedules.cron.superset
  it("fires in skipped and repeated hours of clock changes, as cron does", async () => {
    plane.clock.now = Date.parse("2026-03-28T12:00:00Z");
    const berlin = { time_zone: "Europe/Berlin" };
    const { id: gap } = await makeSchedule(plane, { ...berlin, cron_schedule: "30 2 * * *" });
    plane.clock.now = Date.parse("2026-03-29T01:01:30Z");
    await reconcile(plane);
    expect(await listTicks(plane, gap)).toMatchObject([{ scheduled_at: "2026-03-29T01:00:00.000Z", outcome: "late" }]);
    plane.clock.now = Date.parse("2026-10-24T23:30:00Z");
    const { id: fold } = await makeSchedule(plane, { ...berlin, cron_schedule: "*/30 * * * *" });
    // 02:30 occurs twice, and a timer fires at the first.
    await fireAt(plane, fold, "2026-10-25T00:00:00Z");
    await fireAt(plane, fold, "2026-10-25T00:30:00Z");
    for (const time of ["01:01:30", "01:31:30"]) {
      plane.clock.now = Date.parse(`2026-10-25T${time}Z`);
      await reconcile(plane);
    }
    await fireAt(plane, fold, "2026-10-25T02:00:00Z");
    const outcomes = (await listTicks(plane, fold)).map(({ scheduled_at, outcome }) => [
      scheduled_at.slice(11, 16),
      outcome,
    ]);
    expect(outcomes).toEqual([
      ["02:00", "fired"],
      ["01:30", "late"],
      ["01:00", "late"],
      ["00:30", "fired"],
      ["00:00", "fired"],
    ]);
  });

  it("continues with the others if one cannot be read, and retries it", async () => {
    const { id: broken } = await makeSchedule(plane);
    const { id } = await makeSchedule(plane);
    const [item] = plane.table.all().filter(({ pk }) => pk === `SCHEDULE#${broken}`);
    if (item === undefined) throw new Error("the schedule is not stored");
    await plane.table.write({ kind: "put", item: { ...item, overlap: "queue" } });
    plane.clock.now = Date.parse("2026-05-19T02:31:30Z");
    expect(await reconcile(plane)).toEqual({ looked: 2, failed: 1 });
    expect(await listRuns(plane, id)).toHaveLength(1);
    later(60);
    expect(await reconcile(plane)).toEqual({ looked: 0, failed: 0 });
    await plane.table.write({ kind: "put", item });
    later(30);
    expect(await reconcile(plane)).toEqual({ looked: 1, failed: 0 });
    expect(await listRuns(plane, broken)).toHaveLength(1);
  });

  it("runs only by the rule of every minute, and logs an error if a schedule failed", async () => {
    const { id: broken } = await makeSchedule(plane);
    const lines: { message: string; level: string; looked: number; failed: number }[] = [];
    const minute = { source: "aws.events", "detail-type": "Scheduled Event" } as const;
    const run = () => reconcileSchedules.handle(minute, plane.ports);
    setLogOutput((line) => void lines.push(JSON.parse(line)));
    try {
      await run();
      const [item] = plane.table.all().filter(({ pk }) => pk === `SCHEDULE#${broken}`);
      if (item === undefined) throw new Error("the schedule is not stored");
      await plane.table.write({ kind: "put", item: { ...item, overlap: "queue" } });
      plane.clock.now = Date.parse("2026-05-19T02:31:30Z");
      await run();
      await expect(reconcileSchedules.handle(JSON.parse("{}"), plane.ports)).rejects.toThrow();
    } finally {
      setLogOutput((line) => void process.stdout.write(line));
    }
    const reconciled = lines.filter(({ message }) => message === "schedules reconciled");
    expect(reconciled.map(({ level, looked, failed }) => [level, looked, failed])).toEqual([
      ["info", 0, 0],
      ["error", 1, 1],
    ]);
  });

  it("reads no schedule that is not due, however many there are", async () => {
    for (let count = 0; count < 50; count++) await makeSchedule(plane);
    const { id } = await makeSchedule(plane, { cron_schedule: "1 19 * * *" });
    later(150);
    let reads = 0;
    const { schedules } = plane.ports;
    const get: typeof schedules.get = (one) => {
      reads++;
      return schedules.get(one);
    };
    expect(await reconcile(plane, { ...plane.ports, schedules: { ...schedules, get } })).toEqual({
      looked: 1,
      failed: 0,
    });
    expect(reads).toBeLessThanOrEqual(4);
    expect(await listRuns(plane, id)).toHaveLength(1);
  });
});
