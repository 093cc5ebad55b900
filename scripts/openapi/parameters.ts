import type * as v from "valibot";
import { type MemberText, readMemberText, wireDeclarations } from "./comments.ts";
import type { RoutedEndpoint } from "./endpoints.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";
import { isSchema, type SchemaBook } from "./schemas.ts";

type Schema = v.GenericSchema<unknown, unknown>;

/** The parameters of an operation: path, query and headers. */
export function buildParameters(endpoint: RoutedEndpoint, book: SchemaBook): readonly JsonObject[] {
  const { route, name, definition, source } = endpoint;
  const path = definition.request.path === undefined ? {} : book.convert(definition.request.path, "input");
  const schemas = isObject(path["properties"]) ? path["properties"] : {};
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, parameter = ""]) => ({
    name: parameter,
    in: "path",
    required: true,
    ...(PATH_TEXTS[parameter] === undefined ? {} : { description: PATH_TEXTS[parameter] }),
    schema: schemas[parameter] ?? { type: "string" },
  }));
  const inQuery = Object.entries(definition.request.query ?? {}).map(([parameter, { kind, schema, required }]) => {
    const text = readMemberText(source, { name: parameter, section: "query" }) ?? readFilterText(name, parameter);
    return {
      name: parameter,
      in: "query",
      ...(required === true ? { required } : {}),
      ...(kind === "map" ? { style: "deepObject", explode: true } : {}),
      ...(text === undefined ? {} : { description: text.description }),
      schema: {
        ...querySchema(schema, book),
        ...(text?.default === undefined ? {} : { default: toValue(text.default) }),
      },
    };
  });
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
    const { requirement: form } = pipe.find(({ type }) => type === "regex") ?? {};
    const isDecimal = form instanceof RegExp && form.test("1.5");
    return { type: isDecimal ? "number" : "integer", minimum, maximum };
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

/** A filter of the list of runs means what it means in a RunFilter. */
function readFilterText(operation: string, name: string): MemberText | undefined {
  const filter = operation === "listRuns" ? wireDeclarations.get("RunFilter") : undefined;
  return filter === undefined ? undefined : readMemberText(filter, { name });
}

/** A default as JSON: a number or a Boolean, or else a text. */
const toValue = (text: string): Json => (/^(true|false|\d+)$/.test(text) ? JSON.parse(text) : text);

/** What the parameters in paths stand for. */
const PATH_TEXTS: Readonly<Record<string, string>> = {
  runId: "The run's id.",
  followupId: "The id of the follow-up within its run.",
  sessionId: "The session's id.",
  artifactUid: "The artifact's id.",
  conversationId: "The conversation's id.",
  scheduleId: "The schedule's id.",
  installationId: "GitHub's id of the installation.",
  triggerUid: "The trigger's id.",
  deliveryId: "The delivery's id.",
  identityUid: "The identity's id.",
  keyUid: "The key's id.",
  ruleUid: "The trust rule's id.",
  environmentUid: "The environment's id.",
  sessionUid: "The web session's id.",
  teamUid: "The team's id.",
  userUid: "The person's id.",
  invitationId: "The invitation's id.",
  token: "The token of the invitation, the last segment of its link.",
  secret: "The secret's name.",
  webhookUid: "The webhook's id.",
  guide: "The page's name, with `.md` at its end for the page as Markdown.",
  name: "The `operationId` of the operation or the name of the schema, with `.md` at its end for the page as Markdown.",
  code: "The error code, with dashes instead of underscores.",
};
