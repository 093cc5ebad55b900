import { isTerminal } from "#shared/records/run.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { activePart, endedPart, groupKey, keys, sortableTime } from "#shared/table/keys.ts";
import type { IndexName, Item } from "#shared/table/table.ts";
import { RunState } from "#shared/wire/run.ts";
import { type Filters, runIdOf } from "./filters.ts";

export type SortBy = "updated_at" | "created_at" | "title" | "agent";

export interface Order {
  readonly sortBy: SortBy;
  readonly descending: boolean;
}

/** Bounds of positions: at most one lower one and `before`, which is exclusive as `after` is. */
export interface Range {
  readonly from?: string;
  readonly after?: string;
  readonly before?: string;
}

export interface SourcePage {
  readonly items: readonly Item[];
  /** True where there may be more behind the last one. */
  readonly more: boolean;
}

/** Entries of runs, sorted by the one order of its list. */
export type Source = (range: Range, limit: number, descending: boolean) => Promise<SourcePage>;

type Ports = Pick<RunPorts, "runs" | "table">;

/** Runs whose heads are read and sorted here where no index has them in the order; more of them are looked for in a scope. */
const MAX_HELD = 1_000;
const KEYS_A_BATCH = 100;

const KEY_OF = {
  updated_at: "updated_key",
  created_at: "created_key",
  title: "title_key",
  agent: "agent_key",
} as const;

/** The position of an entry in its order. */
export const positionOf = (entry: Item, { sortBy }: Order): string => String(entry[KEY_OF[sortBy]]);

/** Sorts as the list does; by the bytes of UTF-8, as DynamoDB. */
export function inOrder(a: Item, b: Item, order: Order): number {
  const [left, right] = [positionOf(a, order), positionOf(b, order)];
  const halves = order.sortBy === "agent" ? left.charCodeAt(0) - right.charCodeAt(0) : 0;
  if (halves !== 0) return halves;
  const ascending = compare(left, right);
  return order.descending ? -ascending : ascending;
}

export interface Sources {
  readonly sources: readonly Source[];
  /** The filters that the sources leave to be looked at. */
  readonly open: Filters;
}

/** The fewest and smallest sources that together hold every run that can match: see docs/listing.md. */
export async function sourcesOf(
  scopes: readonly string[],
  order: Order,
  filters: Filters,
  ports: Ports,
): Promise<Sources> {
  const family = await familyOf(order, filters, ports);
  if (family !== undefined) return { sources: [family], open: { ...filters, ancestorRunId: undefined } };
  return { sources: await scopeSources(scopes, order, filters, ports), open: filters };
}

async function scopeSources(
  scopes: readonly string[],
  order: Order,
  filters: Filters,
  ports: Ports,
): Promise<readonly Source[]> {
  const { query } = ports.runs;
  const index = (name: IndexName, pks: readonly string[]) =>
    pks.map(
      (pk): Source =>
        (range, limit, descending) =>
          query({ index: name, pk, ...range, limit, descending }),
    );
  const { sortBy } = order;
  const { states = RunState.options } = filters;
  const isOnlyActive = !states.some(isTerminal);
  const groups = groupsOf(scopes, filters);
  const byCreation = isOnlyActive ? index("gsi5", scopes) : index("gsi2", groups ?? scopes);
  if (sortBy === "created_at") return byCreation;
  if (isOnlyActive && sortBy === "updated_at") return index("gsi1", scopes.map(activePart));
  if (isOnlyActive || isFewBy(sortBy, filters)) {
    const few = await held(await firstOf(byCreation, filters), order, ports);
    if (few !== undefined) return [few];
  }
  if (sortBy === "title") return index("gsi3", scopes);
  if (sortBy === "agent") return index("gsi4", scopes).map(inHalves);
  const active = states.every(isTerminal) ? [] : index("gsi1", scopes.map(activePart));
  return [...active, ...(groups === undefined ? index("gsi1", scopes.map(endedPart)) : index("gsi7", groups))];
}

/** Whether times of creation may leave few runs, which an index in another order would have to be searched for. */
const isFewBy = (sortBy: SortBy, { createdAfter, createdBefore }: Filters): boolean =>
  createdBefore !== undefined || (sortBy !== "updated_at" && createdAfter !== undefined);

/** Of sources by creation, as many as are held. */
async function firstOf(sources: readonly Source[], filters: Filters): Promise<SourcePage> {
  const range = rangeOf({ sortBy: "created_at", descending: true }, filters, undefined);
  const pages = await Promise.all(sources.map((source) => source(range, MAX_HELD, true)));
  return { items: pages.flatMap(({ items }) => items), more: pages.some(({ more }) => more) };
}

/** The descendants of the run that the filters name; undefined where they name none, or it has too many. */
async function familyOf(order: Order, { ancestorRunId }: Filters, ports: Ports): Promise<Source | undefined> {
  if (ancestorRunId === undefined) return undefined;
  const descendants = descendantsOf(ancestorRunId, ports);
  return order.sortBy === "created_at" ? descendants : held(await descendants({}, MAX_HELD, false), order, ports);
}

