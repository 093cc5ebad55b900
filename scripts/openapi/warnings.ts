import { MAX_WARNINGS } from "#shared/wire/request-warning.ts";
import { isObject, type Json, type JsonObject, memberOf, refsIn } from "./json.ts";

const WARNINGS: JsonObject = {
  type: "array",
  items: { $ref: "#/components/schemas/RequestWarning" },
  maxItems: MAX_WARNINGS,
  description:
    "What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request.",
};

/**
 * Adds `warnings` to the components that respond to requests with a body. They are added once the examples are there,
 * because the response to a correct request has none.
 */
export function withWarnings(document: JsonObject): JsonObject {
  const components = memberOf(document, "components");
  const warned = new Set(
    Object.values(memberOf(document, "paths")).flatMap((item) =>
      Object.values(isObject(item) ? item : {}).flatMap(listWarned),
    ),
  );
  const schemas = Object.entries(memberOf(components, "schemas")).map(([name, schema]) => {
    if (!warned.has(name)) return [name, schema] as const;
    if (!isObject(schema) || schema["type"] !== "object") throw new Error(`${name} cannot have the member warnings`);
    return [name, { ...schema, properties: { ...memberOf(schema, "properties"), warnings: WARNINGS } }] as const;
  });
  return { ...document, components: { ...components, schemas: Object.fromEntries(schemas) } };
}

/** The components that an operation responds with, if its responses can have warnings: with a key, and not only for executions. */
function listWarned(operation: Json): readonly string[] {
  if (!isObject(operation) || operation["requestBody"] === undefined) return [];
  const principals = operation["x-principals"];
  if (!Array.isArray(principals) || principals.every((kind: Json) => kind === "run")) return [];
  return Object.entries(memberOf(operation, "responses")).flatMap(([status, response]) => {
    const json = memberOf(memberOf(isObject(response) ? response : {}, "content"), "application/json");
    return status.startsWith("2") ? [...refsIn(memberOf(json, "schema"))] : [];
  });
}
