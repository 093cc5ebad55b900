import * as v from "valibot";
import { endpoint } from "#shared/http/endpoint.ts";
import { many, map, one } from "#shared/http/request.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { listVisibleRuns } from "#shared/runs/listing/list-runs.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { ArtifactType } from "#shared/wire/artifact.ts";
import { Metadata } from "#shared/wire/metadata.ts";
import { Flag, Id, Timestamp, text, textOfBytes } from "#shared/wire/primitives.ts";
import { ListRunsResponse, type RunItem, RunState, TaskStatus } from "#shared/wire/run.ts";

const Limit = v.pipe(
  v.string(),
  v.regex(/^\d{1,9}$/, "must be a whole number"),
  v.transform(Number),
  v.minValue(1, "must be at least 1"),
  v.maxValue(500, "must be at most 500"),
);

const Usd = v.pipe(
  v.string(),
  // Clients write small numbers with an exponent.
  v.regex(/^\d+(\.\d+)?(e[+-]?\d+)?$/i, "must be an amount in US dollars, such as 2.50"),
  v.transform(Number),
  v.maxValue(1_000_000, "must be at most 1000000"),
);

/**
 * GET /agent/runs: lists the runs visible to the caller. Filters combine with AND; repeat `state`,
 * `task_status` or `source` to match any of several values. Runs are sorted by `updated_at`, newest first, unless `sort_by` and `sort_order` say otherwise.
 * `prompt` is truncated to 1,000 characters; read the run for the full text. A page is never empty while
 * `has_next_page` is true.
 */
export const listRuns = endpoint({
  request: {
    query: {
      /** The maximum number of runs, 1 to 500. @default 20 */
      limit: one(Limit),
      /** The `page_info.next_cursor` of the previous page. */
      cursor: one(textOfBytes(4096)),
      /**
       * The sort key. `agent` sorts by skill; runs without a skill come last in both directions. @default updated_at
       */
      sort_by: one(v.picklist(["updated_at", "created_at", "title", "agent"])),
      /** The sort direction. @default desc */
      sort_order: one(v.picklist(["asc", "desc"])),
      state: many(RunState),
      task_status: many(TaskStatus),
      name: one(textOfBytes(1024)),
      model_id: one(Id),
      creator: one(Id),
      executor: one(Id),
      source: many(Id),
      execution_location: one(v.picklist(["REMOTE", "LOCAL"])),
      created_after: one(Timestamp),
      created_before: one(Timestamp),
      updated_after: one(Timestamp),
      environment_id: one(Id),
      skill: one(Id),
      skill_spec: one(Id),
      schedule_id: one(Id),
      trigger_id: one(Id),
      automation_id: one(Id),
      ancestor_run_id: one(Id),
      artifact_type: one(ArtifactType),
      archived: one(v.picklist(["false", "true", "all"])),
      q: one(text(256)),
      /** Selects no runs, since no run belongs to a factory. */
      factory_uid: one(Id),
      /** `true` selects no runs, since no run belongs to a factory. */
      factory_only: one(Flag),
      min_cost_usd: one(Usd),
      metadata: map(v.pipe(Metadata, v.maxEntries(5, "at most 5 metadata filters"))),
    },
  },
  reply: { 200: ListRunsResponse },
  async run({ query, principal }, ports: RunPorts & { readonly cursors: Cursors }) {
    // No run of this service belongs to a factory, which newer clients select by.
    if (query.factory_uid !== undefined || query.factory_only === true) {
      const runs: RunItem[] = [];
      return { status: 200, body: { runs, page_info: { has_next_page: false } } };
    }
    const body = await listVisibleRuns(
      {
        limit: query.limit ?? 20,
        cursor: query.cursor,
        sortBy: query.sort_by ?? "updated_at",
        descending: query.sort_order !== "asc",
        filters: {
          states: query.state,
          taskStatuses: query.task_status,
          name: query.name,
          modelId: query.model_id,
          creator: query.creator,
          executor: query.executor,
          source: oneOrMany(query.source),
          executionLocation: query.execution_location,
          createdAfter: query.created_after,
          createdBefore: query.created_before,
          updatedAfter: query.updated_after,
          environmentId: query.environment_id,
          skillSpec: query.skill ?? query.skill_spec,
          scheduleId: query.schedule_id,
          triggerId: query.trigger_id,
          automationId: query.automation_id,
          ancestorRunId: query.ancestor_run_id,
          artifactType: query.artifact_type,
          archived: query.archived === "false" ? undefined : query.archived,
          metadata: query.metadata,
          minCostUsd: query.min_cost_usd,
          q: query.q,
        },
      },
      principal,
      ports,
    );
    return { status: 200, body };
  },
});

/** A single value as itself: cursors are bound to the filters, and those of earlier releases to a single source. */
const oneOrMany = <T>(values: readonly T[] | undefined): T | readonly T[] | undefined =>
  values?.length === 1 ? values[0] : values;
