import { parseJson } from "../support/parse-json.ts";

/** The part of a JSON Schema that tells how to repair a value. */
interface Schema {
  readonly type?: unknown;
  readonly properties?: unknown;
  readonly items?: unknown;
  readonly required?: unknown;
}

const NUMBER = /^\s*-?\d+(\.\d+)?\s*$/;

/**
 * Repairs what models get wrong about types: numbers, booleans, objects and lists that they send as texts, a single item instead of a list,
 * a text or the members of an item where the only required member is meant, and null for a member that is optional. What the schema does not
 * clearly ask for stays as it was sent.
 */
export function repairInput(value: unknown, schema: unknown): unknown {
  const { type, properties, items, required } = toSchema(schema);
  if (type === "object") {
    const object = isObject(value) ? value : (parseAs(value, isObject) ?? toOnlyMember(value, properties, required));
    return object === undefined ? value : repairMembers(toOnlyList(object, properties, required), properties, required);
  }
  if (type === "array") {
    const list = Array.isArray(value) ? value : (parseAs(value, Array.isArray) ?? toSingle(value));
    return list === undefined ? value : list.map((item) => repairInput(item, items));
  }
  if (type === "string") return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  if (typeof value !== "string") return value;
  if (type === "number" || type === "integer") return NUMBER.test(value) ? Number(value) : value;
  const word = value.trim().toLowerCase();
  return type === "boolean" && (word === "true" || word === "false") ? word === "true" : value;
}

function repairMembers(object: Record<string, unknown>, properties: unknown, required: unknown): object {
  const known = isObject(properties) ? properties : {};
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const isKept = (name: string) => isRequired(name) || acceptsNull(known[name]);
  const members = Object.entries(object).filter(([name, value]) => value !== null || isKept(name));
  return Object.fromEntries(members.map(([name, value]) => [name, repairInput(value, known[name])]));
}

/** A text can only be meant as the only member that is required, if that is a text. */
function toOnlyMember(value: unknown, properties: unknown, required: unknown): Record<string, unknown> | undefined {
  const only = findOnlyRequired(properties, required);
  return typeof value === "string" && value.trim() !== "" && only?.type === "string"
    ? { [only.name]: value }
    : undefined;
}

/** Members that only an item of the list has, which is the only member that is required, can only be meant as an item. */
function toOnlyList(object: Record<string, unknown>, properties: unknown, required: unknown): Record<string, unknown> {
  const only = findOnlyRequired(properties, required);
  const names = Object.keys(object);
  const members = toSchema(only?.items).properties;
  if (only?.type !== "array" || names.length === 0 || !isObject(properties) || !isObject(members)) return object;
  return names.every((name) => name in members && !(name in properties)) ? { [only.name]: [object] } : object;
}

function findOnlyRequired(properties: unknown, required: unknown): ({ readonly name: string } & Schema) | undefined {
  if (!Array.isArray(required) || required.length !== 1 || !isObject(properties)) return undefined;
  const name = String(required[0]);
  return { name, ...toSchema(properties[name]) };
}

/** A schema without a single type may accept null; what is not known is left as it was sent. */
const acceptsNull = (schema: unknown): boolean => {
  const { type } = toSchema(schema);
  return schema !== undefined && (typeof type !== "string" || type === "null");
};

/** Nothing but a value can be meant as the only item of a list. */
const toSingle = (value: unknown): unknown[] | undefined =>
  value === null || value === undefined ? undefined : [value];

function parseAs<T>(value: unknown, is: (parsed: unknown) => parsed is T): T | undefined {
  if (typeof value !== "string") return undefined;
  const parsed = parseJson(value);
  return is(parsed) ? parsed : undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const toSchema = (schema: unknown): Schema => (isObject(schema) ? schema : {});
