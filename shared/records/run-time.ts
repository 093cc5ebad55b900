import { PROVIDERS } from "#shared/sandbox/providers.ts";
import { toNanoUsd } from "./money.ts";
import { isLocal, providerOf, type RunHead } from "./run-head.ts";

const HOUR_MS = 3_600_000;

/** Milliseconds that the present execution of a run has been INPROGRESS. */
export const workedMs = (head: RunHead, now: number): number =>
  head.state === "INPROGRESS" ? Math.max(0, now - head.state_since) : 0;

/** Milliseconds that the run's executions have been INPROGRESS. */
export const runTimeMs = (head: RunHead, now: number): number => head.run_time_ms + workedMs(head, now);

/** Of those, the milliseconds in sandboxes whose price the service does not know: workers, MicroVMs and containers. */
const unpricedTimeMs = (head: RunHead, now: number): number =>
  (head.unpriced_time_ms ?? 0) + (hasPrice(head) ? 0 : workedMs(head, now));

const hasPrice = (head: RunHead): boolean => PROVIDERS[providerOf(head)].isPriced === true;

/** The attributes that count the time of an execution which ends now. */
export function countRunTime(head: RunHead, now: number): Pick<RunHead, "run_time_ms" | "unpriced_time_ms"> {
  const unpriced = unpricedTimeMs(head, now);
  return { run_time_ms: runTimeMs(head, now), ...(unpriced > 0 ? { unpriced_time_ms: unpriced } : {}) };
}

/**
 * The cost of a run's sandboxes in billionths of a dollar: their time, without that of starting them. A run that its caller executes
 * costs nothing. Undefined where the price of none of that time is known.
 * @param usdPerHour the price of a sandbox of the service
 */
export function computeCost(head: RunHead, now: number, usdPerHour: number | undefined): number | undefined {
  if (usdPerHour === undefined) return undefined;
  if (isLocal(head)) return 0;
  const unpriced = unpricedTimeMs(head, now);
  const priced = runTimeMs(head, now) - unpriced;
  if (priced <= 0 && unpriced > 0) return undefined;
  return toNanoUsd((Math.max(0, priced) / HOUR_MS) * usdPerHour);
}
