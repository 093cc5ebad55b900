import type { Item, Query, Table } from "./table.ts";

/** Items that one query reads: up to 32 KB each. */
const PAGE = 100;

/**
 * Reads all items of a query, page by page. `position` is the attribute that the query is in the order of, and in which no two
 * items are equal. Items that were read may be deleted between pages.
 */
export async function* readPages(
  query: Query,
  position: string,
  table: Pick<Table, "query">,
): AsyncGenerator<readonly Item[]> {
  for (let from = query; ; ) {
    const { items, more } = await table.query({ ...from, limit: PAGE });
    const last = items.at(-1);
    if (last !== undefined) yield items;
    if (!more || last === undefined) return;
    from = { ...query, after: String(last[position]) };
  }
}
