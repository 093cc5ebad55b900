import type { Item } from "#shared/table/table.ts";

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
  /** True if there may be more after the last one. */
  readonly more: boolean;
}

/** Reads the index entries of runs, sorted by the order of its list. */
export type Source = (range: Range, limit: number, descending: boolean) => Promise<SourcePage>;

/** The attribute of an entry that has its position. */
export const KEY_OF = {
  updated_at: "updated_key",
  created_at: "created_key",
  title: "title_key",
  agent: "agent_key",
} as const;

/** The position of an entry in its order. */
export const positionOf = (entry: Item, { sortBy }: Order): string => String(entry[KEY_OF[sortBy]]);

/** Compares by the bytes of UTF-8, as DynamoDB does. */
export const comparePositions = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Compares two entries as the list sorts them. */
export function compareEntries(a: Item, b: Item, order: Order): number {
  const [left, right] = [positionOf(a, order), positionOf(b, order)];
  const halves = order.sortBy === "agent" ? left.charCodeAt(0) - right.charCodeAt(0) : 0;
  if (halves !== 0) return halves;
  const ascending = comparePositions(left, right);
  return order.descending ? -ascending : ascending;
}

/** The rest of a range after a position, in the direction of reading. */
export function rangeAfter({ from, before }: Range, position: string | undefined, descending: boolean): Range {
  const end = descending ? (from === undefined ? {} : { from }) : before === undefined ? {} : { before };
  const start = descending ? (before === undefined ? {} : { before }) : from === undefined ? {} : { from };
  if (position === undefined) return { ...end, ...start };
  return { ...end, ...(descending ? { before: position } : { after: position }) };
}
