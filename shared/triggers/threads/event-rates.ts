import type { RunyardError } from "#shared/errors.ts";
import { sha256 } from "#shared/ids.ts";
import { createRateLimitToken, type RateLimits, rateLimited } from "#shared/limits/token-bucket.ts";
import type { Update } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { TriggerEvent } from "../event.ts";
import type { Trigger } from "../trigger-store.ts";

/** The writes that count an event which starts or continues a run, and the errors of events above a limit. */
interface EventRates {
  /** Named writes of the transaction that starts or continues the run. */
  readonly writes: Readonly<Record<"triggerRate" | "threadRate", Update | undefined>>;
  /** Names the limit by which a write was refused; any other error stays as it is. */
  toError(error: unknown): unknown;
}

/** Limits how often a trigger and each of its threads start and continue runs. */
export function countEvent({ uid }: Trigger, { thread }: TriggerEvent, rates: RateLimits, now: number): EventRates {
  const count = (name: string, kind: "trigger" | "thread") => createRateLimitToken(name, kind, rates)(now);
  const toRefusal = (what: string, rate: number): RunyardError =>
    rateLimited(now, `${what} starts or continues runs by at most ${rate} events a minute`);
  return {
    writes: {
      triggerRate: count(`trigger:${uid}`, "trigger"),
      threadRate: thread === "" ? undefined : count(`trigger:${uid}:${sha256(thread)}`, "thread"),
    },
    toError(error) {
      // Another message of the same delivery has decided on it, or has started the run of the thread.
      if (!(error instanceof ConflictError) || error.failed.has("delivery") || error.failed.has("thread")) return error;
      if (error.failed.has("threadRate")) return toRefusal("a thread", rates.thread);
      return error.failed.has("triggerRate") ? toRefusal("a trigger", rates.trigger) : error;
    },
  };
}
