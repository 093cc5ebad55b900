import openapiTS, { astToString } from "openapi-typescript";
import { type ApiDocument, isObject, type Json, type JsonObject } from "./document.ts";
import type { NamedSchemas } from "./methods.ts";

/** Schemas whose names would shadow a global. */
const RENAMED: Readonly<Record<string, string>> = { Error: "Problem" };

/** Generates src/generated/types.ts: one exported type for each schema of the API. */
export async function emitTypes(document: ApiDocument, named: NamedSchemas): Promise<string> {
  const schemas = Object.entries({ ...document.schemas, ...named }).map(([name, schema]) => [
    RENAMED[name] ?? name,
    tidy(schema),
  ]);
  const ast = await openapiTS(
    JSON.stringify({
      openapi: "3.1.1",
      info: { title: "Runyard", version: "1" },
      paths: {},
      components: { schemas: Object.fromEntries(schemas) },
    }),
    { rootTypes: true, rootTypesNoSchemaPrefix: true, rootTypesKeepCasing: true, defaultNonNullable: false },
  );
  // Only the schemas are exported; the rest of the tool's output is empty.
  const text = astToString(ast)
    .replace(/^export type (paths|webhooks|\$defs|operations) = Record<string, never>;\n/gm, "")
    .replace("export interface components", "interface components")
    .replace(/^ {4}(responses|parameters|requestBodies|headers|pathItems): never;\n/gm, "");
  return `// Generated from docs/openapi.json by \`npm run docs\`. Do not edit.\n${text}`;
}

/** Renames references and removes conditions. */
function tidy(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(tidy);
  if (!isObject(schema)) return schema;
  const entries = Object.entries(schema).filter(([name]) => !("properties" in schema && isCondition(name, schema)));
  const copy = Object.fromEntries(entries.map(([name, value]) => [name, tidy(value)]));
  const { $ref } = schema;
  if (typeof $ref !== "string") return copy;
  const name = $ref.replace("#/components/schemas/", "");
  return { ...copy, $ref: `#/components/schemas/${RENAMED[name] ?? name}` };
}

/** Whether a keyword only restricts which members occur together. It would become a union with `unknown`. */
function isCondition(name: string, schema: JsonObject): boolean {
  const choices = schema[name];
  if (!/^(anyOf|oneOf|allOf)$/.test(name) || !Array.isArray(choices)) return false;
  return choices.every((choice) => isObject(choice) && !("type" in choice) && !("$ref" in choice));
}
