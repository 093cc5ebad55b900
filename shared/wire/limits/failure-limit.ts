import * as v from "valibot";

/** Failures that can be counted: the latest runs of a trigger or a schedule are known by their number. */
const MAX_FAILURES = 10;

/** The number of runs that fail in a row after which what starts them pauses itself. 0 is none. */
export const FailureLimit = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_FAILURES));
