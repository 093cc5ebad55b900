import { splitIntoBatches } from "#shared/arrays.ts";
import type { Item, Key, Table } from "./table.ts";

const MAX_KEYS_IN_BATCH = 100;

/** Reads any number of items, in the order of their keys; a missing item is undefined. */
export async function batchGetAll(
  keys: readonly Key[],
  table: Pick<Table, "batchGet">,
): Promise<readonly (Item | undefined)[]> {
  const batches = splitIntoBatches(keys, MAX_KEYS_IN_BATCH).map((batch) => table.batchGet(batch));
  return (await Promise.all(batches)).flat();
}
