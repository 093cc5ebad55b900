import { isTerminal } from "#shared/records/run.ts";
import type { RunSearch } from "#shared/table/run-search.ts";
import { type Filters, toAutomationMetadata } from "./filters.ts";
import { readInHalves } from "./halves.ts";
import { KEY_OF, type Order, type Source } from "./order.ts";
import { timeBound } from "./run-index-store.ts";
import { listFilterTerms, listFilterWords, type TermFilters } from "./search-terms.ts";

/** Whether no index of the table holds the runs that match, and few others, in the order of the list. */
export function needsSearch({ sortBy }: Order, filters: Filters): boolean {
  const {
    states,
    creator,
    scheduleId,
    createdAfter,
    createdBefore,
    updatedAfter,
    archived,
    minCostUsd: _,
    ...others
  } = filters;
  const isByTime = sortBy === "updated_at" || sortBy === "created_at";
  const choices = [creator, scheduleId, states].filter((one) => one !== undefined).length;
  return (
    Object.values(others).some((one) => one !== undefined) ||
    archived === "true" ||
    choices > 1 ||
    states?.some(isTerminal) === true ||
    (!isByTime && (creator ?? scheduleId ?? createdAfter ?? updatedAfter) !== undefined) ||
    (sortBy !== "created_at" && createdBefore !== undefined) ||
    (sortBy === "created_at" && updatedAfter !== undefined)
  );
}

/**
 * One source for each scope and each of the values that a filter may have. Its entries match all filters that the search applies.
 */
export function searchSources(
  scopes: readonly string[],
  order: Order,
  filters: Filters,
  search: RunSearch,
): readonly Source[] {
  const words = listFilterWords(filters);
  // A text without words is found nowhere.
  if (filters.q !== undefined && words.length === 0) return [];
  const { createdAfter, createdBefore, updatedAfter, states } = filters;
  const toBound = (time: string | undefined, later: number, sortBy: "created_at" | "updated_at") =>
    time === undefined ? undefined : timeBound(Math.max(0, Date.parse(time) + later), { sortBy, descending: false });
  return listTermFilters(filters).flatMap((one) => {
    const find = search.prepare({
      ...{ sortKey: KEY_OF[order.sortBy], terms: listFilterTerms(one), words, states },
      createdFrom: toBound(createdAfter, 1, "created_at"),
      createdBefore: toBound(createdBefore, 0, "created_at"),
      updatedFrom: toBound(updatedAfter, 1, "updated_at"),
    });
    return scopes.map((scope) => {
      const source: Source = (range, limit, descending) => find({ ...range, scope, limit, descending });
      return order.sortBy === "agent" ? readInHalves(source) : source;
    });
  });
}

/** A search requires all of its terms, so that filters of which a run may have one of several terms become several searches. */
function listTermFilters(filters: Filters): readonly TermFilters[] {
  const { source, automationId, metadata } = filters;
  const automations: readonly Filters[] =
    automationId === undefined
      ? [{}]
      : [{ triggerId: automationId }, { metadata: { ...metadata, ...toAutomationMetadata(filters) } }];
  const sources = new Set([source].flat());
  return [...sources].flatMap((one) => automations.map((more) => ({ ...filters, ...more, source: one })));
}
