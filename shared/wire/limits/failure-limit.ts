import * as v from "valibot";

/** Failures that can be counted: the latest runs of a trigger or a schedule are known by their number. */
const MAX_FAILURES = 10;

/** The number of consecutive failed runs after which their schedule or trigger pauses itself. 0 clears the limit. */
export const FailureLimit = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_FAILURES));
