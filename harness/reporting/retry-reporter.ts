import { toWellFormed } from "../support/text-limits.ts";
import type { Outbox } from "./outbox.ts";

/** A failed call of the model. */
export interface ModelRetry {
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  readonly reason: string;
  /** The most attempts; undefined if a third-party agent decides. */
  readonly of?: number;
  /** Milliseconds until the next attempt; undefined if a third-party agent decides. */
  readonly nextInMs?: number;
}

/** Events of retries in one execution. A run stores a limited number of events, and an outage must not use them up. */
const MAX_EVENTS = 200;

/** Creates the function that reports failed calls of the model as events. */
export function createRetryReporter(outbox: Pick<Outbox, "event">): (retry: ModelRetry) => void {
  let count = 0;
  return ({ attempt, of, reason, nextInMs }) => {
    if (++count > MAX_EVENTS) return;
    outbox.event("model_retry", {
      attempt,
      ...(of === undefined ? {} : { of }),
      reason: toWellFormed(reason),
      ...(nextInMs === undefined ? {} : { next_in_ms: nextInMs }),
    });
  };
}
