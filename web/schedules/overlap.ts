import * as v from "valibot";

/** What a schedule does at a time at which its last run is still active. */
export const Overlap = v.picklist(["allow", "skip", "cancel_previous"]);
export type Overlap = v.InferOutput<typeof Overlap>;
