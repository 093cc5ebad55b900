import { sortByText } from "#shared/arrays.ts";
import { INDEXES, type Item, type Query, type Table } from "./table.ts";

const { sk: POSITION } = INDEXES.gsi6;

/**
 * Reads a page of the entries of gsi6 that are due, of several shards, the longest due first. The next page begins `after` the position
 * of its last entry; with several entries at that position, some of them may be in neither page.
 */
export async function readShards(
  shards: readonly string[],
  { limit, ...range }: Pick<Query, "to" | "after"> & { readonly limit: number },
  table: Pick<Table, "query">,
): Promise<{ readonly items: readonly Item[]; readonly more: boolean }> {
  const pages = await Promise.all(shards.map((pk) => table.query({ index: "gsi6", pk, ...range, limit })));
  const entries = pages.flatMap((page) => page.items);
  const items = sortByText(entries, (entry) => String(entry[POSITION]));
  return { items: items.slice(0, limit), more: items.length > limit || pages.some(({ more }) => more) };
}
