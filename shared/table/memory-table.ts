import { refuseOverlap, refuseUnstorable, sizeOf } from "./limits.ts";
import {
  bounds,
  ConditionFailed,
  type Conditions,
  INDEXES,
  type IndexName,
  type Item,
  type Key,
  type Page,
  type Query,
  type Table,
  type Test,
  type TransactionWrite,
  type Value,
  type Write,
} from "./table.ts";

const TRANSACTION_BYTES = 4 * 1024 * 1024;

/** The table in memory, for tests: passes the same contract suite as the DynamoDB one, and knows DynamoDB's limits. */
export function memoryTable(): Table & { readonly all: () => readonly Item[] } {
  const items = new Map<string, Item>();
  const at = (key: Key) => items.get(id(key));

  /** The item that the write leaves behind, or undefined where it leaves none. */
  function outcome(write: TransactionWrite): Item | undefined {
    if (write.kind === "put") return structuredClone(write.item);
    if (write.kind === "check") return at(write.key);
    if (write.kind === "update") {
      const changed: Record<string, Value> = { ...(at(write.key) ?? write.key), ...structuredClone(write.set ?? {}) };
      for (const [name, amount] of Object.entries(write.add ?? {})) {
        const before = changed[name] ?? 0;
        if (typeof before !== "number") throw new TypeError(`cannot add to ${name}`);
        changed[name] = before + amount;
      }
      for (const name of write.remove ?? []) delete changed[name];
      return { ...changed, ...write.key };
    }
    return undefined;
  }

  async function transact(writes: readonly TransactionWrite[]): Promise<void> {
    if (writes.length > 100) throw new RangeError("a transaction has at most 100 writes");
    if (new Set(writes.map((write) => id(keyOf(write)))).size < writes.length) {
      throw new RangeError("a transaction names an item once");
    }
    const failed = writes.flatMap((write, position) => (holds(at(keyOf(write)), write.if) ? [] : [position]));
    for (const write of writes) if (write.kind === "update") refuseOverlap(write);
    if (failed.length > 0) throw new ConditionFailed(failed);
    const outcomes = writes.map((write) => [id(keyOf(write)), outcome(write)] as const);
    for (const [, item] of outcomes) if (item !== undefined) refuseUnstorable(item);
    const bytes = outcomes.reduce((sum, [, item]) => sum + (item === undefined ? 0 : sizeOf(item)), 0);
    if (bytes > TRANSACTION_BYTES) throw new RangeError("a transaction has at most 4 MB");
    for (const [key, item] of outcomes) {
      if (item === undefined) items.delete(key);
      else items.set(key, item);
    }
  }

  return {
    all: () => [...items.values()],
    get: async (key) => structuredClone(at(key)),
    async batchGet(keys) {
      if (new Set(keys.map(id)).size > 100) throw new RangeError("a batch has at most 100 keys");
      return keys.map((key) => structuredClone(at(key)));
    },
    query: async (query) => select([...items.values()], query),
    write: async (write: Write) => transact([write]),
    transact,
  };
}

const id = (key: Key) => `${key.pk}\u0000${key.sk}`;
const keyOf = (write: TransactionWrite): Key => (write.kind === "put" ? write.item : write.key);

function select(items: readonly Item[], query: Query): Page {
  const names = query.index === undefined ? { pk: "pk", sk: "sk" } : INDEXES[query.index];
  const { low, high } = bounds(query);
  const sorted = items
    .filter((item) => item[names.pk] === query.pk && typeof item[names.sk] === "string")
    .filter((item) => {
      const key = String(item[names.sk]);
      const above = low === undefined || compare(key, low.value) > 0 || (low.inclusive && key === low.value);
      const under = high === undefined || compare(key, high.value) < 0 || (high.inclusive && key === high.value);
      return above && under;
    })
    .sort((a, b) => compare(String(a[names.sk]), String(b[names.sk])));
  if (query.descending === true) sorted.reverse();
  const limit = query.limit ?? sorted.length + 1;
  const page = structuredClone(sorted.slice(0, limit));
  // Like DynamoDB, which stops at the limit without looking whether anything follows.
  return { items: query.index === undefined ? page : page.map(projected(query.index)), more: sorted.length >= limit };
}

/** What an index carries of an item. */
function projected(index: IndexName): (item: Item) => Item {
  const { pk, sk, carries } = INDEXES[index];
  const names = new Set(["pk", "sk", pk, sk, ...carries]);
  return (item) => ({
    ...Object.fromEntries(Object.entries(item).filter(([name]) => names.has(name))),
    pk: item.pk,
    sk: item.sk,
  });
}

/** Orders as DynamoDB does: by the bytes of UTF-8. */
const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

function holds(item: Item | undefined, conditions: Conditions | undefined): boolean {
  return Object.entries(conditions ?? {}).every(([name, test]) => passes(item?.[name], test, item));
}

function passes(value: Value | undefined, test: Test, item: Item | undefined): boolean {
  if ("exists" in test) return (value !== undefined) === test.exists;
  if ("absentOr" in test) return value === undefined || passes(value, test.absentOr, item);
  if (value === undefined) return false;
  if ("eq" in test) return value === test.eq;
  if ("in" in test) return typeof value === "string" && test.in.includes(value);
  if ("atLeast" in test) return typeof value === "number" && value >= test.atLeast;
  if ("atLeastAttribute" in test) {
    const limit = item?.[test.atLeastAttribute] ?? test.otherwise;
    return typeof value === "number" && typeof limit === "number" && value >= limit;
  }
  if ("belowAttribute" in test) {
    const limit = item?.[test.belowAttribute] ?? test.otherwise;
    return typeof value === "number" && typeof limit === "number" && value < limit;
  }
  if (typeof test.below === "number") return typeof value === "number" && value < test.below;
  return typeof value === "string" && compare(value, test.below) < 0;
}
