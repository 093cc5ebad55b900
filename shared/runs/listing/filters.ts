import * as v from "valibot";
import { takeCharacters } from "#shared/characters.ts";
import { createdAtOf } from "#shared/ids.ts";
import { isTerminal } from "#shared/records/run.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { parseRunId, type RunHead } from "#shared/records/run-head.ts";
import { hasTags } from "#shared/runs/run-facets.ts";
import type { Item, Value } from "#shared/table/table.ts";
import { RunState } from "#shared/wire/run.ts";
import { createTextMatcher } from "./fuzzy-search.ts";
import { parseNamedRun } from "./named-run.ts";
import { hasStatus, type StatusFilters } from "./task-status.ts";

export interface Filters extends StatusFilters {
  readonly name?: string | undefined;
  readonly modelId?: string | undefined;
  readonly creator?: string | undefined;
  readonly executor?: string | undefined;
  /** One source, or several of which a run has one. */
  readonly source?: string | readonly string[] | undefined;
  readonly executionLocation?: string | undefined;
  readonly environmentId?: string | undefined;
  readonly skillSpec?: string | undefined;
  readonly scheduleId?: string | undefined;
  readonly triggerId?: string | undefined;
  /** The uid of a trigger, or the value of the metadata key `automation_id`. */
  readonly automationId?: string | undefined;
  /** RFC 3339, exclusive, compared in milliseconds. */
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly updatedAfter?: string | undefined;
  readonly ancestorRunId?: string | undefined;
  readonly artifactType?: string | undefined;
  /** @default archived runs do not match */
  readonly archived?: "true" | "all" | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** What a run has cost at least without its child runs, in US dollars. */
  readonly minCostUsd?: number | undefined;
  /** Fuzzy search over title, skill_spec and the beginning of the prompt; or the id or the URL of a run. */
  readonly q?: string | undefined;
}

export interface FoundRun {
  readonly head: RunHead;
  readonly body: RunBody;
}

/** Characters of the prompt that `q` searches. */
const SEARCHED_PROMPT = 300;

/**
 * Whether an index entry by itself excludes the run: the id holds the time of creation. An entry may carry no `p`, and then the
 * run itself decides. `p` and the state may be out of date; `p`, and the state of an ended run, are so for a moment only, after the
 * run was archived or continued.
 */
export function matchesEntry(entry: Item, filters: Filters): boolean {
  const { p, state } = entry;
  const runId = parseRunId(entry);
  return (
    (p === undefined || matchesFacets(p, filters)) &&
    (!isEndedState(state) || hasStatus(runId, state, filters)) &&
    isCreatedWithin(createdAtOf(runId), filters)
  );
}

const isEndedState = (state: Value | undefined): state is RunState => v.is(RunState, state) && isTerminal(state);

function matchesFacets(facets: Value, filters: Filters): boolean {
  const facet = (name: string): unknown =>
    typeof facets === "object" && facets !== null && name in facets ? Reflect.get(facets, name) : undefined;
  const is = (wanted: string | undefined, name: string) => wanted === undefined || facet(name) === wanted;
  return (
    matchesArchived(facet("archived") === true, filters) &&
    is(filters.name, "name") &&
    is(filters.modelId, "model") &&
    is(filters.creator, "creator") &&
    (is(filters.executor, "executor") || (facet("executor") === undefined && is(filters.executor, "creator"))) &&
    (filters.source === undefined || [filters.source].flat().some((source) => facet("source") === source)) &&
    is(filters.executionLocation, "location") &&
    (is(filters.skillSpec, "skill") || is(filters.skillSpec, "skill_path")) &&
    is(filters.scheduleId, "schedule") &&
    is(filters.triggerId, "trigger") &&
    (is(filters.automationId, "trigger") || hasTags(facet("tags"), toAutomationMetadata(filters))) &&
    (filters.environmentId === "empty-environment"
      ? facet("environment") === undefined
      : is(filters.environmentId, "environment")) &&
    hasTags(facet("tags"), filters.metadata)
  );
}

export const matchesArchived = (isArchived: boolean, { archived }: Pick<Filters, "archived">): boolean =>
  archived === "all" || isArchived === (archived === "true");

/** The metadata that `automationId` names. */
export const toAutomationMetadata = ({ automationId }: Filters): Readonly<Record<string, string>> =>
  automationId === undefined ? {} : { [AUTOMATION_KEY]: automationId };
const AUTOMATION_KEY = "automation_id";

/** Filters runs by their own items: their states and times change, and their metadata is in no index. */
export function matchingRuns(runs: readonly FoundRun[], filters: Filters): readonly FoundRun[] {
  const isBodyMatch = createBodyMatcher(filters);
  return runs.filter(({ head, body }) => matchesHead(head, filters) && isBodyMatch(body, head.run_id));
}

/** Whether the filters need the head, and whether they need the body. */
export const needsHead = ({ states, taskStatuses, updatedAfter, artifactType, minCostUsd }: Filters): boolean =>
  (states ?? taskStatuses ?? updatedAfter ?? artifactType ?? minCostUsd) !== undefined;
export const needsBody = ({ metadata, automationId, ancestorRunId, q }: Filters): boolean =>
  (metadata ?? automationId ?? ancestorRunId ?? q) !== undefined;

export function matchesHead(head: RunHead, filters: Filters): boolean {
  const { updatedAfter, artifactType } = filters;
  return (
    matchesFacets(head.p, filters) &&
    hasStatus(head.run_id, head.state, filters) &&
    isCreatedWithin(head.created_at, filters) &&
    (updatedAfter === undefined || head.updated_at > Date.parse(updatedAfter)) &&
    (artifactType === undefined || (head.artifact_types ?? []).includes(artifactType))
  );
}

export function createBodyMatcher(filters: Filters): (body: RunBody, runId: string) => boolean {
  const { metadata = {}, automationId, ancestorRunId, q } = filters;
  const searched = q === undefined ? undefined : createTextMatcher(q);
  const named = parseNamedRun(q);
  const hasMetadata = (body: RunBody, wanted: Readonly<Record<string, string>>) =>
    Object.entries(wanted).every(([key, value]) => body.metadata?.[key] === value);
  return (body, runId) =>
    (ancestorRunId === undefined || body.ancestors.includes(ancestorRunId)) &&
    hasMetadata(body, metadata) &&
    (body.trigger?.trigger_id === automationId || hasMetadata(body, toAutomationMetadata(filters))) &&
    (searched === undefined || runId === named || searched(searchedText(body)));
}

/** The text of a run that `q` searches. */
export const searchedText = ({ title, config, prompt }: RunBody): string =>
  [title, config.skill_spec ?? "", takeCharacters(prompt, SEARCHED_PROMPT)].join("\n");

function isCreatedWithin(createdAt: number, { createdAfter, createdBefore }: Filters): boolean {
  return (
    (createdAfter === undefined || createdAt > Date.parse(createdAfter)) &&
    (createdBefore === undefined || createdAt < Date.parse(createdBefore))
  );
}
