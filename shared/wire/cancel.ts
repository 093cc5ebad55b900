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
    /** Selects runs in one of these states. */
    state: v.exactOptional(v.pipe(v.array(RunState), v.minLength(1, "must have at least one state"), v.maxLength(16))),
    /**
     * Selects runs whose task has one of these statuses. `running`: the run or one of its descendants has not ended.
     * The others match the state of the run itself: `failed` (`FAILED`, `ERROR`), `blocked`, `cancelled`, `complete`
     * (`SUCCEEDED`). A run may match two.
     */
    task_status: v.exactOptional(
      v.pipe(v.array(TaskStatus), v.minLength(1, "must have at least one status"), v.maxLength(16)),
    ),
    /** Selects runs by the name of their configuration. */
    name: v.exactOptional(textOfBytes(1024, 1)),
    /** Selects runs by model. */
    model_id: v.exactOptional(Id),
    /** Selects runs by the uid of their creator. */
    creator: v.exactOptional(Id),
    /** Selects runs by the uid of their executor. */
    executor: v.exactOptional(Id),
    /** Selects runs from this source or one of these, each a RunSourceType. An unknown value selects no runs. */
    source: v.exactOptional(v.union([Id, Sources], "must be a source or a list of sources")),
    /** Selects runs by execution location. */
    execution_location: v.exactOptional(ExecutionLocation),
    /** Selects runs created after this time. */
    created_after: v.exactOptional(Timestamp),
    /** Selects runs created before this time. */
    created_before: v.exactOptional(Timestamp),
    /** Selects runs that changed after this time. */
    updated_after: v.exactOptional(Timestamp),
    /** Selects runs by environment; `empty-environment` selects runs without one. */
    environment_id: v.exactOptional(Id),
    /** An alias of `skill_spec`. */
    skill: v.exactOptional(Id),
    /** Selects runs by skill: `owner/repo:name` or `owner/repo:path/to/SKILL.md`. */
    skill_spec: v.exactOptional(Id),
    /** Selects runs by schedule, including deleted schedules. */
    schedule_id: v.exactOptional(Id),
    /** Selects runs by the trigger that started them, including deleted triggers. */
    trigger_id: v.exactOptional(Id),
    /** Selects runs by automation: the uid of a trigger, or the value of the metadata key `automation_id`. */
    automation_id: v.exactOptional(Id),
    /** Selects the descendants of this run, which must exist and be visible. */
    ancestor_run_id: v.exactOptional(Id),
    /** Selects runs with an artifact of this type. */
    artifact_type: v.exactOptional(ArtifactType),
    /** Selects archived runs (`true`), runs that are not archived (`false`, the default), or `all`. */
    archived: v.exactOptional(v.picklist(["false", "true", "all"])),
    /** Selects runs that have cost at least this many US dollars by their models and sandboxes, without their child runs. */
    min_cost_usd: v.exactOptional(v.pipe(v.number(), v.minValue(0, "must be at least 0"), v.maxValue(1_000_000))),
    /**
     * Searches titles, prompts and skills. Ignores case, accents and word order, and allows for a typo in longer
     * words. The id or the URL of a run finds that run.
     */
    q: v.exactOptional(text(256, 1)),
    /** Selects runs by metadata; in a query, as `metadata[ticket]=SHOP-1412`. At most 5 keys. */
    metadata: v.exactOptional(
      v.pipe(Metadata, v.minEntries(1, "must have at least one key"), v.maxEntries(5, "must have at most 5 keys")),
    ),
  }),
  v.minEntries(1, "must have at least one filter; an empty filter would match every run"),
);
export type RunFilter = v.InferOutput<typeof RunFilter>;

/** The runs to cancel. */
export const CancelRunsRequest = v.object({
  /** The runs to cancel. Takes the filters of `GET /agent/runs`, at least one. */
  filter: RunFilter,
  /** Whether to cancel `PENDING`, `CLAIMED` and self-hosted runs as well. Defaults to false. */
  force: v.exactOptional(v.boolean()),
  /** The `next_cursor` of the previous response, to continue after the runs that it processed. */
  cursor: v.exactOptional(textOfBytes(4096)),
});
export type CancelRunsRequest = v.InferOutput<typeof CancelRunsRequest>;

/** The result of a bulk cancellation. */
export const CancelRunsResponse = v.object({
  /** The number of active runs that matched the filter. */
  matched: Count,
  /** The number of runs that were cancelled. */
  cancelled: Count,
  /** The runs that could not be cancelled. */
  refused: v.array(
    v.object({
      /** The run's id. */
      run_id: v.string(),
      /** The error code that cancelling this run returns. */
      error_code: v.string(),
    }),
  ),
  /** Whether more runs may match. If true, send the request again with `next_cursor` as `cursor`. */
  has_more: v.boolean(),
  /** Where the next request continues. Only if `has_more` is true. */
  next_cursor: v.exactOptional(v.string()),
});
export type CancelRunsResponse = v.InferOutput<typeof CancelRunsResponse>;
