import { Cron } from "croner";
import { TimerRefused } from "#shared/schedules/scheduler.ts";

/** When a timer goes off. */
export interface TimerCron {
  /** The first time after another; undefined where there is none any more. Times are milliseconds. */
  next(after: number): number | undefined;
}

/**
 * A cron in the dialect of EventBridge Scheduler: six fields, days of the week from 1, one of the day fields `?`.
 * @throws TimerRefused for what is none
 */
export function timerCron(expression: string, timeZone: string): TimerCron {
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
    // A time zone is looked up at the first use.
    cron.nextRun();
    return cron;
  } catch (error) {
    throw new TimerRefused(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
