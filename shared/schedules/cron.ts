import { Cron, CronPattern } from "croner";
import { invalid } from "#shared/errors.ts";

/** When a schedule fires. Times are milliseconds, always whole minutes. */
export interface Timetable {
  /** The first firing after a time. Undefined if there are no more. */
  next(after: number): number | undefined;
  /** True if the schedule fires at exactly this time. */
  isFiring(at: number): boolean;
}

const MINUTE = 60_000;
export const wholeMinute = (time: number): number => Math.floor(time / MINUTE) * MINUTE;

/** The fields of a cron as the values that each allows; a day field that is `*` does not restrict. */
export interface CronFields {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: readonly number[];
  /** From 1. */
  readonly days: readonly number[] | "any";
  /** From 0, which is Sunday. */
  readonly weekdays: readonly number[] | "any";
}

const NICKNAMES = new Set(["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]);
const NAMES = /jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat/gi;

/**
 * Refuses anything but a cron of five fields. The library accepts more than that (seconds, `L`, `W`, `#`), which other
 * crons do not or interpret differently, and an ambiguous expression would fire at an unintended time.
 */
function checkCron(text: string): void {
  const trimmed = text.trim();
  if (trimmed.startsWith("@")) {
    if (NICKNAMES.has(trimmed.toLowerCase())) return;
    throw invalid("cron_schedule", `knows ${[...NICKNAMES].join(", ")} and no other name`);
  }
  const fields = trimmed.split(/\s+/);
  if (fields.length !== 5) {
    throw invalid("cron_schedule", "must have five fields: minute, hour, day of month, month, day of week");
  }
  const strange = fields.map((field) => field.replace(NAMES, "")).find((field) => !/^[\d*,/-]*$/.test(field));
  if (strange !== undefined) {
    throw invalid("cron_schedule", "may only have numbers, names of months and days, and the signs * , - /");
  }
  try {
    new CronPattern(trimmed, undefined, { mode: "5-part" });
  } catch (error) {
    throw invalid("cron_schedule", `is not a cron expression, such as 0 9 * * 1-5 (${describeRejection(error)})`);
  }
}

/** The timetable of a cron in a time zone. Throws `invalid_request` naming the field that is wrong. */
export function parseTimetable(cron: string, timeZone: string): Timetable {
  checkCron(cron);
  checkTimeZone(timeZone);
  const job = new Cron(cron.trim(), { mode: "5-part", timezone: timeZone });
  const next = (after: number) => job.nextRun(new Date(after))?.getTime();
  return { next, isFiring: (at) => next(at - 1_000) === at };
}

/** The allowed values of each field. */
export function parseFields(cron: string): CronFields {
  const { minute, hour, day, month, dayOfWeek, starDOM, starDOW } = new CronPattern(cron.trim(), undefined, {
    mode: "5-part",
  });
  return {
    minutes: allowed(minute, 0),
    hours: allowed(hour, 0),
    months: allowed(month, 1),
    days: starDOM ? "any" : allowed(day, 1),
    weekdays: starDOW ? "any" : allowed(dayOfWeek.slice(0, 7), 0),
  };
}

/** An offset is not a time zone: it does not define clock changes, and the scheduler rejects it. */
function checkTimeZone(name: string): void {
  if (!/^[A-Za-z]/.test(name) || canonicalTimeZone(name) === undefined) {
    throw invalid("time_zone", "must be an IANA time zone such as Europe/Berlin, or UTC");
  }
}

/** The name of a time zone in every time zone database; undefined for an unknown one. */
export function canonicalTimeZone(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

const allowed = (flags: readonly number[], first: number): number[] =>
  flags.flatMap((flag, index) => (flag ? [index + first] : []));

/** What the library rejects, without the values that it names: it counts days and months from 0. */
const describeRejection = (error: unknown): string =>
  error instanceof Error
    ? error.message
        .replace(/^CronPattern: Invalid value for (\w+): .*/, "$1 is out of range")
        .replace(/^CronPattern: (Syntax error, )?/, "")
    : "it cannot be read";
