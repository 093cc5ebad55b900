import { measureBytes, refuseOverlap, refuseUnstorable } from "./limits.ts";
import {
  ConditionFailed,
  type Conditions,
  INDEXES,
  type IndexName,
  type Item,
  type Key,
  type Test,
  type TransactionWrite,
  type Value,
} from "./table.ts";

const MAX_WRITES = 100;
const MAX_TRANSACTION_BYTES = 4 * 1024 * 1024;

/** The item at a key after a transaction; undefined if there is none. */
export interface Outcome {
  readonly key: Key;
  readonly item: Item | undefined;
}

/**
 * Evaluates a transaction with the conditions of the table port and the limits of DynamoDB, without writing anything.
 * @throws ConditionFailed with the position of each write whose condition does not hold
 * @throws RangeError or TypeError if DynamoDB would reject the request
 */
export function evaluateTransaction(
  writes: readonly TransactionWrite[],
  read: (key: Key) => Item | undefined,
): Outcome[] {
  if (writes.length > MAX_WRITES) throw new RangeError(`a transaction has at most ${MAX_WRITES} writes`);
  if (new Set(writes.map((write) => formatKey(keyOf(write)))).size < writes.length) {
    throw new RangeError("a transaction names an item once");
  }
  const before = writes.map((write) => (needsItem(write) ? read(keyOf(write)) : undefined));
  for (const write of writes) if (write.kind === "update") refuseOverlap(write);
  const failed = writes.flatMap((write, position) => (holds(before[position], write.if) ? [] : [position]));
  if (failed.length > 0) throw new ConditionFailed(failed);
  const outcomes = writes.flatMap((write, position) =>
    write.kind === "check" ? [] : [{ key: keyOf(write), item: evaluateWrite(write, before[position]) }],
  );
  refuseLarge(outcomes);
  return outcomes;
}

/** Compares texts as DynamoDB does: by their bytes in UTF-8. */
export const compareBytes = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

/** Formats a key as text, for comparison. */
export const formatKey = ({ pk, sk }: Key): string => `${pk}\u0000${sk}`;

/** Projects an item to the attributes that an index contains. */
export function makeProjection(index: IndexName): (item: Item) => Item {
  const { pk, sk, carries } = INDEXES[index];
  const names = new Set(["pk", "sk", pk, sk, ...carries]);
  return (item) => ({
    ...Object.fromEntries(Object.entries(item).filter(([name]) => names.has(name))),
    pk: item.pk,
    sk: item.sk,
  });
}

/** The key of the item that a write is about. */
export const keyOf = (write: TransactionWrite): Key => (write.kind === "put" ? write.item : write.key);

/** Whether the outcome of a write depends on the item that is there. */
export const needsItem = (write: TransactionWrite): boolean =>
  write.kind === "update" || Object.keys(write.if ?? {}).length > 0;

function evaluateWrite(
  write: Exclude<TransactionWrite, { kind: "check" }>,
  before: Item | undefined,
): Item | undefined {
  if (write.kind === "put") return write.item;
  if (write.kind === "delete") return undefined;
  const changed: Record<string, Value> = { ...(before ?? write.key), ...write.set };
  for (const [name, amount] of Object.entries(write.add ?? {})) {
    const value = changed[name] ?? 0;
    if (typeof value !== "number") throw new TypeError(`cannot add to ${name}`);
    changed[name] = value + amount;
  }
  for (const name of write.remove ?? []) delete changed[name];
  return { ...changed, ...write.key };
}

function refuseLarge(outcomes: readonly Outcome[]): void {
  for (const { item } of outcomes) if (item !== undefined) refuseUnstorable(item);
  const bytes = outcomes.reduce((sum, { item }) => sum + measureBytes(item), 0);
  if (bytes > MAX_TRANSACTION_BYTES) throw new RangeError("a transaction has at most 4 MB");
}

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
  return typeof value === "string" && compareBytes(value, test.below) < 0;
}
