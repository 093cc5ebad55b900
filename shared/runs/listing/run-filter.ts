import type { RunFilter } from "#shared/wire/cancel.ts";
import type { Filters } from "./filters.ts";

/** Filters that are given as a JSON object. */
export const toFilters = (filter: RunFilter): Filters => ({
  states: filter.state,
  taskStatuses: filter.task_status,
  name: filter.name,
  modelId: filter.model_id,
  creator: filter.creator,
  executor: filter.executor,
  source: filter.source,
  executionLocation: filter.execution_location,
  createdAfter: filter.created_after,
  createdBefore: filter.created_before,
  updatedAfter: filter.updated_after,
  environmentId: filter.environment_id,
  skillSpec: filter.skill ?? filter.skill_spec,
  scheduleId: filter.schedule_id,
  triggerId: filter.trigger_id,
  automationId: filter.automation_id,
  ancestorRunId: filter.ancestor_run_id,
  artifactType: filter.artifact_type,
  archived: filter.archived === "false" ? undefined : filter.archived,
  metadata: filter.metadata,
  minCostUsd: filter.min_cost_usd,
  q: filter.q,
});
