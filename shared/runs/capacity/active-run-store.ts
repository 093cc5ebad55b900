import { sortByText } from "#shared/arrays.ts";
import { activeParts, type Owner, SCOPE_SHARDS, scopeKey } from "#shared/table/keys.ts";
import type { Item, Table } from "#shared/table/table.ts";

/** Reads the index entries of an owner's active runs, those that have not changed for longest first. */
export async function readActiveEntries(owner: Owner, table: Pick<Table, "query">): Promise<readonly Item[]> {
  const shards = Array.from({ length: SCOPE_SHARDS }, (_, shard) => activeParts(scopeKey(owner, shard))).flat();
  const pages = await Promise.all(shards.map((pk) => table.query({ index: "gsi1", pk })));
  const entries = pages.flatMap(({ items }) => items);
  return sortByText(entries, (entry) => String(entry["updated_key"]));
}
