import { Cron } from "croner";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RunyardError } from "#shared/errors.ts";
import { parseTimetable, type Timetable } from "#shared/schedules/cron.ts";
import { schedulerCron } from "#shared/schedules/scheduler-cron.ts";
import { offsetMinutes, schedulerTimes } from "../../support/scheduler-model.ts";

const YEARS: readonly [number, number] = [Date.parse("2025-01-01T00:00:00Z"), Date.parse("2029-01-01T00:00:00Z")];
const DAY = 86_400_000;
const HOUR = 3_600_000;
const MINUTE = 60_000;

/** Parts of a field: numbers, ranges, steps, and sometimes invalid ones. */
function field(least: number, most: number, names: readonly string[] = []): fc.Arbitrary<string> {
  const value = fc.integer({ min: least, max: most });
  const named = names.length === 0 ? value.map(String) : fc.oneof(value.map(String), fc.constantFrom(...names));
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`);
  const step = fc.integer({ min: 1, max: most + 1 });
  const part = fc.oneof(
    { weight: 4, arbitrary: named },
    { weight: 3, arbitrary: range },
    { weight: 2, arbitrary: fc.tuple(range, step).map(([text, by]) => `${text}/${by}`) },
    { weight: 2, arbitrary: step.map((by) => `*/${by}`) },
    { weight: 1, arbitrary: fc.constantFrom("*", "?", "L", "60", "MON-SUN", "FRI-MON", "1#2", "15W", "", "5/5") },
  );
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant("*") },
    { weight: 4, arbitrary: part },
    { weight: 1, arbitrary: fc.array(part, { minLength: 2, maxLength: 4 }).map((parts) => parts.join(",")) },
  );
}

const MONTHS = ["JAN", "feb", "Mar", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS = ["SUN", "mon", "Tue", "WED", "THU", "FRI", "SAT"];
const crons = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12, MONTHS), field(0, 7, DAYS))
      .map((fields) => fields.join(" ")),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"),
  },
);
const zones = fc.oneof(
  fc.constantFrom(...Intl.supportedValuesOf("timeZone")),
  // Zones with unusual clock changes: by half an hour, at midnight, twice in a month, by a whole day.
  fc.constantFrom(
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Africa/Casablanca",
  ),
);

/** The timetable, or undefined if the cron is rejected with the field's name. */
function timetable(cron: string, zone: string): Timetable | undefined {
  try {
    return parseTimetable(cron, zone);
  } catch (error) {
    expect(error).toBeInstanceOf(RunyardError);
    if (error instanceof RunyardError) expect(error.errors?.[0]?.path).toBe("cron_schedule");
    return undefined;
  }
}

/** The parts of the four years to check: all for a rare cron, otherwise hours around clock changes and some days. */
function stretches(zone: string, cron: string, times: Pick<Timetable, "next">): [number, number][] {
  const [begin, end] = YEARS;
  if (walk(times, begin, begin + 400 * DAY, 300).length < 300) return [[begin, end]];
  const chosen: [number, number][] = [];
  for (let day = begin; day < end; day += DAY) {
    const offset = offsetMinutes(day, zone);
    if (offset !== offsetMinutes(day + DAY, zone)) {
      let change = day;
      while (offsetMinutes(change, zone) === offset) change += 15 * MINUTE;
      chosen.push([change - 3 * HOUR, change + 3 * HOUR]);
    }
    if ((day / DAY + cron.length) % 487 === 0) chosen.push([day, day + DAY]);
  }
  return chosen;
}

function walk({ next }: Pick<Timetable, "next">, from: number, to: number, most = Number.POSITIVE_INFINITY): number[] {
  const times: number[] = [];
  for (let at = next(from - 1_000); at !== undefined && at < to && times.length < most; at = next(at)) times.push(at);
  return times;
}

/** Samples a long list evenly, so that about `most` items are left. */
const sample = <T>(list: readonly T[], most: number): T[] =>
  list.filter((_, index) => index % Math.ceil(list.length / most) === 0);

describe("a random cron in a random zone over four years", () => {
  // @contract schedules.cron.superset: An expression that the underlying scheduler cannot express still fires at cron's times, and at no others.
  it("fires at croner's times, by its timer or, at clock changes, by the reconciler; or is rejected", async () => {
    let accepted = 0;
    await fc.assert(
      fc.property(crons, zones, (cron, zone) => {
        const ours = timetable(cron, zone);
        if (ours === undefined) return;
        accepted++;
        const expression = schedulerCron(cron);
        expect(expression.length).toBeLessThanOrEqual(256);
        const oracle = new Cron(cron, { timezone: zone });
        const next = (after: number) => oracle.nextRun(new Date(after))?.getTime();
        for (const [from, to] of stretches(zone, cron, { next })) {
          const wanted = new Set(walk({ next }, from, to));
          const byTimer = new Set(schedulerTimes(expression, zone, from, to));
          const tooMany = [...byTimer].filter((at) => !wanted.has(at));
          expect(sample(tooMany, 50).filter(ours.isFiring)).toEqual([]);
          expect(sample([...wanted], 50).filter((at) => !ours.isFiring(at))).toEqual([]);
          // The reconciler walks the timetable, and finds the times that a clock change moves.
          for (const at of [...wanted].filter((one) => !byTimer.has(one))) {
            const [before, after] = [offsetMinutes(at - 3 * HOUR, zone), offsetMinutes(at + MINUTE, zone)];
            expect(before, `${cron} in ${zone} at ${new Date(at).toISOString()}`).not.toBe(after);
          }
        }
      }),
      { numRuns: 150 },
    );
    // Most crons are accepted, or this test would show little.
    expect(accepted).toBeGreaterThan(60);
  }, 120_000);
});

describe("schedulerCron", () => {
  // @contract schedules.cron.steps: It accepts names, ranges, lists and steps.
  // @contract schedules.cron.macros: It accepts @daily and similar macros.
  // @contract schedules.cron.days
  it.each([
    ["30 2 * * *", "cron(30 2 * * ? *)"],
    ["*/15 * * * *", "cron(0,15,30,45 * * * ? *)"],
    ["0 9 * * MON-FRI", "cron(0 9 ? * 2-6 *)"],
    ["0 9 * * 0", "cron(0 9 ? * 1 *)"],
    ["0 9 * * 7", "cron(0 9 ? * 1 *)"],
    ["0 9 * * 6,7", "cron(0 9 ? * 1,7 *)"],
    ["0 9 * * 0-7", "cron(0 9 * * ? *)"],
    ["0 0 1,15 * *", "cron(0 0 1,15 * ? *)"],
    ["0 0 1-31 * *", "cron(0 0 * * ? *)"],
    ["0 0 13 * FRI", "cron(0 0 * * ? *)"],
    ["0 0 29 FEB *", "cron(0 0 29 2 ? *)"],
    ["@daily", "cron(0 0 * * ? *)"],
    ["@Weekly", "cron(0 0 ? * 1 *)"],
    ["@yearly", "cron(0 0 1 1 ? *)"],
  ])("writes %s as %s", (cron, expression) => {
    expect(schedulerCron(cron)).toBe(expression);
  });

  it("never writes more than the scheduler accepts", () => {
    const some = (from: number, to: number, leftOut: (value: number) => boolean) =>
      Array.from({ length: to - from + 1 }, (_, index) => from + index)
        .filter((value) => !leftOut(value))
        .join(",");
    const third = (value: number) => value % 3 === 2;
    const longest = [some(0, 59, third), some(0, 23, third), some(1, 31, third), some(1, 12, third), "*"].join(" ");
    expect(schedulerCron(longest).length).toBeLessThanOrEqual(256);
  });
});

describe("standard cron", () => {
  const times = (cron: string, from: string, count: number, zone = "UTC") => {
    const found = walk(parseTimetable(cron, zone), Date.parse(from), Number.POSITIVE_INFINITY, count);
    return found.map((at) => new Date(at).toISOString().slice(0, 16));
  };

  it.each([
    ["60 * * * *", "minute"],
    ["* * 32 * *", "day"],
    ["* * * 0 *", "month"],
    ["* * * * 8", "dayOfWeek"],
  ])("names the field of %j that is out of range, without a value that was not sent", (cron, name) => {
    expect(() => parseTimetable(cron, "UTC")).toThrow(
      `cron_schedule: is not a cron expression, such as 0 9 * * 1-5 (${name} is out of range)`,
    );
  });

  // @contract schedules.cron.sunday: Sunday is 0 or 7.
  // @contract schedules.cron.days: A cron with both a day of the month and a day of the week fires on either.
  it("accepts Sunday as 0 and as 7, and fires if either restricted day field matches", () => {
    expect(times("0 0 * * 0", "2026-05-18T00:00:00Z", 2)).toEqual(["2026-05-24T00:00", "2026-05-31T00:00"]);
    expect(times("0 0 * * 7", "2026-05-18T00:00:00Z", 2)).toEqual(["2026-05-24T00:00", "2026-05-31T00:00"]);
    expect(times("0 0 13 * 5", "2026-06-10T00:00:00Z", 3)).toEqual([
      "2026-06-12T00:00",
      "2026-06-13T00:00",
      "2026-06-19T00:00",
    ]);
  });

  it("runs a skipped hour's job once, right after the gap, and a repeated hour's once or twice", () => {
    expect(times("30 2 * * *", "2026-03-29T00:00:00Z", 2, "Europe/Berlin")).toEqual([
      "2026-03-29T01:00",
      "2026-03-30T00:30",
    ]);
    expect(times("30 2 * * *", "2026-10-24T22:00:00Z", 2, "Europe/Berlin")).toEqual([
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]);
    expect(times("30 * * * *", "2026-10-25T00:00:00Z", 3, "Europe/Berlin")).toEqual([
      "2026-10-25T00:30",
      "2026-10-25T01:30",
      "2026-10-25T02:30",
    ]);
  });

  it("finds a leap day years ahead, and nothing for an impossible day", () => {
    expect(times("0 0 29 2 *", "2026-01-01T00:00:00Z", 2)).toEqual(["2028-02-29T00:00", "2032-02-29T00:00"]);
    expect(parseTimetable("0 0 31 4,6,9,11 *", "UTC").next(0)).toBeUndefined();
  });
});
