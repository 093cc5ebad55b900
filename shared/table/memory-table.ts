import { compareBytes, evaluateTransaction, formatKey, makeProjection } from "./evaluate.ts";
import {
  bounds,
  INDEXES,
  type Item,
  type Key,
  type Page,
  type Query,
  type Table,
  type TransactionWrite,
  type Write,
} from "./table.ts";

/** A table in memory with the conditions and limits of DynamoDB. It passes the same contract tests as the DynamoDB table. */
export function memoryTable(): Table & { readonly all: () => readonly Item[] } {
  const items = new Map<string, Item>();
  const read = (key: Key): Item | undefined => items.get(formatKey(key));

  async function transact(writes: readonly TransactionWrite[]): Promise<void> {
    for (const { key, item } of evaluateTransaction(writes, read)) {
      if (item === undefined) items.delete(formatKey(key));
      else items.set(formatKey(key), structuredClone(item));
    }
  }

  return {
    all: () => [...items.values()],
    get: async (key) => structuredClone(read(key)),
    async batchGet(keys) {
      if (new Set(keys.map(formatKey)).size > 100) throw new RangeError("a batch has at most 100 keys");
      return keys.map((key) => structuredClone(read(key)));
    },
    query: async (query) => select([...items.values()], query),
    write: async (write: Write) => transact([write]),
    transact,
  };
}

function select(items: readonly Item[], query: Query): Page {
  const names = query.index === undefined ? { pk: "pk", sk: "sk" } : INDEXES[query.index];
  const { low, high } = bounds(query);
  const sorted = items
    .filter((item) => item[names.pk] === query.pk && typeof item[names.sk] === "string")
    .filter((item) => {
      const key = String(item[names.sk]);
      const above = low === undefined || compareBytes(key, low.value) > 0 || (low.inclusive && key === low.value);
      const under = high === undefined || compareBytes(key, high.value) < 0 || (high.inclusive && key === high.value);
      return above && under;
    })
    .sort((a, b) => compareBytes(String(a[names.sk]), String(b[names.sk])));
  if (query.descending === true) sorted.reverse();
  const limit = query.limit ?? sorted.length + 1;
  const page = structuredClone(sorted.slice(0, limit));
  // DynamoDB, too, stops at the limit without checking whether more items follow.
  return {
    items: query.index === undefined ? page : page.map(makeProjection(query.index)),
    more: sorted.length >= limit,
  };
}
