import * as v from "valibot";
import { ArtifactType } from "./artifact.ts";
import { Metadata } from "./metadata.ts";
import { Count, Id, Timestamp, text, textOfBytes } from "./primitives.ts";
import { ExecutionLocation, RunState } from "./run.ts";

/**
 * The list's filters as a JSON object: the same names and rules, all of which a run has to match. A misspelled one is
 * refused, since without it more would be cancelled than was meant.
 */
const RunFilter = v.pipe(
  v.strictObject({
    state: v.exactOptional(v.pipe(v.array(RunState), v.minLength(1, "must name at least one state"), v.maxLength(16))),
    name: v.exactOptional(textOfBytes(1024, 1)),
    model_id: v.exactOptional(Id),
    creator: v.exactOptional(Id),
    executor: v.exactOptional(Id),
    source: v.exactOptional(Id),
    execution_location: v.exactOptional(ExecutionLocation),
    created_after: v.exactOptional(Timestamp),
    created_before: v.exactOptional(Timestamp),
    updated_after: v.exactOptional(Timestamp),
    environment_id: v.exactOptional(Id),
    skill: v.exactOptional(Id),
    skill_spec: v.exactOptional(Id),
    schedule_id: v.exactOptional(Id),
    ancestor_run_id: v.exactOptional(Id),
    artifact_type: v.exactOptional(ArtifactType),
    q: v.exactOptional(text(256, 1)),
    metadata: v.exactOptional(
      v.pipe(Metadata, v.minEntries(1, "must name at least one key"), v.maxEntries(5, "at most 5 metadata filters")),
    ),
  }),
  v.minEntries(1, "must name at least one filter: an empty one would cancel every run"),
);
export type RunFilter = v.InferOutput<typeof RunFilter>;

/** The body of POST /agent/runs/cancel. */
export const CancelRunsRequest = v.object({ filter: RunFilter, force: v.exactOptional(v.boolean()) });
export type CancelRunsRequest = v.InferOutput<typeof CancelRunsRequest>;

/** What became of the runs that matched: each was cancelled, or refused with the code that its own cancel would have. */
export const CancelRunsResponse = v.object({
  matched: Count,
  cancelled: Count,
  refused: v.array(v.object({ run_id: v.string(), error_code: v.string() })),
  /** True where more may match than one call takes: send the request again. */
  has_more: v.boolean(),
});
export type CancelRunsResponse = v.InferOutput<typeof CancelRunsResponse>;
