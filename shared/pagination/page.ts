import * as v from "valibot";
import { one } from "#shared/http/request.ts";
import type { PageInfo } from "#shared/wire/list.ts";
import { textOfBytes } from "#shared/wire/primitives.ts";
import type { Cursors } from "./cursor.ts";

export const MAX_PAGE_ITEMS = 500;
/** Bytes of the items of one response; the limit of a response is 4 MiB. */
export const MAX_PAGE_BYTES = 4_000_000;

const Limit = v.pipe(
  v.string(),
  v.regex(/^\d{1,9}$/, "must be a whole number"),
  v.transform(Number),
  v.minValue(1, "must be at least 1"),
  v.maxValue(MAX_PAGE_ITEMS, `must be at most ${MAX_PAGE_ITEMS}`),
);

/** The query of lists that return everything up to a limit. */
export const pageQuery = {
  /** The maximum number of items. By default, up to 500 items or 4 MB. */
  limit: one(Limit),
  /** The `page_info.next_cursor` of the previous page. */
  cursor: one(textOfBytes(4096)),
};

export interface PageQuery {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
}

interface PageOptions<T> {
  /** Identifies the list: a cursor is valid for the same list only. */
  readonly binding: unknown;
  /** The item's place in the list: the items are in the order of these texts, and no two are equal. */
  readonly placeOf: (item: T) => string;
  /** Returns the first items that fit into one response, at least one. @default as many as fit into 4 MB */
  readonly cutToFit?: (items: readonly T[]) => T[];
}

/** Returns as many of a list's items as one response can contain; `page_info` only if requested or needed. */
export async function paginate<T>(
  all: readonly T[],
  query: PageQuery,
  { binding, placeOf, cutToFit = (items) => fitting(items) }: PageOptions<T>,
  cursors: Cursors,
): Promise<{ items: T[]; page: { page_info?: PageInfo } }> {
  const after = query.cursor === undefined ? undefined : await cursors.read(binding, query.cursor);
  const rest = after === undefined ? all : all.filter((item) => placeOf(item) > after);
  const items = cutToFit(rest.slice(0, query.limit ?? MAX_PAGE_ITEMS));
  const last = items.at(-1);
  const more = items.length < rest.length && last !== undefined;
  if (!more && query.limit === undefined && query.cursor === undefined) return { items, page: {} };
  const next = more ? { next_cursor: await cursors.write(binding, placeOf(last)) } : {};
  return { items, page: { page_info: { has_next_page: more, ...next } } };
}

/** The first items that fit into one response, or into `most` bytes of it; at least one. */
export function fitting<T>(items: readonly T[], most = MAX_PAGE_BYTES): T[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    return bytes > most && index > 0;
  });
  return items.slice(0, end < 0 ? items.length : end);
}
