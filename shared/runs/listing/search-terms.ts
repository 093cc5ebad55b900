import * as v from "valibot";
import { RunBody } from "#shared/records/run-body.ts";
import { executorOf, RunFacets } from "#shared/records/run-head.ts";
import { listTags, splitTags } from "#shared/runs/run-facets.ts";
import type { WordFilter } from "#shared/table/run-search.ts";
import type { Item } from "#shared/table/table.ts";
import { type Filters, searchedText } from "./filters.ts";
import { createWordFilters, listWords } from "./fuzzy-search.ts";

/**
 * The terms that a search index has of a run, and those that a search requires. A filter requires terms that every matching run
 * has.
 */

const EMPTY_ENVIRONMENT = "empty-environment";

const Types = v.fallback(v.array(v.string()), []);

type Name =
  | "ancestor"
  | "archived"
  | "artifact"
  | "creator"
  | "environment"
  | "executor"
  | "location"
  | "model"
  | "name"
  | "schedule"
  | "skill"
  | "source"
  | "tag"
  | "trigger";
type Value = string | readonly string[] | undefined;

const toTerms = (values: Partial<Readonly<Record<Name, Value>>>): readonly string[] =>
  Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => `${name}=${one}`),
  );

/** Lists the terms of a run's head. */
export function listHeadTerms({ p, artifact_types }: Item): readonly string[] {
  const parsed = v.safeParse(RunFacets, p);
  if (!parsed.success) return [];
  const { name, model, creator, source, location, schedule, trigger, ...facets } = parsed.output;
  const terms = toTerms({
    ...{ name, model, creator, source, location, schedule, trigger },
    executor: executorOf(parsed.output),
    environment: facets.environment ?? EMPTY_ENVIRONMENT,
    skill: [facets.skill, facets.skill_path].filter((one) => one !== undefined),
    tag: splitTags(facets.tags),
    archived: facets.archived === true ? "true" : undefined,
    artifact: v.parse(Types, artifact_types),
  });
  return [...new Set(terms)];
}

/** Lists the terms and the words of a run's body. */
export function listBodyTerms(item: Item): { readonly terms: readonly string[]; readonly words: readonly string[] } {
  const body = v.safeParse(RunBody, item);
  if (!body.success) return { terms: [], words: [] };
  return { terms: toTerms({ ancestor: body.output.ancestors }), words: listWords(searchedText(body.output)) };
}

/** Filters with one source at most. */
export type TermFilters = Omit<Filters, "source"> & { readonly source?: string | undefined };

/** Lists the terms of runs that match; states and times are no terms. */
export function listFilterTerms(filters: TermFilters): readonly string[] {
  return toTerms({
    ancestor: filters.ancestorRunId,
    archived: filters.archived === "true" ? "true" : undefined,
    artifact: filters.artifactType,
    creator: filters.creator,
    environment: filters.environmentId,
    executor: filters.executor,
    location: filters.executionLocation,
    model: filters.modelId,
    name: filters.name,
    schedule: filters.scheduleId,
    skill: filters.skillSpec,
    source: filters.source,
    tag: listTags(filters.metadata ?? {}),
    trigger: filters.triggerId,
  });
}

/** Creates a filter for each word that the runs have to contain. */
export const listFilterWords = ({ q }: Filters): readonly WordFilter[] => (q === undefined ? [] : createWordFilters(q));
