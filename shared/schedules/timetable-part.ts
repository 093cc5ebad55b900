import { parseTimetable } from "./cron.ts";

/** Returns the first firing after a time. The bundler makes a part of this file, which carries the cron library. */
export const findNextFiring = (cron: string, timeZone: string, after: number): number | undefined =>
  parseTimetable(cron, timeZone).next(after);
