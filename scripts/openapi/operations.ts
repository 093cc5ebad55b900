import * as v from "valibot";
import { HTML, NO_CONTENT, REDIRECT } from "#shared/http/response.ts";
import { isScope } from "#shared/wire/keys/scope.ts";
import type { Declaration } from "./declarations.ts";
import type { RoutedEndpoint } from "./endpoints.ts";
import { facts } from "./facts.ts";
import { describeMembers } from "./fields.ts";
import { HEADERS_OF } from "./headers.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";
import { buildParameters, isReplayed } from "./parameters.ts";
import { listErrors, problemResponses } from "./problems.ts";
import { isSchema, type SchemaBook } from "./schemas.ts";
import { toTag } from "./tags.ts";

/** Generates one operation of the document, without examples. `isOlder` marks the second path of a function. */
export function buildOperation(endpoint: RoutedEndpoint, book: SchemaBook, isOlder: boolean): JsonObject {
  const { route, name, definition, text, source } = endpoint;
  const parameters = buildParameters(endpoint, book);
  const { body } = definition.request;
  const codes = [...listErrors(endpoint).values()].flat();
  return {
    tags: [toTag(route.file).name],
    operationId: isOlder ? `${name}AtOlderPath` : name,
    summary: text.summary,
    description: text.description,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body === undefined
      ? {}
      : { requestBody: requestBody(body, describeMembers(book.convert(body, "input"), { source, section: "body" })) }),
    responses: { ...successes(endpoint, book), ...problemResponses(endpoint) },
    security: buildSecurity(route),
    "x-principals": route.who === "public" ? [] : [...route.who],
    "x-scope": route.scope,
    "x-error-codes": [...new Set(codes)],
  };
}

/** The ways to authenticate, with the scope that a credential needs. Web sessions are people's. */
function buildSecurity({ who, scope, keyOptional }: RoutedEndpoint["route"]): JsonObject[] {
  if (who === "public") return [];
  const scopes = isScope(scope) ? [scope] : [];
  return [...(keyOptional ? [{}] : []), { bearer: scopes }, ...(who.includes("personal") ? [{ session: scopes }] : [])];
}

/** An absent body counts as `{}`, so the body is required if `{}` is refused. */
function requestBody(body: v.GenericSchema<unknown, unknown>, schema: JsonObject): JsonObject {
  const rules = facts[String(schema["$ref"]).split(":").at(-1) ?? ""] ?? {};
  const required = !v.safeParse(body, {}).success || "anyOf" in rules || "oneOf" in rules;
  return { required, content: { "application/json": { schema } } };
}

function successes({ route, name, definition, source }: RoutedEndpoint, book: SchemaBook): JsonObject {
  return Object.fromEntries(
    Object.entries(definition.reply).map(([status, reply]) => {
      const replays = isReplayed(route);
      const headers: Record<string, Json> = {
        "x-request-id": { $ref: "#/components/headers/x-request-id" },
        ...(replays ? { "Idempotent-Replay": { $ref: "#/components/headers/Idempotent-Replay" } } : {}),
        ...Object.fromEntries((HEADERS_OF[name] ?? []).map((one) => [one, { $ref: `#/components/headers/${one}` }])),
        ...(reply === REDIRECT ? { Location: { $ref: "#/components/headers/Location" } } : {}),
      };
      const { content, ...rest } = reply === HTML ? buildPage(name) : buildContent(reply, source, book);
      const streamed = definition.eventStream === true ? EVENT_STREAM : {};
      const described = isObject(content) ? { ...rest, content: { ...content, ...streamed } } : rest;
      return [status, { description: describeStatus(status), headers, ...described }];
    }),
  );
}

/** The media types of pages that are not HTML alone, by operation. */
const PAGE_TYPES: Readonly<Record<string, readonly string[]>> = {
  getGuide: ["text/html", "text/markdown"],
  getReferencePage: ["text/html", "text/markdown"],
  listPages: ["text/plain"],
};

const buildPage = (name: string): JsonObject => ({
  content: Object.fromEntries(
    (PAGE_TYPES[name] ?? ["text/html"]).map((type) => [type, { schema: { type: "string" } }]),
  ),
});

/** The other form of a response, for callers that accept it. */
const EVENT_STREAM: JsonObject = {
  "text/event-stream": {
    schema: {
      type: "string",
      description:
        "Each event has its number as `id` and a RunEvent as `data`. Events named `live` have a LiveFrame as `data` and no `id`. " +
        "The event `end` is the last one of a run that has ended.",
    },
  },
};

const MEANINGS: Readonly<Record<string, string>> = {
  200: "The request succeeded.",
  201: "The resource was created.",
  202: "The request was accepted and is processed asynchronously.",
  204: "The request succeeded. The response has no body.",
  302: "Redirects to a time-limited URL. Do not send credentials to it.",
};

function describeStatus(status: string): string {
  const meaning = MEANINGS[status];
  if (meaning === undefined) throw new Error(`scripts/openapi/operations.ts has no description for status ${status}`);
  return meaning;
}

function buildContent(
  reply: RoutedEndpoint["definition"]["reply"][string],
  source: Declaration,
  book: SchemaBook,
): JsonObject {
  if (reply === REDIRECT || reply === NO_CONTENT) return {};
  if (!isSchema(reply)) throw new Error(`scripts/openapi/operations.ts does not know the reply ${reply}`);
  return {
    content: {
      "application/json": { schema: describeMembers(book.convert(reply, "output"), { source, section: "reply" }) },
    },
  };
}
