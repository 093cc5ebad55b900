import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import {
  type ApiDocument,
  type ApiOperation,
  type ApiParameter,
  isObject,
  type JsonObject,
  repository,
} from "./document.ts";

/** A method of the client: an operation of the API under a name of clients/methods.json. */
export interface ClientMethod {
  readonly operation: ApiOperation;
  /** The path of its object: `["identities", "keys"]` of `client.identities.keys.create`. */
  readonly resource: readonly string[];
  readonly name: string;
  /** The names of the types in TypeScript; undefined if there is none. */
  readonly query: string | undefined;
  readonly queryRequired: boolean;
  /** A query that is always sent, as code. */
  readonly fixedQuery: string | undefined;
  readonly body: string | undefined;
  readonly response: string;
  /** The member with the items of a list, and the name of their type, if it has one. */
  readonly list: { readonly member: string; readonly item: string | undefined } | undefined;
}

/** Inline schemas of the document, which get a name here. */
export type NamedSchemas = Record<string, JsonObject>;

const METHODS = "clients/methods.json";

/** `fetch` would follow the redirect to the storage. Without a redirect, the response contains the URL. */
const FIXED_QUERY: Readonly<Record<string, JsonObject>> = {
  getTranscript: { redirect: false },
  getRawTranscript: { redirect: false },
};

/** The query parameter that changes an operation's response to the second of its alternatives: it is a method of its own. */
const DRY_RUN = "dry_run";

/**
 * Returns the methods of the client, in the order of the document. Throws for an operation without a line in
 * clients/methods.json, and for a line without an operation. Of several operations of one method, the first is used.
 */
export function clientMethods(document: ApiDocument): { methods: ClientMethod[]; named: NamedSchemas } {
  const names = readMethodNames();
  const stale = Object.keys(names).filter((id) => !document.operations.some((operation) => operation.id === id));
  if (stale.length > 0) throw new Error(`${METHODS} names operations that there are not: ${stale.join(", ")}`);
  const named: NamedSchemas = {};
  const methods = new Map<string, ClientMethod>();
  for (const operation of document.operations) {
    const name = names[operation.id];
    if (name === undefined) {
      throw new Error(`${METHODS} has no line for ${operation.id}, such as "${operation.id}": "resource.method"`);
    }
    if (methods.has(name)) continue;
    const [usual, dry] = splitDryRun(operation);
    methods.set(name, clientMethod(usual, name, document, named));
    if (dry === undefined) continue;
    const dryName = name.replace(/\w+$/, DRY_RUN);
    methods.set(dryName, { ...clientMethod(dry, dryName, document, named), fixedQuery: `{ ${DRY_RUN}: true }` });
  }
  return { methods: [...methods.values()], named };
}

/** The schemas of the usual response and of that of a dry run. */
const DRY_RUN_SCHEMAS = ["RunAgentResponse", "DryRunResponse"];
/** Makes the response another one too; methods that wait for the end of a run follow it. */
const WAIT = "wait";

/** Splits an operation with a dry run in two: what it does, and its dry run. */
function splitDryRun(operation: ApiOperation): readonly [ApiOperation, ApiOperation?] {
  const { response } = operation;
  const alternatives = isObject(response) ? response["anyOf"] : undefined;
  if (!operation.queryParameters.some(({ name }) => name === DRY_RUN) || !Array.isArray(alternatives))
    return [operation];
  const [usual, dry] = DRY_RUN_SCHEMAS.map((name) =>
    alternatives.filter(isObject).find((schema) => parseReference(schema) === name),
  );
  const queryParameters = operation.queryParameters.filter(({ name }) => name !== DRY_RUN && name !== WAIT);
  return [
    { ...operation, queryParameters, response: usual },
    { ...operation, ...DRY_RUN_TEXT, queryParameters, response: dry },
  ];
}

const DRY_RUN_TEXT = {
  summary: "Checks a request for a run and creates nothing.",
  description:
    "Checks a request for a run and creates nothing. The response says whether the run would be created, what to know before, " +
    "and which configuration it would have.",
};

/** Returns the methods by operationId, as `resource.method` in snake_case. */
export function readMethodNames(): Readonly<Record<string, string>> {
  const Names = v.record(v.string(), v.pipe(v.string(), v.regex(/^[a-z_]+(\.[a-z_]+)+$/)));
  return v.parse(Names, JSON.parse(readFileSync(join(repository, METHODS), "utf8")));
}

function clientMethod(
  operation: ApiOperation,
  dotted: string,
  document: ApiDocument,
  named: NamedSchemas,
): ClientMethod {
  const parts = dotted.split(".").map(camelCase);
  const name = parts.at(-1) ?? "";
  const resource = parts.slice(0, -1);
  const fixed = FIXED_QUERY[operation.id];
  const prefix = parts.map(pascalCase).join("");
  const nameType = (schema: JsonObject, suffix: string): string => {
    const reference = parseReference(schema);
    if (reference !== undefined) return reference;
    if (schema["type"] === "string") return "string";
    named[`${prefix}${suffix}`] = schema;
    return `${prefix}${suffix}`;
  };
  const { body, response: result } = operation;
  const queryParameters = operation.queryParameters.filter((parameter) => !(parameter.name in (fixed ?? {})));
  const query = queryParameters.length > 0 ? nameType(querySchema(queryParameters), "Params") : undefined;
  return {
    operation,
    resource,
    name,
    query,
    fixedQuery: fixed && JSON.stringify(fixed),
    queryRequired: queryParameters.some((parameter) => parameter.required),
    body: body && nameType(body, "Request"),
    response: result === undefined ? "void" : result === "text" ? "string" : nameType(result, "Response"),
    list: result === undefined || result === "text" ? undefined : findList(resolve(result, document)),
  };
}

/** Returns the list of a response with `page_info` and exactly one required array. */
function findList(schema: JsonObject): ClientMethod["list"] {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  if (!("page_info" in properties)) return undefined;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const arrays = Object.entries(properties).flatMap(([member, property]) =>
    required.includes(member) && isObject(property) && isObject(property["items"])
      ? [{ member, item: parseReference(property["items"]) }]
      : [],
  );
  const [only, ...others] = arrays;
  return only === undefined || others.length > 0 ? undefined : only;
}

function querySchema(parameters: readonly ApiParameter[]): JsonObject {
  const properties: JsonObject = {};
  for (const { name, schema, description } of parameters) properties[name] = { ...schema, description };
  return {
    type: "object",
    properties,
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

function resolve(schema: JsonObject, { schemas }: ApiDocument): JsonObject {
  const reference = parseReference(schema);
  const found = reference === undefined ? schema : schemas[reference];
  return isObject(found) ? found : {};
}

function parseReference(schema: JsonObject): string | undefined {
  const reference = schema["$ref"];
  return typeof reference === "string" ? reference.replace("#/components/schemas/", "") : undefined;
}

export const camelCase = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
export const pascalCase = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
