import type { Value } from "../../shared/table/table.ts";

/** Bytes of an item as DynamoDB bills them: its attributes' names and values, without what holds the item together. */
export function sizeOfItem(item: Readonly<Record<string, Value>>): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + calculateSize(value), 0);
}

function calculateSize(value: Value): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value === "number") return sizeOfNumber(value);
  if (typeof value === "boolean" || value === null) return 1;
  if (value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return value.reduce((sum: number, entry: Value) => sum + 1 + calculateSize(entry), 3);
  return Object.entries(value).reduce(
    (sum, [name, entry]) => sum + 1 + Buffer.byteLength(name) + calculateSize(entry),
    3,
  );
}

/** One byte for each two significant digits, and one more, or two for a negative one. */
function sizeOfNumber(value: number): number {
  const digits = String(Math.abs(value))
    .replace(".", "")
    .replace(/^0+|0+$/g, "");
  return Math.ceil(digits.length / 2) + 1 + (value < 0 ? 1 : 0);
}
