import { Cron } from "croner";
import cronstrue from "cronstrue";

/** A cron expression in words, or undefined if it cannot be described. */
export function describeCron(cron: string): string | undefined {
  try {
    return cronstrue.toString(cron.trim(), { use24HourTimeFormat: true, verbose: false });
  } catch {
    return undefined;
  }
}

/** The next times of a cron expression. Empty if it is not valid or never fires. */
export function nextTimes(cron: string, timeZone: string, count = 5): Date[] {
  try {
    // Five fields, as the API takes them.
    return new Cron(cron.trim(), { timezone: timeZone, mode: "5-part", paused: true }).nextRuns(count);
  } catch {
    return [];
  }
}
