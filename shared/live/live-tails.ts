import type { LiveFrame } from "#shared/wire/event.ts";
import type { RunTail } from "./run-tail.ts";

/** The ends of the output that executions are producing. Nothing of it is kept for longer than 15 minutes. */
export interface LiveTails {
  /** Adds frames of an execution; output of an earlier execution of the run is dropped. */
  append(runId: string, executionId: string, frames: readonly LiveFrame[]): Promise<void>;
  /** Drops the streams of actions and messages that are complete. */
  finish(runId: string, ids: readonly string[]): Promise<void>;
  read(runId: string): Promise<RunTail | undefined>;
  clear(runId: string): Promise<void>;
}

/** Wakes the readers of a run. */
export interface RunSignals {
  subscribe(runId: string, options?: SubscriptionOptions): RunSubscription;
}

interface SubscriptionOptions {
  /**
   * The longest pause between two looks of a reader that nothing can wake.
   * @default 400
   */
  readonly maxPauseMs?: number;
}

export interface RunSubscription {
  /**
   * Resolves when the run or its live output may have changed since the last call, or since the subscription. Resolves after
   * `milliseconds` in any case.
   */
  next(milliseconds: number): Promise<void>;
  close(): void;
}

/** How long a tail is kept, in milliseconds. */
export const TAIL_LIFETIME_MS = 15 * 60_000;
