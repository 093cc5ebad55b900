import { isTerminal } from "#shared/records/run.ts";
import { readHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { RunState } from "#shared/wire/run.ts";
import type { Filters } from "./filters.ts";
import { readInHalves } from "./halves.ts";
import { parseNamedRun } from "./named-run.ts";
import {
  comparePositions,
  type Order,
  positionOf,
  type Range,
  rangeAfter,
  type SortBy,
  type Source,
  type SourcePage,
} from "./order.ts";
import {
  readDescendants,
  readHeadEntries,
  runIndexStore,
  timeBound,
  toGroups,
  toHeadEntry,
} from "./run-index-store.ts";
import { needsSearch, searchSources } from "./search-sources.ts";
import { listMatchingStates } from "./task-status.ts";

type Ports = Pick<RunPorts, "runs" | "search" | "table">;

/** Runs whose heads are read and sorted in memory where no index has them in the order; a larger number is read from the scope's index. */
const MAX_IN_MEMORY = 1_000;

interface ChosenSources {
  readonly sources: readonly Source[];
  /** The filters that the sources do not apply. */
  readonly open: Filters;
}

/** Chooses the fewest and smallest sources that together hold every run that can match: see design/listing.md. */
export async function chooseSources(
  scopes: readonly string[],
  order: Order,
  filters: Filters,
  ports: Ports,
): Promise<ChosenSources> {
  const named = await namedSource(scopes, order, filters, ports);
  if (named !== undefined) return { sources: [named], open: { ...filters, q: undefined } };
  const descendants = await descendantSource(order, filters, ports);
  if (descendants !== undefined) return { sources: [descendants], open: { ...filters, ancestorRunId: undefined } };
  const { taskStatuses: _, activeAncestors: ancestors = new Set(), ...others } = filters;
  const own = { ...others, states: listMatchingStates(filters) };
  const sources = own.states?.length === 0 ? [] : await stateSources(scopes, order, own, ports);
  const ofAncestors = ancestors.size === 0 ? undefined : await sortInMemory(toPage([...ancestors]), order, ports);
  return { sources: ofAncestors === undefined ? sources : [...sources, ofAncestors], open: filters };
}

/** The sources of the runs whose own states match. */
async function stateSources(
  scopes: readonly string[],
  order: Order,
  filters: Filters,
  ports: Ports,
): Promise<readonly Source[]> {
  return ports.search !== undefined && needsSearch(order, filters)
    ? searchSources(scopes, order, filters, ports.search)
    : scopeSources(scopes, order, filters, ports);
}

/** The run whose id or URL is searched for; undefined if there is none in these scopes, and then the text is searched for. */
async function namedSource(
  scopes: readonly string[],
  order: Order,
  { q }: Filters,
  ports: Ports,
): Promise<Source | undefined> {
  const runId = parseNamedRun(q);
  const head = runId === undefined ? undefined : await readHead(runId, ports.table);
  return head !== undefined && scopes.includes(head.scope)
    ? sortInMemory(toPage([head.run_id]), order, ports)
    : undefined;
}

const toPage = (runIds: readonly string[]): SourcePage => ({
  items: runIds.map(toHeadEntry),
  more: false,
});

async function scopeSources(
  scopes: readonly string[],
  order: Order,
  filters: Filters,
  ports: Ports,
): Promise<readonly Source[]> {
  const index = runIndexStore(ports.runs);
  const { sortBy } = order;
  const { states = RunState.options } = filters;
  const isOnlyActive = !states.some(isTerminal);
  const groups = chooseGroups(scopes, filters);
  const byCreation = isOnlyActive ? index.activeByCreation(scopes) : index.byCreation(groups ?? scopes);
  if (sortBy === "created_at") return byCreation;
  if (isOnlyActive && sortBy === "updated_at") return index.activeByUpdate(scopes);
  if (isOnlyActive || isFewBy(sortBy, filters)) {
    const few = await sortInMemory(await readNewest(byCreation, filters), order, ports);
    if (few !== undefined) return [few];
  }
  if (sortBy === "title") return index.byTitle(scopes);
  if (sortBy === "agent") return index.byAgent(scopes).map(readInHalves);
  const active = states.every(isTerminal) ? [] : index.activeByUpdate(scopes);
  return [...active, ...(groups === undefined ? index.endedByUpdate(scopes) : index.endedOfGroups(groups))];
}

/** Whether times of creation may leave few runs, for which an index in another order would have to be searched. */
const isFewBy = (sortBy: SortBy, { createdAfter, createdBefore }: Filters): boolean =>
  createdBefore !== undefined || (sortBy !== "updated_at" && createdAfter !== undefined);

/** Reads as many entries of sources by creation as are sorted in memory. */
async function readNewest(sources: readonly Source[], filters: Filters): Promise<SourcePage> {
  const range = toRange({ sortBy: "created_at", descending: true }, filters, undefined);
  const pages = await Promise.all(sources.map((source) => source(range, MAX_IN_MEMORY, true)));
  return { items: pages.flatMap(({ items }) => items), more: pages.some(({ more }) => more) };
}

/** The descendants of the run that the filters name; undefined if they name none, or it has too many. */
async function descendantSource(order: Order, { ancestorRunId }: Filters, ports: Ports): Promise<Source | undefined> {
  if (ancestorRunId === undefined) return undefined;
  const descendants = readDescendants(ancestorRunId, ports.runs);
  if (order.sortBy === "created_at") return descendants;
  return sortInMemory(await descendants({}, MAX_IN_MEMORY, false), order, ports);
}

/** The smaller group that the filters name, if they name one. */
function chooseGroups(scopes: readonly string[], { scheduleId, creator }: Filters): readonly string[] | undefined {
  if (scheduleId !== undefined) return toGroups(scopes, "schedule", scheduleId);
  return creator === undefined ? undefined : toGroups(scopes, "creator", creator);
}

/** The heads of few runs, in any order; undefined if they are too many. */
async function sortInMemory({ items, more }: SourcePage, order: Order, { table }: Ports): Promise<Source | undefined> {
  if (more) return undefined;
  const heads = await readHeadEntries(items, table);
  const source: Source = async ({ from, after, before }, limit, descending) => {
    const inside = heads.filter((head) => {
      const position = positionOf(head, order);
      const isAbove = from === undefined || comparePositions(position, from) >= 0;
      const isAfter = after === undefined || comparePositions(position, after) > 0;
      return isAbove && isAfter && (before === undefined || comparePositions(position, before) < 0);
    });
    const found = inside.sort(
      (a, b) => (descending ? -1 : 1) * comparePositions(positionOf(a, order), positionOf(b, order)),
    );
    return { items: found.slice(0, limit), more: found.length > limit };
  };
  return order.sortBy === "agent" ? readInHalves(source) : source;
}

/** The range of positions that time filters leave, after `after` in the direction of reading. */
export function toRange(order: Order, filters: Filters, after: string | undefined): Range {
  const times = (...bounds: readonly (string | undefined)[]) =>
    bounds.flatMap((bound) => (bound === undefined ? [] : [Math.max(0, Date.parse(bound))]));
  const { createdAfter, createdBefore, updatedAfter } = filters;
  const { sortBy, descending } = order;
  if (sortBy === "title" || sortBy === "agent") return rangeAfter({}, after, descending);
  // A run is updated when it is created, and later.
  const low = times(createdAfter, ...(sortBy === "updated_at" ? [updatedAfter] : []));
  const high = times(sortBy === "created_at" ? createdBefore : undefined);
  const bounds = {
    ...(low.length === 0 ? {} : { from: timeBound(Math.max(...low), order) }),
    ...(high.length === 0 ? {} : { before: timeBound(Math.max(...high) + 1, order) }),
  };
  return rangeAfter(bounds, after, descending);
}
