/**
 * The time of an execution in a sandbox with a time limit. Shortly before the limit the execution saves its work and ends, and a new
 * execution continues.
 */
export interface Slice {
  /** Milliseconds since the epoch after which nothing may run. */
  readonly deadlineAt: number;
  /** Milliseconds since the epoch at which a running step is ended, so that there is time to save the work. */
  readonly stepsEndAt: number;
  /** Milliseconds since the epoch after which no step starts, so that the last one has time to end by itself. */
  readonly cutAt: number;
  /**
   * Called before each step of the agent.
   * @param longestMs how long a step may take that cannot be repeated. It starts only where it has this time, or most of a sandbox's time
   * @throws SliceEnd when there is no time for another step
   */
  beforeStep(longestMs?: number): void;
  /** Called after each step. An execution always takes at least one step; otherwise a run could continue forever without progress. */
  afterStep(): void;
}

/** The execution's time is over, between two steps of its agent. */
export class SliceEnd extends Error {
  constructor() {
    super("the time of this execution is over");
    this.name = "SliceEnd";
  }
}

/** Reserved for the final calls of an execution. */
const RESERVE_MS = 5_000;
/** The most of the total time that these calls get. */
const RESERVE_SHARE = 0.2;
/** Reserved in addition for saving the workspace, and for the last step: shares of the total time, within bounds. */
const SAVING = { share: 0.1, minMs: 500, maxMs: 60_000 };
const LAST_STEP = { share: 0.2, minMs: 1_000, maxMs: 120_000 };
/** How much of a sandbox's time for steps is kept for a step that cannot be repeated; with all of it, every such step would have a sandbox to itself. */
const LONGEST_STEP_SHARE = 0.75;

/** @param endsAt when the sandbox ends, in milliseconds since the epoch; undefined if it has no time limit */
export function createSlice(endsAt: number | undefined, now: () => number = Date.now): Slice {
  const total = endsAt === undefined ? Number.POSITIVE_INFINITY : endsAt - now();
  const reserve = Math.min(RESERVE_MS, total * RESERVE_SHARE);
  const deadlineAt = (endsAt ?? Number.POSITIVE_INFINITY) - reserve;
  const stepsEndAt = deadlineAt - takeShare(total, SAVING);
  const cutAt = stepsEndAt - takeShare(total, LAST_STEP);
  const longestStepMs = (stepsEndAt - now()) * LONGEST_STEP_SHARE;
  let steps = 0;
  return {
    deadlineAt,
    stepsEndAt,
    cutAt,
    beforeStep(longestMs = 0) {
      if (steps === 0) return;
      const startsBefore = Math.min(cutAt, stepsEndAt - Math.min(longestMs, longestStepMs));
      if (now() >= startsBefore) throw new SliceEnd();
    },
    afterStep() {
      steps++;
    },
  };
}

/** Interval of the check whether the execution has time left. */
const CHECK_MS = 1_000;

/** Watches the time of a slice during a step that has no end of its own, such as the turn of an agent in a process. */
export function watchSlice(slice: Pick<Slice, "beforeStep">): Disposable & { readonly signal: AbortSignal } {
  const over = new AbortController();
  const timer = setInterval(() => {
    try {
      slice.beforeStep();
    } catch (error) {
      over.abort(error);
    }
  }, CHECK_MS);
  return { signal: over.signal, [Symbol.dispose]: () => clearInterval(timer) };
}

const takeShare = (total: number, { share, minMs, maxMs }: typeof SAVING): number =>
  Math.min(Math.max(total * share, minMs), maxMs);

/** When a step that begins now must have ended. A first step that begins too late to save its work has all the time that is left. */
export const findStepEnd = ({ cutAt, stepsEndAt, deadlineAt }: StepTimes): number =>
  Date.now() < cutAt ? stepsEndAt : deadlineAt;

export type StepTimes = Pick<Slice, "cutAt" | "stepsEndAt" | "deadlineAt">;
