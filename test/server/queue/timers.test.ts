import { AsyncLocalStorage } from "node:async_hooks";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { QUEUES } from "#server/queue/queue-names.ts";
import { Queues } from "#server/queue/queues.ts";
import { makeTickSender } from "#server/timers/tick-sender.ts";
import { parseTimerCron } from "#server/timers/timer-cron.ts";
import { Timers } from "#server/timers/timers.ts";
import { parseTimetable } from "#shared/schedules/cron.ts";
import { schedulerCron } from "#shared/schedules/scheduler-cron.ts";
import { TickMessage } from "#shared/schedules/tick.ts";
import { TimerRefused } from "#shared/timers/scheduler.ts";
import { useDataDirectory } from "../support/data-directory.ts";
import { eventually } from "../support/eventually.ts";

const written = vi.spyOn(process.stdout, "write").mockReturnValue(true);

const data = useDataDirectory();
const MINUTE = 60_000;
const at = (time: string) => Date.parse(time);

describe("timers", () => {
  const everyMinute = { id: "minutely", expression: "cron(* * * * ? *)", timeZone: "UTC" };
  const hourly = { id: "hourly", expression: "cron(0 * * * ? *)", timeZone: "UTC" };
  let sent: string[];
  const running: Timers[] = [];
  const note = async (id: string, time: number) =>
    void sent.push(`${id} ${new Date(time).toISOString().slice(11, 19)}`);
  function make(database = data.open(), send: (id: string, time: number) => Promise<void> = note): Timers {
    const timers = new Timers({ database, now: Date.now, send });
    running.push(timers);
    return timers;
  }

  beforeEach(() => {
    sent = [];
    vi.useFakeTimers({ now: at("2026-05-18T19:00:30.500Z"), toFake: ["setTimeout", "clearTimeout", "Date"] });
  });
  afterEach(() => {
    for (const timers of running.splice(0)) timers.stop();
    vi.useRealTimers();
  });

  it("fire at their times and send the scheduled time", async () => {
    const timers = make();
    await timers.put(everyMinute);
    timers.start();
    await timers.put(hourly);
    vi.advanceTimersByTime(29_499);
    expect(sent).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(sent, "at the very time").toEqual(["minutely 19:01:00"]);
    vi.advanceTimersByTime(2.5 * MINUTE);
    expect(sent).toEqual(["minutely 19:01:00", "minutely 19:02:00", "minutely 19:03:00"]);
    vi.advanceTimersByTime(57 * MINUTE);
    expect(sent.filter((text) => text.startsWith("hourly"))).toEqual(["hourly 20:00:00"]);
    expect(sent.filter((text) => text.startsWith("minutely"))).toHaveLength(60);
  });

  it("do not fire at their old times after a change, a removal or a stop", async () => {
    const timers = make();
    timers.start();
    await timers.put(everyMinute);
    await timers.put({ ...everyMinute, expression: "cron(30 * * * ? *)" });
    await timers.put(hourly);
    await timers.remove(hourly.id);
    await timers.remove("unknown");
    vi.advanceTimersByTime(60 * MINUTE);
    expect(sent).toEqual(["minutely 19:30:00"]);
    timers.stop();
    vi.advanceTimersByTime(120 * MINUTE);
    await timers.put(everyMinute);
    vi.advanceTimersByTime(120 * MINUTE);
    expect(sent).toHaveLength(1);
  });

  it("wait for nothing after the last time of a timer, and let the others fire", async () => {
    const timers = make();
    timers.start();
    await timers.put({ id: "past", expression: "cron(0 0 1 1 ? 2020)", timeZone: "UTC" });
    expect(vi.getTimerCount()).toBe(0);
    await timers.put(everyMinute);
    vi.advanceTimersByTime(2 * MINUTE);
    expect(sent).toEqual(["minutely 19:01:00", "minutely 19:02:00"]);
  });

  it("survive a restart, and do not fire for missed times", async () => {
    const database = data.open();
    const before = make(database);
    before.start();
    await before.put(everyMinute);
    const berlin = { id: "berlin", expression: "cron(10 21 * * ? *)", timeZone: "Europe/Berlin" };
    await before.put({ ...berlin, timeZone: "UTC" });
    await before.put(berlin);
    await before.put({ id: "gone", expression: everyMinute.expression, timeZone: "UTC" });
    await before.remove("gone");
    before.stop();
    vi.advanceTimersByTime(9 * MINUTE);
    make(database).start();
    vi.advanceTimersByTime(MINUTE);
    expect(sent.toSorted()).toEqual(["berlin 19:10:00", "minutely 19:10:00"]);
  });

  it("fire once after the machine was suspended, with the scheduled time", async () => {
    const timers = make();
    await timers.put(everyMinute);
    timers.start();
    vi.setSystemTime(at("2026-05-18T21:30:10Z"));
    vi.advanceTimersByTime(MINUTE);
    vi.advanceTimersByTime(MINUTE);
    expect(sent).toEqual(["minutely 19:01:00", "minutely 21:31:00", "minutely 21:32:00"]);
  });

  it("notice within a minute that the clock was changed", async () => {
    const timers = make();
    await timers.put({ ...hourly, expression: "cron(0 23 * * ? *)" });
    timers.start();
    vi.setSystemTime(at("2026-05-18T23:00:10Z"));
    vi.advanceTimersByTime(MINUTE);
    expect(sent).toEqual(["hourly 23:00:00"]);
  });

  it("send outside the asynchronous context in which they were set", async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const timers = make(data.open(), async () => void seen.push(context.getStore()));
    timers.start();
    await context.run("a request", () => timers.put(everyMinute));
    // The timers of the test run in the context that advances them, those of Node in the one that set them.
    context.run("a request", () => vi.advanceTimersByTime(2 * MINUTE));
    expect(seen).toEqual([undefined, undefined]);
  });

  it("fire although another timer is invalid or a message cannot be sent", async () => {
    const database = data.open();
    const before = make(database);
    await before.put(everyMinute);
    await before.put(hourly);
    await database.write(() =>
      database.statement("UPDATE timers SET time_zone = 'Mars/Base' WHERE id = 'hourly'").run(),
    );
    const after = make(database, async (id, time) => {
      await note(id, time);
      throw new Error("the disk is full");
    });
    after.start();
    vi.advanceTimersByTime(2 * MINUTE);
    expect(sent).toEqual(["minutely 19:01:00", "minutely 19:02:00"]);
    await after.remove(everyMinute.id);
    const log = written.mock.calls.map(([line]) => String(line)).join("");
    expect(log).toMatch(/"a timer cannot be restored".*"hourly"/);
    expect(log).toMatch(/"a timer could not send its message".*"minutely"/);
  });

  it.each([
    ["no cron of EventBridge Scheduler", "0 * * * *", "UTC"],
    ["a rate", "rate(5 minutes)", "UTC"],
    ["two day fields", "cron(0 0 1 * 1 *)", "UTC"],
    ["values out of range", "cron(61 0 1 * ? *)", "UTC"],
    ["an unknown time zone", "cron(0 0 1 * ? *)", "Mars/Base"],
  ])("refuse %s", async (_, expression, timeZone) => {
    const timers = make();
    await expect(timers.put({ id: "bad", expression, timeZone })).rejects.toBeInstanceOf(TimerRefused);
  });
});

