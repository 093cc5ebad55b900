import { toTimestamp } from "#shared/wire/primitives.ts";
import type { RunHead } from "./run-head.ts";

/** What to do about a reached limit. */
export const LIMIT_REMEDY = "Send a follow-up to continue with a fresh allowance, or create a run with a higher limit.";

const MINUTE_MS = 60_000;

/** When the time of a run ends that starts at `now`: at the latest when that of its parent, or of its first start, ends. */
export function startTimeLimit(
  { time_limit, ends_by = Number.POSITIVE_INFINITY }: { readonly time_limit?: number; readonly ends_by?: number },
  now: number,
): { readonly ends_by: number } | undefined {
  if (time_limit === undefined) return undefined;
  return { ends_by: Math.min(ends_by, now + time_limit * MINUTE_MS) };
}

/** Whether the time of the run is over. */
export const isTimeOver = ({ ends_by }: Pick<RunHead, "ends_by">, now: number): boolean =>
  ends_by !== undefined && ends_by <= now;

/** Describes why a run whose time is over has failed. */
export function describeTimeout({ time_limit, ends_by = 0 }: Pick<RunHead, "time_limit" | "ends_by">): string {
  const limit =
    time_limit === undefined ? "its parent's time limit" : `${time_limit} minute${time_limit === 1 ? "" : "s"}`;
  return `timeout_minutes: the run was not done within ${limit}, at ${toTimestamp(ends_by)}. ${LIMIT_REMEDY}`;
}
