export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The object that is a member of another; empty if there is none. */
export function memberOf(object: JsonObject, name: string): JsonObject {
  const member = object[name];
  return isObject(member) ? member : {};
}

/** Converts a value to JSON: without undefined members and without shared objects. */
export function toJson(value: unknown): JsonObject {
  const json: unknown = JSON.parse(JSON.stringify(value));
  if (!isObject(json)) throw new Error("is not an object");
  return json;
}

/** Applies a change to every object of a value, innermost first. */
export function mapObjects(value: Json, change: (object: JsonObject) => Json): Json {
  if (Array.isArray(value)) return value.map((entry: Json) => mapObjects(entry, change));
  if (!isObject(value)) return value;
  const changed = Object.entries(value).map(([name, member]) => [name, mapObjects(member, change)] as const);
  return change(Object.fromEntries(changed));
}

/** The names of the components that a value refers to. */
export function refsIn(value: Json): ReadonlySet<string> {
  const found = new Set<string>();
  mapObjects(value, (object) => {
    if (typeof object["$ref"] === "string") found.add(object["$ref"].replace(/^.*\//, ""));
    return object;
  });
  return found;
}
