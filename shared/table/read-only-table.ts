import { batchGetAll } from "./batch-get.ts";
import { evaluateTransaction, formatKey, keyOf, needsItem } from "./evaluate.ts";
import type { Table, TransactionWrite } from "./table.ts";

/**
 * A table with the items of `table` that is never written to. A write fails as it would at this moment, by its conditions, and
 * otherwise does nothing.
 */
export function readOnlyTable(table: Table): Table {
  const evaluate = async (writes: readonly TransactionWrite[]): Promise<void> => {
    const keys = writes.filter(needsItem).map(keyOf);
    const items = await batchGetAll(keys, table);
    const found = new Map(keys.map((key, position) => [formatKey(key), items[position]]));
    evaluateTransaction(writes, (key) => found.get(formatKey(key)));
  };
  return {
    get: (key) => table.get(key),
    batchGet: (keys) => table.batchGet(keys),
    query: (query) => table.query(query),
    write: (write) => evaluate([write]),
    transact: evaluate,
  };
}
