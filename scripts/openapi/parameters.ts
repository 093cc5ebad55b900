import type * as v from "valibot";
import type { RoutedEndpoint } from "./endpoints.ts";
import { isObject, type JsonObject } from "./json.ts";
import { parameterNotes } from "./notes/parameters.ts";
import { isSchema, type SchemaBook } from "./schemas.ts";

type Schema = v.GenericSchema<unknown, unknown>;

/** The parameters of an operation: path, query and headers. */
export function buildParameters(endpoint: RoutedEndpoint, book: SchemaBook): readonly JsonObject[] {
  const { route, name, definition } = endpoint;
  const path = definition.request.path === undefined ? {} : book.convert(definition.request.path, "input");
  const schemas = isObject(path["properties"]) ? path["properties"] : {};
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, parameter = ""]) => ({
    name: parameter,
    in: "path",
    required: true,
    ...describeParameter(name, parameter),
    schema: schemas[parameter] ?? { type: "string" },
  }));
  const inQuery = Object.entries(definition.request.query ?? {}).map(([parameter, { kind, schema, required }]) => ({
    name: parameter,
    in: "query",
    ...(required === true ? { required } : {}),
    ...(kind === "map" ? { style: "deepObject", explode: true } : {}),
    ...describeParameter(name, parameter),
    schema: { ...querySchema(schema, book), ...findDefault(name, parameter) },
  }));
  return [...inPath, ...inQuery, ...buildHeaders(endpoint)];
}

/** Headers, by reference: which of them a route reads follows from its method and from who may call it. */
function buildHeaders({ route, name }: RoutedEndpoint): readonly JsonObject[] {
  if (route.who === "public") return [];
  const ofRuns = route.who.every((kind) => kind === "run");
  const names = [
    ...(ofRuns ? ["Runyard-Instance", "Runyard-Protocol"] : ["X-Team-Uid"]),
    ...(isReplayed(route) ? ["Idempotency-Key", "x-stainless-retry-count"] : []),
    ...(name === "createRun" ? ["X-Run-Source"] : []),
  ];
  return names.map((header) => ({ $ref: `#/components/parameters/${header}` }));
}

/** Whether a repeat with the same `Idempotency-Key` gets the first response. Each sign-in link is a new one-time token. */
export function isReplayed({ method, path, who }: RoutedEndpoint["route"]): boolean {
  return method === "POST" && who !== "public" && !who.every((kind) => kind === "run") && path !== "/session/link";
}

/** A query parameter is text; the document has the type that it is parsed to. */
function querySchema(schema: Schema, book: SchemaBook): JsonObject {
  const pipe = flatPipe(schema);
  if (pipe[0]?.options?.join() === "true,false") return { type: "boolean" };
  const transform = pipe.findIndex(({ type }) => type === "transform" || type === "to_number");
  const bound = (type: string) => pipe.slice(transform).find((item) => item.type === type)?.requirement;
  const [minimum, maximum] = [bound("min_value") ?? 0, bound("max_value")];
  if (transform > 0 && typeof minimum === "number" && typeof maximum === "number") {
    return { type: "integer", minimum, maximum };
  }
  // An empty parameter counts as absent, so no parameter is ever too short.
  const { minLength: _, ...json } = book.convert(schema, "input");
  return json;
}

interface PipeItem {
  readonly type: string;
  readonly requirement?: unknown;
  readonly options?: readonly string[];
}

function flatPipe(schema: Schema): readonly PipeItem[] {
  const pipe: unknown = "pipe" in schema ? schema.pipe : undefined;
  if (!Array.isArray(pipe)) return [schema];
  return pipe.flatMap((item: unknown) =>
    isSchema(item) && item !== schema ? flatPipe(item) : isItem(item) ? [item] : [],
  );
}

const isItem = (value: unknown): value is PipeItem => typeof value === "object" && value !== null && "type" in value;

function describeParameter(operation: string, parameter: string): JsonObject {
  const note = findNote(operation, parameter);
  return note === undefined ? {} : { description: note.description };
}

function findDefault(operation: string, parameter: string): JsonObject {
  const standard = findNote(operation, parameter)?.default;
  return standard === undefined ? {} : { default: standard };
}

/** The note of this operation, at its older path too, or else that of all operations. */
const findNote = (operation: string, parameter: string) =>
  parameterNotes[`${operation.replace(/AtOlderPath$/, "")}.${parameter}`] ?? parameterNotes[parameter];
