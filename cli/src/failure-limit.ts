import { wholeNumber } from "./options.ts";

/** The option by which schedules and triggers pause themselves. */
export const PAUSE_AFTER = "--pause-after <failures>";
export const PAUSE_AFTER_TEXT = "pause it after this number of runs that fail in a row, at most 10; 0: never";
export const failureLimit = wholeNumber(0, 10);

/** After how many failures it pauses itself; undefined where it does not. */
export const describeFailureLimit = (limit: number | undefined): string | undefined =>
  limit === undefined ? undefined : `${limit} failed runs in a row`;
