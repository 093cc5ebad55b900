import { createdAtOf } from "#shared/ids.ts";
import type { Item } from "#shared/table/table.ts";
import type { RunState } from "#shared/wire/run.ts";
import { matcherOf } from "./fuzzy-search.ts";
import type { RunBody } from "./run-body.ts";
import type { RunHead } from "./run-head.ts";

export interface Filters {
  readonly states?: readonly RunState[] | undefined;
  readonly name?: string | undefined;
  readonly modelId?: string | undefined;
  readonly creator?: string | undefined;
  readonly executor?: string | undefined;
  readonly source?: string | undefined;
  readonly executionLocation?: string | undefined;
  readonly environmentId?: string | undefined;
  readonly skillSpec?: string | undefined;
  readonly scheduleId?: string | undefined;
  /** RFC 3339, exclusive, compared in milliseconds. */
  readonly createdAfter?: string | undefined;
  readonly createdBefore?: string | undefined;
  readonly updatedAfter?: string | undefined;
  readonly ancestorRunId?: string | undefined;
  readonly artifactType?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Fuzzy search over title, skill_spec and the beginning of the prompt. */
  readonly q?: string | undefined;
}

export interface FoundRun {
  readonly head: RunHead;
  readonly body: RunBody;
}

/** Characters of the prompt that `q` looks at. */
const SEARCHED_PROMPT = 300;

export const runIdOf = (entry: Item): string => entry.pk.slice("RUN#".length);

export const isFiltered = (filters: Filters): boolean => Object.values(filters).some((filter) => filter !== undefined);

/** What an index entry alone can tell: `p` is written once and the id holds the time of creation, so neither is behind. */
export function matchesEntry(entry: Item, filters: Filters): boolean {
  const facets = entry["p"];
  const facet = (name: string): unknown =>
    typeof facets === "object" && facets !== null && name in facets ? Reflect.get(facets, name) : undefined;
  const is = (wanted: string | undefined, name: string) => wanted === undefined || facet(name) === wanted;
  return (
    is(filters.name, "name") &&
    is(filters.modelId, "model") &&
    is(filters.creator, "creator") &&
    (is(filters.executor, "executor") || (facet("executor") === undefined && is(filters.executor, "creator"))) &&
    is(filters.source, "source") &&
    is(filters.executionLocation, "location") &&
    is(filters.skillSpec, "skill") &&
    is(filters.scheduleId, "schedule") &&
    (filters.environmentId === "empty-environment"
      ? facet("environment") === undefined
      : is(filters.environmentId, "environment")) &&
    isCreatedWithin(createdAtOf(runIdOf(entry)), filters)
  );
}

/** Which of the runs match by what they tell themselves: their state and times move, their metadata is in no index. */
export function matchingRuns(runs: readonly FoundRun[], filters: Filters): readonly FoundRun[] {
  const { q } = filters;
  const matching = runs.filter(({ head, body }) => matchesRun(head, body, filters));
  if (q === undefined) return matching;
  const searched = matcherOf(q);
  return matching.filter(({ body }) =>
    searched(
      [body.title, body.config.skill_spec ?? "", [...body.prompt].slice(0, SEARCHED_PROMPT).join("")].join("\n"),
    ),
  );
}

function matchesRun(head: RunHead, body: RunBody, filters: Filters): boolean {
  const { states, updatedAfter, metadata, ancestorRunId, artifactType } = filters;
  return (
    (states === undefined || states.includes(head.state)) &&
    isCreatedWithin(head.created_at, filters) &&
    (updatedAfter === undefined || head.updated_at > Date.parse(updatedAfter)) &&
    (ancestorRunId === undefined || body.ancestors.includes(ancestorRunId)) &&
    (artifactType === undefined || (head.artifact_types ?? []).includes(artifactType)) &&
    Object.entries(metadata ?? {}).every(([key, value]) => body.metadata?.[key] === value)
  );
}

function isCreatedWithin(createdAt: number, { createdAfter, createdBefore }: Filters): boolean {
  return (
    (createdAfter === undefined || createdAt > Date.parse(createdAfter)) &&
    (createdBefore === undefined || createdAt < Date.parse(createdBefore))
  );
}
