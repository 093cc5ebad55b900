import * as v from "valibot";
import type { Item, Value } from "#shared/table/table.ts";

/** An item as stored in the database. */
export interface ItemText {
  readonly item: string;
  /** 1 if the item contains bytes, which JSON lacks: then strings have the prefix `t`, and bytes are Base64 with the prefix `b`. */
  readonly tagged: 0 | 1;
}

export function encodeItem(item: Item): ItemText {
  return hasBytes(item) ? { item: JSON.stringify(tagged(item)), tagged: 1 } : { item: JSON.stringify(item), tagged: 0 };
}

/** A row that holds an item. */
const Row = v.object({ item: v.string(), tagged: v.number() });

export function decodeItem(row: unknown): Item {
  const { item, tagged } = v.parse(Row, row);
  return toItem(tagged === 1 ? JSON.parse(item, untag) : JSON.parse(item));
}

function toItem(raw: Readonly<Record<string, Value>>): Item {
  const { pk, sk } = raw;
  if (typeof pk !== "string" || typeof sk !== "string") throw new TypeError("an item without string keys");
  return { ...raw, pk, sk };
}

function hasBytes(value: Value | undefined): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value instanceof Uint8Array || Object.values(value).some(hasBytes);
}

function tagged(value: Value): unknown {
  if (typeof value === "string") return `t${value}`;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString("base64")}`;
  if (Array.isArray(value)) return value.map(tagged);
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, tagged(entry)]));
}

function untag(_: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  return value.startsWith("b") ? new Uint8Array(Buffer.from(value.slice(1), "base64")) : value.slice(1);
}
