import { Cron } from "croner";

const MINUTE = 60_000;
/** Minutes by which clocks are set back somewhere. */
const SETBACKS = [20, 30, 60, 120, 1440];

/** When a timer fires. */
export interface TimerCron {
  isDue(minute: number): boolean;
}

/**
 * A cron as EventBridge Scheduler understands it: six fields, days of the week from 1, one of the day fields `?`. A local
 * time that the clocks leave out is skipped, and one that they repeat counts once. Throws an error that says what is
 * wrong with it.
 */
export function timerCron(expression: string, timeZone: string): TimerCron {
  const fields = /^cron\(([^()]*)\)$/.exec(expression)?.[1]?.split(" ");
  if (fields?.length !== 6 || expression.length > 256) {
    throw new Error(`Invalid Schedule Expression ${expression}: here, it is a cron of six fields`);
  }
  const [, , days, , weekdays] = fields;
  if ((days === "?") === (weekdays === "?")) {
    throw new Error(`Invalid Schedule Expression ${expression}: one of its day fields has to be ?`);
  }
  const local = createClock(timeZone);
  const job = read(expression, fields, timeZone);
  return {
    isDue(minute) {
      if (!job.match(new Date(minute))) return false;
      const localTime = local(minute);
      return SETBACKS.every((minutes) => local(minute - minutes * MINUTE) !== localTime);
    },
  };
}

function read(expression: string, fields: readonly string[], timezone: string): Cron {
  try {
    return new Cron(`0 ${fields.join(" ")}`, {
      mode: "7-part",
      alternativeWeekdays: true,
      sloppyRanges: true,
      timezone,
    });
  } catch (error) {
    throw new Error(`Invalid Schedule Expression ${expression}: ${error instanceof Error ? error.message : error}`);
  }
}

/** What the clocks of a time zone show at a time. */
function createClock(timeZone: string): (time: number) => string {
  const format = createFormat(timeZone);
  return (time) => format.format(time);
}

function createFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en", { timeZone, dateStyle: "short", timeStyle: "short", hourCycle: "h23" });
  } catch {
    throw new Error(`Invalid time zone ${timeZone}`);
  }
}
