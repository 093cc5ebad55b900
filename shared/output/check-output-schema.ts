import { invalid } from "#shared/errors.ts";
import { isJsonObject, type Json } from "#shared/wire/output/output-schema.ts";

/** Objects and lists inside of each other: the table holds at most 32, of which the schema is one part. */
const MAX_DEPTH = 24;
/** A number of the table has no greater exponent. */
const MAX_NUMBER = 1e125;

const TYPES: readonly Json[] = ["null", "boolean", "object", "array", "number", "integer", "string"];

/** Keywords that change what a reference means, or that load a schema from elsewhere. */
const REFUSED = ["$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"];

const SCHEMA = ["additionalItems", "additionalProperties", "contains", "else", "if", "not", "propertyNames", "then"];
const ONE_SCHEMA = new Set([...SCHEMA, "unevaluatedItems", "unevaluatedProperties"]);
const LIST_OF_SCHEMAS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const MAP_OF_SCHEMAS = new Set(["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"]);
const LIMIT = ["maxContains", "maxItems", "maxLength", "maxProperties", "minContains", "minItems", "minLength"];
const LIMITS = new Set([...LIMIT, "minProperties"]);
const NUMBERS = new Set(["exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"]);

/** Refuses a schema that responses cannot be checked against. */
export function checkOutputSchema(schema: Readonly<Record<string, unknown>> | null | undefined, path: string): void {
  const fault = schema == null ? undefined : findSchemaFault(schema);
  if (fault !== undefined) throw invalid(path, fault);
}

/** Says what is wrong with a schema, and where; undefined for one that can be checked against. */
function findSchemaFault(root: Readonly<Record<string, unknown>>): string | undefined {
  const shape = findShapeFault(root, "", 1);
  if (shape !== undefined) return shape;
  return findFault(root, "#", root);
}

/** Finds what the table cannot hold. */
function findShapeFault(value: unknown, path: string, depth: number): string | undefined {
  if (typeof value === "number" && Math.abs(value) > MAX_NUMBER) return `${path || "#"}: the number is too great`;
  if (typeof value !== "object" || value === null) return undefined;
  if (depth > MAX_DEPTH) return `must have at most ${MAX_DEPTH} objects and lists inside of each other: use $defs`;
  for (const [name, member] of Object.entries(value)) {
    if (name === "") return `${path || "#"}: must have no empty name`;
    const fault = findShapeFault(member, `${path}/${name}`, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function findFault(schema: unknown, at: string, root: unknown): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isJsonObject(schema)) return `${at}: must be a schema: an object, true or false`;
  for (const [name, value] of Object.entries(schema)) {
    const fault = findKeywordFault(name, value, `${at}/${name}`, root);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function findKeywordFault(name: string, value: unknown, at: string, root: unknown): string | undefined {
  if (REFUSED.includes(name))
    return `${at}: is not supported; refer to a part of this schema by $ref, such as #/$defs/x`;
  if (name === "$ref")
    return isReference(value, root) ? undefined : `${at}: must name a part of this schema, such as #/$defs/x`;
  if (name === "type") return isType(value) ? undefined : `${at}: must be one or several of ${TYPES.join(", ")}`;
  if (name === "pattern") return isPattern(value) ? undefined : `${at}: must be a regular expression`;
  if (name === "enum") return Array.isArray(value) ? undefined : `${at}: must be a list`;
  if (name === "required") return isNames(value) ? undefined : `${at}: must be a list of names`;
  if (LIMITS.has(name))
    return Number.isInteger(value) && Number(value) >= 0 ? undefined : `${at}: must be a whole number`;
  if (NUMBERS.has(name)) return typeof value === "number" ? undefined : `${at}: must be a number`;
  if (ONE_SCHEMA.has(name)) return findFault(value, at, root);
  if (name === "items") return findItemsFault(value, at, root);
  if (LIST_OF_SCHEMAS.has(name))
    return Array.isArray(value) ? findItemsFault(value, at, root) : `${at}: must be a list`;
  if (!MAP_OF_SCHEMAS.has(name)) return undefined;
  if (!isJsonObject(value)) return `${at}: must be an object`;
  for (const [key, member] of Object.entries(value)) {
    if (name === "patternProperties" && !isPattern(key)) return `${at}/${key}: must be a regular expression`;
    const fault = findFault(member, `${at}/${key}`, root);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** `items` is one schema, or a list of them in drafts before 2020-12. */
function findItemsFault(value: unknown, at: string, root: unknown): string | undefined {
  if (!Array.isArray(value)) return findFault(value, at, root);
  for (const [index, member] of value.entries()) {
    const fault = findFault(member, `${at}/${index}`, root);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === "string");

const isType = (value: unknown): boolean => {
  const types: readonly unknown[] = Array.isArray(value) ? value : [value];
  return types.length > 0 && types.every((type) => TYPES.some((known) => known === type));
};

function isPattern(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    new RegExp(value, "u");
    return true;
  } catch {
    return false;
  }
}

/** Whether a reference leads to a schema of the same document. */
function isReference(value: unknown, root: unknown): boolean {
  if (value === "#") return true;
  if (typeof value !== "string" || !/^#\/[^%]*$/.test(value)) return false;
  let target: unknown = root;
  for (const part of value.slice(2).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, name)) return false;
    target = Object.entries(target).find(([key]) => key === name)?.[1];
  }
  return typeof target === "boolean" || isJsonObject(target);
}
