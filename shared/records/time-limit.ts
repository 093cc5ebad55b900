import { toTimestamp } from "#shared/wire/primitives.ts";
import type { RunHead } from "./run-head.ts";

/** What to do about a reached limit. */
export const LIMIT_REMEDY = "Send a follow-up to continue with a fresh allowance, or create a run with a higher limit.";

/** Whether the time of the run is over. */
export const isTimeOver = ({ ends_by }: Pick<RunHead, "ends_by">, now: number): boolean =>
  ends_by !== undefined && ends_by <= now;

/** Describes why a run whose time is over has failed. */
export function describeTimeout({ time_limit, ends_by = 0 }: Pick<RunHead, "time_limit" | "ends_by">): string {
  const limit =
    time_limit === undefined ? "its parent's time limit" : `${time_limit} minute${time_limit === 1 ? "" : "s"}`;
  return `timeout_minutes: the run was not done within ${limit}, at ${toTimestamp(ends_by)}. ${LIMIT_REMEDY}`;
}
