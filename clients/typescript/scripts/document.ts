import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";

export const repository = join(import.meta.dirname, "../../..");

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json;
}

const JsonValue: v.GenericSchema<Json> = v.lazy(() =>
  v.union([v.null(), v.boolean(), v.number(), v.string(), v.array(JsonValue), JsonObjectValue]),
);
const JsonObjectValue: v.GenericSchema<JsonObject> = v.record(v.string(), JsonValue);

const Content = v.record(v.string(), v.object({ schema: v.optional(JsonObjectValue) }));
const Parameter = v.object({
  name: v.string(),
  in: v.picklist(["path", "query", "header", "cookie"]),
  required: v.optional(v.boolean(), false),
  description: v.optional(v.string(), ""),
  schema: v.optional(JsonObjectValue, {}),
});
const Reference = v.object({ $ref: v.string() });
const Operation = v.object({
  operationId: v.string(),
  tags: v.tuple([v.string()]),
  summary: v.string(),
  description: v.optional(v.string(), ""),
  deprecated: v.optional(v.boolean(), false),
  parameters: v.optional(v.array(v.union([Reference, Parameter])), []),
  requestBody: v.optional(v.object({ required: v.optional(v.boolean(), false), content: Content })),
  responses: v.record(v.string(), v.looseObject({ content: v.optional(Content, {}) })),
});
const Document = v.object({
  tags: v.array(v.object({ name: v.string(), description: v.optional(v.string(), "") })),
  paths: v.record(v.string(), v.record(v.string(), Operation)),
  components: v.object({ schemas: JsonObjectValue, parameters: v.record(v.string(), Parameter) }),
});

export type ApiParameter = v.InferOutput<typeof Parameter>;

/** One operation of the API, as the generator needs it. */
export interface ApiOperation {
  readonly id: string;
  readonly tag: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  /** The summary and everything else that a caller needs to know. */
  readonly description: string;
  readonly deprecated: boolean;
  readonly pathParameters: readonly ApiParameter[];
  readonly queryParameters: readonly ApiParameter[];
  readonly body: JsonObject | undefined;
  /** The schema of the success response; undefined if it has no body, `text` if it is not JSON. */
  readonly response: JsonObject | "text" | undefined;
}

export interface ApiDocument {
  /** The description of each group of operations, by its tag. */
  readonly tags: Readonly<Record<string, string>>;
  readonly operations: readonly ApiOperation[];
  readonly schemas: JsonObject;
}

/** Reads docs/openapi.json. Throws with the position if the document has an unexpected form. */
export function readDocument(): ApiDocument {
  const text = readFileSync(join(repository, "docs/openapi.json"), "utf8");
  const { tags, paths, components } = v.parse(Document, JSON.parse(text));
  const resolve = (parameter: v.InferOutput<typeof Reference> | ApiParameter): ApiParameter => {
    if (!("$ref" in parameter)) return parameter;
    const found = components.parameters[parameter.$ref.replace("#/components/parameters/", "")];
    if (found === undefined) throw new Error(`there is no ${parameter.$ref}`);
    return found;
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): ApiOperation => {
      const parameters = operation.parameters.map(resolve);
      return {
        id: operation.operationId,
        tag: operation.tags[0],
        method: method.toUpperCase(),
        path,
        summary: operation.summary,
        description: operation.description,
        deprecated: operation.deprecated,
        pathParameters: sortByPath(
          path,
          parameters.filter((parameter) => parameter.in === "path"),
        ),
        queryParameters: parameters.filter((parameter) => parameter.in === "query"),
        body: operation.requestBody?.content["application/json"]?.schema,
        response: parseResponse(operation),
      };
    }),
  );
  const descriptions = Object.fromEntries(tags.map(({ name, description }) => [name, description]));
  return { tags: descriptions, operations, schemas: components.schemas };
}

function parseResponse({ operationId, responses }: v.InferOutput<typeof Operation>): ApiOperation["response"] {
  const success = Object.entries(responses).find(([status]) => status.startsWith("2"));
  if (success === undefined) throw new Error(`${operationId} has no success response`);
  const [, { content }] = success;
  if (Object.keys(content).length === 0) return undefined;
  const json = content["application/json"];
  return json === undefined ? "text" : (json.schema ?? {});
}

function sortByPath(path: string, parameters: readonly ApiParameter[]): ApiParameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    const found = parameters.find((parameter) => parameter.name === name);
    if (found === undefined) throw new Error(`${path} does not declare ${name}`);
    return found;
  });
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
