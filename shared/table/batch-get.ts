import type { Item, Key, Table } from "./table.ts";

const MAX_KEYS_IN_BATCH = 100;

/** Reads any number of items, in the order of their keys; a missing item is undefined. */
export async function batchGetAll(
  keys: readonly Key[],
  table: Pick<Table, "batchGet">,
): Promise<readonly (Item | undefined)[]> {
  const batches = Array.from({ length: Math.ceil(keys.length / MAX_KEYS_IN_BATCH) }, (_, batch) =>
    table.batchGet(keys.slice(batch * MAX_KEYS_IN_BATCH, (batch + 1) * MAX_KEYS_IN_BATCH)),
  );
  return (await Promise.all(batches)).flat();
}
