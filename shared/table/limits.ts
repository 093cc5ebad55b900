import type { Item, Update, Value } from "./table.ts";

/** DynamoDB's limits, for a table that would otherwise know none. */
const ITEM_BYTES = 400 * 1024;
const PARTITION_KEY_BYTES = 2_048;
const SORT_KEY_BYTES = 1_024;
const INDEXED = ["scope", "updated_scope", "active_scope", "check_shard", "group"];
const INDEX_SORTED = ["updated_key", "created_key", "title_key", "agent_key", "check_at"];

/** Throws where DynamoDB would refuse the item. */
export function refuseUnstorable(item: Item): void {
  const bytes = measureBytes(item);
  if (bytes > ITEM_BYTES) throw new RangeError(`${item.pk} ${item.sk} has ${bytes} bytes, an item has at most 400 KB`);
  refuseKey(item, ["pk", ...INDEXED], PARTITION_KEY_BYTES);
  refuseKey(item, ["sk", ...INDEX_SORTED], SORT_KEY_BYTES);
  refuseValue(item, item.pk);
}

/** Throws where an update names an attribute twice, or one of the item's key. */
export function refuseOverlap({ set, add, remove, key }: Update): void {
  const names = [...Object.keys(set ?? {}), ...Object.keys(add ?? {}), ...(remove ?? [])];
  const doubled = names.find((name, index) => names.indexOf(name) < index);
  if (doubled !== undefined) throw new RangeError(`an update of ${key.pk} names ${doubled} twice`);
  if (names.includes("pk") || names.includes("sk")) throw new RangeError("an update cannot change a key");
}

/** Bytes of an item as DynamoDB counts them, near enough. */
export function measureBytes(value: Value | undefined): number {
  if (value === undefined) return 0;
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value === "number") return 8;
  if (typeof value === "boolean" || value === null) return 1;
  if (value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, entry: Value) => sum + 1 + measureBytes(entry), 3);
  return Object.entries(value).reduce(
    (sum, [name, entry]) => sum + 1 + Buffer.byteLength(name) + measureBytes(entry),
    3,
  );
}

function refuseKey(item: Item, names: readonly string[], most: number): void {
  for (const name of names) {
    const value = item[name];
    if (value === undefined) continue;
    if (typeof value !== "string" || value === "") throw new TypeError(`key ${name} must be a text that is not empty`);
    if (Buffer.byteLength(value) > most) throw new RangeError(`key ${name} has more than ${most} bytes`);
  }
}

function refuseValue(value: Value | undefined, path: string): void {
  if (typeof value === "number" && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`${path}: ${value} cannot be stored`);
  }
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return;
  for (const [name, entry] of Object.entries(value)) refuseValue(entry, `${path}.${name}`);
}
