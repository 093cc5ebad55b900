import * as v from "valibot";
import { ArtifactType } from "./artifact.ts";
import { Metadata } from "./metadata.ts";
import { Count, Id, Timestamp, text, textOfBytes } from "./primitives.ts";
import { ExecutionLocation, RunState, TaskStatus } from "./run.ts";

const Sources = v.pipe(v.array(Id), v.minLength(1, "must have at least one source"), v.maxLength(64));

/**
 * The filters of the list of runs as a JSON object, combined with AND. Unknown members are refused, since ignoring a misspelled
 * filter would cancel more runs than intended.
 */
export const RunFilter = v.pipe(
  v.strictObject({
    state: v.exactOptional(v.pipe(v.array(RunState), v.minLength(1, "must have at least one state"), v.maxLength(16))),
    task_status: v.exactOptional(
      v.pipe(v.array(TaskStatus), v.minLength(1, "must have at least one status"), v.maxLength(16)),
    ),
    name: v.exactOptional(textOfBytes(1024, 1)),
    model_id: v.exactOptional(Id),
    creator: v.exactOptional(Id),
    executor: v.exactOptional(Id),
    source: v.exactOptional(v.union([Id, Sources], "must be a source or a list of sources")),
    execution_location: v.exactOptional(ExecutionLocation),
    created_after: v.exactOptional(Timestamp),
    created_before: v.exactOptional(Timestamp),
    updated_after: v.exactOptional(Timestamp),
    environment_id: v.exactOptional(Id),
    skill: v.exactOptional(Id),
    skill_spec: v.exactOptional(Id),
    schedule_id: v.exactOptional(Id),
    trigger_id: v.exactOptional(Id),
    automation_id: v.exactOptional(Id),
    ancestor_run_id: v.exactOptional(Id),
    artifact_type: v.exactOptional(ArtifactType),
    archived: v.exactOptional(v.picklist(["false", "true", "all"])),
    q: v.exactOptional(text(256, 1)),
    metadata: v.exactOptional(
      v.pipe(Metadata, v.minEntries(1, "must have at least one key"), v.maxEntries(5, "must have at most 5 keys")),
    ),
  }),
  v.minEntries(1, "must have at least one filter; an empty filter would match every run"),
);
export type RunFilter = v.InferOutput<typeof RunFilter>;

/** The runs to cancel. */
export const CancelRunsRequest = v.object({ filter: RunFilter, force: v.exactOptional(v.boolean()) });
export type CancelRunsRequest = v.InferOutput<typeof CancelRunsRequest>;

/** The result of a bulk cancellation. */
export const CancelRunsResponse = v.object({
  matched: Count,
  cancelled: Count,
  refused: v.array(v.object({ run_id: v.string(), error_code: v.string() })),
  /** Whether more runs may match. If true, send the request again. */
  has_more: v.boolean(),
});
export type CancelRunsResponse = v.InferOutput<typeof CancelRunsResponse>;