describe("a timer", () => {
  const zones = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Africa/Casablanca",
  ];
  const crons = ["30 2 * * *", "*/20 1-3 * * *", "0 0 * * *", "15 2 1,15 * 0", "59 23 28-31 * 6,0", "0 3 29 3 *"];
  it.each(crons.flatMap((cron) => zones.map((zone) => [cron, zone] as const)))(
    "fires at every planned firing of its schedule, also when the clocks change: %s in %s",
    (cron, zone) => {
      const timer = parseTimerCron(schedulerCron(cron), zone);
      const timetable = parseTimetable(cron, zone);
      let time: number | undefined = at("2026-01-01T00:00:00Z");
      let count = 0;
      for (time = timetable.next(time); time !== undefined && time < at("2027-01-01T00:00:00Z"); count++) {
        expect(timer.next(time - 1_000)).toBe(time);
        time = timetable.next(time);
      }
      expect(count).toBeGreaterThan(0);
    },
  );

  it("follows daylight saving time", () => {
    const { next } = parseTimerCron("cron(30 2 * * ? *)", "Europe/Berlin");
    expect(next(at("2026-07-01T00:00:00Z"))).toBe(at("2026-07-01T00:30:00Z"));
    expect(next(at("2026-01-10T00:00:00Z"))).toBe(at("2026-01-10T01:30:00Z"));
  });

  it("sends messages that the consumer of ticks accepts", async () => {
    const queues = new Queues(data.open(), Date.now);
    const bodies: string[] = [];
    queues.consume({
      queue: QUEUES.ticks,
      concurrency: 1,
      async handle({ Records }) {
        bodies.push(...Records.map(({ body }) => body));
        return { batchItemFailures: [] };
      },
    });
    queues.start();
    await makeTickSender(queues)("0199a3c4-7d20-7c3b-8a11-5e0f9b2c6d48", at("2026-05-18T19:00:00Z"));
    await eventually(() => expect(bodies).toHaveLength(1));
    await queues.stop();
    expect(bodies[0]).toBe(
      '{"v":1,"schedule_id":"0199a3c4-7d20-7c3b-8a11-5e0f9b2c6d48","scheduled_time":"2026-05-18T19:00:00Z"}',
    );
    expect(v.parse(TickMessage, JSON.parse(bodies[0] ?? ""))).toMatchObject({ v: 1 });
  });
});
