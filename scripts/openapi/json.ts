export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A value as JSON has it: without what is undefined, and without anything shared. */
export function toJson(value: unknown): JsonObject {
  const json: unknown = JSON.parse(JSON.stringify(value));
  if (!isObject(json)) throw new Error("is no object");
  return json;
}

/** Changes every object of a value, from the inside out. */
export function mapObjects(value: Json, change: (object: JsonObject) => Json): Json {
  if (Array.isArray(value)) return value.map((entry: Json) => mapObjects(entry, change));
  if (!isObject(value)) return value;
  const changed = Object.entries(value).map(([name, member]) => [name, mapObjects(member, change)] as const);
  return change(Object.fromEntries(changed));
}

/** Components that a value refers to, by name. */
export function refsIn(value: Json): ReadonlySet<string> {
  const found = new Set<string>();
  mapObjects(value, (object) => {
    if (typeof object["$ref"] === "string") found.add(object["$ref"].replace(/^.*\//, ""));
    return object;
  });
  return found;
}
