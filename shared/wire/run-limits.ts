import * as v from "valibot";

const wholeUpTo = (most: number) => v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(most));

/** The limits of a run besides its budget. A run that reaches one ends FAILED, and a follow-up continues it with a fresh allowance. */
export const RunLimits = {
  timeout_minutes: v.exactOptional(wholeUpTo(10_080)),
  max_steps: v.exactOptional(wholeUpTo(10_000)),
  max_total_tokens: v.exactOptional(wholeUpTo(1_000_000_000)),
};
