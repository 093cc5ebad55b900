/**
 * The time of an execution, where its sandbox has an end. Shortly before it the run is cut: what was done is saved, and a new
 * execution goes on from there.
 */
export interface Slice {
  /** Milliseconds since the epoch at which nothing may run any more. */
  readonly deadlineAt: number;
  /** Milliseconds since the epoch at which no further step begins, so that what was done can be saved. */
  readonly cutAt: number;
  /** Called before each step of the agent. @throws SliceEnd when there is no time left for another one */
  beforeStep(): void;
  /** Called after each step: an execution that has done nothing yet is not cut, or a run could go on for ever without progress. */
  afterStep(): void;
}

/** The execution's time is over, between two steps of its agent. */
export class SliceEnd extends Error {
  constructor() {
    super("the time of this execution is over");
    this.name = "SliceEnd";
  }
}

/** Kept of an execution's time for its last calls. */
const RESERVE_MS = 5_000;
/** Kept besides for saving the workspace: a fifth of the time that there was, within these bounds. */
const RESERVE_SHARE = 0.2;
const MIN_RESERVE_MS = 1_000;
const MAX_RESERVE_MS = 120_000;

/** `endsAt`: when the sandbox ends, in milliseconds since the epoch; undefined where it does not. */
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
