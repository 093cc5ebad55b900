import { sortableTime } from "#shared/table/keys.ts";
import type { IndexName, Item } from "#shared/table/table.ts";
import type { Filters } from "./list-filters.ts";
import type { RunPorts } from "./ports.ts";

export type SortBy = "updated_at" | "created_at" | "title" | "agent";

export interface Order {
  readonly sortBy: SortBy;
  readonly descending: boolean;
}

export interface Entries {
  readonly entries: readonly Item[];
  /** True where there may be more behind the last one. */
  readonly rest: boolean;
}

const INDEX_OF = { updated_at: "gsi1", created_at: "gsi2", title: "gsi3", agent: "gsi4" } as const satisfies Record<
  SortBy,
  IndexName
>;
const KEY_OF = {
  updated_at: "updated_key",
  created_at: "created_key",
  title: "title_key",
  agent: "agent_key",
} as const;

/** The position of an entry in its order. */
export const positionOf = (entry: Item, { sortBy }: Order): string => String(entry[KEY_OF[sortBy]]);

/** The next entries of all scopes behind `after`, merged in their order. */
export async function nextEntries(
  scopes: readonly string[],
  order: Order,
  filters: Filters,
  after: string | undefined,
  amount: number,
  { runs }: Pick<RunPorts, "runs">,
): Promise<Entries> {
  const pages = await Promise.all(scopes.map((scope) => readScope(scope, order, filters, after, amount, runs)));
  const merged = pages.flatMap(({ items }) => items).sort((a, b) => inOrder(a, b, order));
  // Behind the first last entry of a scope that was cut off, another of that scope could come: the merge stops there.
  const [bound] = pages
    .flatMap(({ items, more }) => (more ? items.slice(-1) : []))
    .sort((a, b) => inOrder(a, b, order));
  const entries = bound === undefined ? merged : merged.filter((item) => inOrder(item, bound, order) <= 0);
  return { entries, rest: pages.some(({ more }) => more) };
}

type Runs = RunPorts["runs"];
type ScopePage = { readonly items: readonly Item[]; readonly more: boolean };

async function readScope(
  scope: string,
  order: Order,
  filters: Filters,
  after: string | undefined,
  limit: number,
  runs: Runs,
): Promise<ScopePage> {
  const base = { index: INDEX_OF[order.sortBy], pk: scope, descending: order.descending };
  if (order.sortBy === "agent") return readAgents(base, order, after, limit, runs);
  return runs.query({ ...base, ...within(order, filters, after), limit });
}

/** The halves of the agent order come one after the other in both directions: runs without a skill last. */
async function readAgents(
  base: { readonly index: IndexName; readonly pk: string; readonly descending: boolean },
  order: Order,
  after: string | undefined,
  limit: number,
  runs: Runs,
): Promise<ScopePage> {
  const past = after === undefined ? {} : order.descending ? { before: after } : { after };
  const isInFirst = after === undefined || after.startsWith("0#");
  const first = isInFirst ? await runs.query({ ...base, prefix: "0#", ...past, limit }) : { items: [], more: false };
  if (first.more || first.items.length === limit) return { items: first.items, more: true };
  const second = await runs.query({
    ...base,
    prefix: "1#",
    ...(isInFirst ? {} : past),
    limit: limit - first.items.length,
  });
  return { items: [...first.items, ...second.items], more: second.more };
}

/** The range of sort keys that time filters leave, behind `after` in the direction of reading. */
function within({ sortBy, descending }: Order, filters: Filters, after: string | undefined) {
  const low =
    sortBy === "created_at"
      ? idBound(filters.createdAfter)
      : sortBy === "updated_at"
        ? updateBound(filters)
        : undefined;
  const high = sortBy === "created_at" ? idBound(filters.createdBefore, 1) : undefined;
  return {
    ...(descending || after === undefined ? (low === undefined ? {} : { from: low }) : { after }),
    ...(descending && after !== undefined ? { before: after } : high === undefined ? {} : { before: high }),
  };
}

/** The least id of the millisecond of `time`: a bound that lets too much through rather than too little. */
function idBound(time: string | undefined, laterMs = 0): string | undefined {
  if (time === undefined) return undefined;
  const hex = Math.max(0, Date.parse(time) + laterMs)
    .toString(16)
    .padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}`;
}

const updateBound = ({ updatedAfter }: Filters): string | undefined =>
  updatedAfter === undefined ? undefined : sortableTime(Math.max(0, Date.parse(updatedAfter)));

function inOrder(a: Item, b: Item, order: Order): number {
  const [left, right] = [positionOf(a, order), positionOf(b, order)];
  const halves = order.sortBy === "agent" ? left.charCodeAt(0) - right.charCodeAt(0) : 0;
  if (halves !== 0) return halves;
  const ascending = Buffer.compare(Buffer.from(left), Buffer.from(right));
  return order.descending ? -ascending : ascending;
}
