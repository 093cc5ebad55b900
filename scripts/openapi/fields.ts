import { readMemberText, readSchemaText, wireDeclarations } from "./comments.ts";
import type { Declaration } from "./declarations.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";
import { ALIASES } from "./schemas.ts";

/** The constant that the texts of a schema's members are read from: a component, or an endpoint with its body and replies. */
interface Origin {
  readonly source: Declaration | undefined;
  readonly section?: "body" | "reply";
}

/** The name of a component in shared/wire. */
const toWireName = (component: string): string => {
  const base = component.replace(/Input$/, "");
  return Object.keys(ALIASES).find((name) => ALIASES[name] === base) ?? base;
};

/** Adds descriptions to components and their members. */
export function describeComponents(components: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(components).map(([name, schema]) => {
      const source = wireDeclarations.get(toWireName(name));
      return [name, describe(describeMembers(schema, { source }), readSchemaText(toWireName(name)))];
    }),
  );
}

/** Adds descriptions to the members of a schema, and of the schemas in it. */
export function describeMembers(schema: Json, origin: Origin): JsonObject {
  const described = describeNested(schema, origin);
  if (!isObject(described)) throw new Error("a schema is an object");
  return described;
}

function describeNested(schema: Json, origin: Origin, parent?: string): Json {
  const { source, section } = origin;
  if (Array.isArray(schema)) return schema.map((entry: Json) => describeNested(entry, origin, parent));
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      if (keyword !== "properties" || !isObject(value)) return [keyword, describeNested(value, origin, parent)];
      // Conditions repeat members without their type; only the members themselves are described.
      if (schema["type"] !== "object") return [keyword, value];
      const members = Object.entries(value).map(([name, inner]) => {
        const text = source && readMemberText(source, { name, parent, section });
        const described = withFormat(describeNested(inner, origin, name), text?.format);
        return [name, describe(described, text?.description)] as const;
      });
      return [keyword, Object.fromEntries(members)];
    }),
  );
}

/** Adds a format to a string, also to one that may be null. */
function withFormat(value: Json, format: string | undefined): JsonObject {
  if (!isObject(value)) return {};
  if (format === undefined) return value;
  if (value["type"] === "string") return { ...value, format };
  const variants = value["anyOf"];
  if (!Array.isArray(variants)) return value;
  return {
    ...value,
    anyOf: variants.map((each) => (isObject(each) && each["type"] === "string" ? { ...each, format } : each)),
  };
}

/** Puts the meaning before what the schema says about the form. */
function describe(schema: JsonObject, meaning: string | undefined): JsonObject {
  const own = schema["description"];
  const parts = [meaning, typeof own === "string" && own !== meaning ? own : undefined];
  const description = parts.filter((part) => part !== undefined).join(" ");
  return description === "" ? schema : { ...schema, description };
}