/** The smaller group that the filters name, if they name one. */
function groupsOf(scopes: readonly string[], { scheduleId, creator }: Filters): readonly string[] | undefined {
  if (scheduleId !== undefined) return scopes.map((scope) => groupKey(scope, "schedule", scheduleId));
  return creator === undefined ? undefined : scopes.map((scope) => groupKey(scope, "creator", creator));
}

/** Entries of the descendants in the order of their creation: they tell no more than who they are. */
function descendantsOf(ancestor: string, { runs }: Ports): Source {
  const { pk, sk: prefix } = keys.descendant(ancestor, "");
  const bound = (position: string | undefined) => (position === undefined ? undefined : `${prefix}${position}`);
  return async ({ from, after, before }, limit, descending) => {
    const upper = bound(before) ?? `${prefix}~`;
    const lower = after === undefined ? { from: bound(from) ?? prefix } : { after: `${prefix}${after}` };
    const { items, more } = await runs.query({ pk, ...lower, before: upper, limit, descending });
    const entries = items.map(({ sk }) => {
      const run = sk.slice(prefix.length);
      return { ...keys.head(run), created_key: run };
    });
    return { items: entries, more };
  };
}

/** The heads of few runs, in any order; undefined where they are too many. */
async function held({ items, more }: SourcePage, order: Order, { table }: Ports): Promise<Source | undefined> {
  if (more) return undefined;
  const ids = items.map((item) => keys.head(runIdOf(item)));
  const batches = Array.from({ length: Math.ceil(ids.length / KEYS_A_BATCH) }, (_, batch) =>
    table.batchGet(ids.slice(batch * KEYS_A_BATCH, (batch + 1) * KEYS_A_BATCH)),
  );
  const heads = (await Promise.all(batches)).flat().filter((head) => head !== undefined);
  const source: Source = async ({ from, after, before }, limit, descending) => {
    const inside = heads.filter((head) => {
      const position = positionOf(head, order);
      const isAbove = from === undefined || compare(position, from) >= 0;
      const isBehind = after === undefined || compare(position, after) > 0;
      return isAbove && isBehind && (before === undefined || compare(position, before) < 0);
    });
    const found = inside.sort((a, b) => (descending ? -1 : 1) * compare(positionOf(a, order), positionOf(b, order)));
    return { items: found.slice(0, limit), more: found.length > limit };
  };
  return order.sortBy === "agent" ? inHalves(source) : source;
}

/** The halves of the agent order come one after the other in both directions: runs without a skill last. */
function inHalves(source: Source): Source {
  const halves = [
    { from: "0#", before: "1#" },
    { from: "1#", before: "2#" },
  ];
  return async ({ after, before }, limit, descending) => {
    const start = descending ? before : after;
    const items: Item[] = [];
    for (const half of halves) {
      if (start !== undefined && start >= half.before) continue;
      if (items.length === limit) return { items, more: true };
      const isInside = start !== undefined && start >= half.from;
      const page = await source(
        behind(half, isInside ? start : undefined, descending),
        limit - items.length,
        descending,
      );
      items.push(...page.items);
      if (page.more) return { items, more: true };
    }
    return { items, more: false };
  };
}

/** What lies behind a position, in the direction of reading. */
function past(position: string | undefined, descending: boolean): Range {
  if (position === undefined) return {};
  return descending ? { before: position } : { after: position };
}

/** The range of positions that time filters leave, behind `after` in the direction of reading. */
export function rangeOf(order: Order, filters: Filters, after: string | undefined): Range {
  const times = (...bounds: readonly (string | undefined)[]) =>
    bounds.flatMap((bound) => (bound === undefined ? [] : [Math.max(0, Date.parse(bound))]));
  const { createdAfter, createdBefore, updatedAfter } = filters;
  const { sortBy, descending } = order;
  if (sortBy === "title" || sortBy === "agent") return behind({}, after, descending);
  // A run is updated when it is created, and later.
  const low = times(createdAfter, ...(sortBy === "updated_at" ? [updatedAfter] : []));
  const high = times(sortBy === "created_at" ? createdBefore : undefined);
  const bounds = {
    ...(low.length === 0 ? {} : { from: timeBound(Math.max(...low), order) }),
    ...(high.length === 0 ? {} : { before: timeBound(Math.max(...high) + 1, order) }),
  };
  return behind(bounds, after, descending);
}

/** The rest of a range behind a position, in the direction of reading. */
export function behind({ from, before }: Range, position: string | undefined, descending: boolean): Range {
  const end = descending ? (from === undefined ? {} : { from }) : before === undefined ? {} : { before };
  const start = descending ? (before === undefined ? {} : { before }) : from === undefined ? {} : { from };
  return { ...end, ...(position === undefined ? start : past(position, descending)) };
}

/** The least position of a time in milliseconds, in the orders by time. */
export function timeBound(time: number, { sortBy }: Order): string {
  if (sortBy === "updated_at") return sortableTime(time);
  const hex = time.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}`;
}

/** The time of a position, in the orders by time. */
export const timeOf = (position: string, { sortBy }: Order): number =>
  sortBy === "updated_at" ? Number(position.slice(0, 13)) : Number.parseInt(position.replace("-", "").slice(0, 12), 16);

const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
