import { Cron } from "croner";
import { TimerRefused } from "#shared/timers/scheduler.ts";

/** The firing times of a timer. */
export interface TimerCron {
  /** Returns the first firing after a time, or undefined if there is none. Times are milliseconds. */
  next(after: number): number | undefined;
}

/**
 * Parses a cron expression of EventBridge Scheduler: six fields, days of the week from 1, one of the day fields `?`.
 * @throws TimerRefused if the expression or the time zone is not valid
 */
export function parseTimerCron(expression: string, timeZone: string): TimerCron {
  const fields = /^cron\(([^()]*)\)$/.exec(expression)?.[1]?.split(" ");
  const [, , days, , weekdays] = fields ?? [];
  if (fields?.length !== 6 || (days === "?") === (weekdays === "?")) {
    throw new TimerRefused(`${expression} is not a cron expression of EventBridge Scheduler`);
  }
  const cron = parse(fields, timeZone);
  return { next: (after) => cron.nextRun(new Date(after))?.getTime() };
}

function parse(fields: readonly string[], timezone: string): Cron {
  try {
    const cron = new Cron(`0 ${fields.join(" ")}`, {
      mode: "7-part",
      alternativeWeekdays: true,
      sloppyRanges: true,
      timezone,
    });
    // croner validates the time zone at the first use only.
    cron.nextRun();
    return cron;
  } catch (error) {
    throw new TimerRefused(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
