import * as v from "valibot";
import type { Item, Key, Value } from "./table.ts";

/** A value as DynamoDB's API has it, for example `{ "S": "text" }`. */
type Attribute = { readonly [type: string]: unknown };
type Attributes = Readonly<Record<string, Attribute>>;

/** Converts the members of an item, a key or the values of an expression. Members that are undefined are left out. */
export function toAttributes(values: Key | Readonly<Record<string, Value | undefined>>): Attributes {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, toAttribute(value)]])),
  );
}

function toAttribute(value: Value): Attribute {
  if (typeof value === "string") return { S: value };
  if (typeof value === "number") return { N: printNumber(value) };
  if (typeof value === "boolean") return { BOOL: value };
  if (value === null) return { NULL: true };
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString("base64") };
  if (Array.isArray(value)) return { L: value.map(toAttribute) };
  return { M: toAttributes(Object.fromEntries(Object.entries(value))) };
}

function printNumber(value: number): string {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return String(value);
  throw new RangeError(`${value} cannot be stored`);
}

const AttributeMap = v.record(v.string(), v.unknown());

/** Converts an item of a response. */
export function fromAttributes(attributes: Readonly<Record<string, unknown>>): Item {
  const { pk, sk, ...rest } = toValues(attributes);
  if (typeof pk !== "string" || typeof sk !== "string") throw new TypeError("an item without string keys");
  return { ...rest, pk, sk };
}

const toValues = (attributes: Readonly<Record<string, unknown>>): Record<string, Value> =>
  Object.fromEntries(Object.entries(attributes).map(([name, attribute]) => [name, toValue(attribute)]));

function toValue(attribute: unknown): Value {
  const [[type, content] = []] = Object.entries(Object(attribute));
  if (type === "NULL") return null;
  if (type === "N") return Number(content);
  if (type === "BOOL") return content === true;
  if (type === "S" && typeof content === "string") return content;
  if (type === "B" && typeof content === "string") return new Uint8Array(Buffer.from(content, "base64"));
  if (type === "L" && Array.isArray(content)) return content.map(toValue);
  if (type === "M") return toValues(v.parse(AttributeMap, content));
  throw new TypeError(`an attribute of type ${type} is not supported`);
}
