/**
 * The time of an execution in a sandbox with a time limit. Shortly before the limit the execution saves its work and ends, and a new
 * execution continues.
 */
export interface Slice {
  /** Milliseconds since the epoch after which nothing may run. */
  readonly deadlineAt: number;
  /** Milliseconds since the epoch after which no step starts, so that there is time to save the work. */
  readonly cutAt: number;
  /** Called before each step of the agent. @throws SliceEnd when there is no time for another step */
  beforeStep(): void;
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
/** Reserved in addition for saving the workspace: a fifth of the total time, within these bounds. */
const RESERVE_SHARE = 0.2;
const MIN_RESERVE_MS = 1_000;
const MAX_RESERVE_MS = 120_000;

/** @param endsAt when the sandbox ends, in milliseconds since the epoch; undefined if it has no time limit */
export function createSlice(endsAt: number | undefined, now: () => number = Date.now): Slice {
  const total = endsAt === undefined ? Number.POSITIVE_INFINITY : endsAt - now();
  const reserve = Math.min(RESERVE_MS, total * RESERVE_SHARE);
  const deadlineAt = (endsAt ?? Number.POSITIVE_INFINITY) - reserve;
  const cutAt = deadlineAt - Math.min(Math.max(total * RESERVE_SHARE, MIN_RESERVE_MS), MAX_RESERVE_MS);
  let steps = 0;
  return {
    deadlineAt,
    cutAt,
    beforeStep() {
      if (steps > 0 && now() >= cutAt) throw new SliceEnd();
    },
    afterStep() {
      steps++;
    },
  };
}
