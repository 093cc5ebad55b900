import type { APIGatewayProxyEventV2 } from "aws-lambda";
import * as v from "valibot";
import type { RequestWarning } from "#shared/wire/request-warning.ts";
import type { EventText, HttpResponse } from "./problem.ts";

type Schema = v.GenericSchema<unknown, unknown>;

/** The response of a redirect; its `location` is a time-limited URL. */
export const REDIRECT = "redirect";

/** The response without a body: 204. */
export const NO_CONTENT = "no content";

/** The response that is an HTML page. */
export const HTML = "html";

export type Replies = Readonly<Record<number, Schema | typeof REDIRECT | typeof NO_CONTENT | typeof HTML>>;
type ReplyHeaders = Readonly<Record<string, string>>;

export type EndpointReply<R extends Replies> = {
  [S in keyof R]: R[S] extends Schema
    ?
        | { readonly status: S; readonly body: v.InferInput<R[S]>; readonly headers?: ReplyHeaders }
        | { readonly status: S; readonly stream: EventText }
    : R[S] extends typeof REDIRECT
      ? { readonly status: S; readonly location: string; readonly headers?: ReplyHeaders }
      : R[S] extends typeof HTML
        ? { readonly status: S; readonly html: string; readonly headers?: ReplyHeaders }
        : { readonly status: S; readonly headers?: ReplyHeaders };
}[keyof R];

/** Renders what `run` of an endpoint returned. An object gets the warnings about the request as a member. */
export function renderResponse<R extends Replies>(
  reply: EndpointReply<R>,
  replies: R,
  traceId: string,
  warnings: readonly RequestWarning[] = [],
): HttpResponse {
  const { status } = reply;
  const headers = { "cache-control": "no-store", "x-request-id": traceId };
  const statusCode = Number(status);
  if ("stream" in reply) {
    const type = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };
    return { statusCode, headers: { ...headers, ...type }, body: "", stream: reply.stream };
  }
  const { headers: extra } = reply;
  if ("location" in reply) return { statusCode, headers: { ...headers, ...extra, location: reply.location }, body: "" };
  const schema = replies[statusCode];
  if (schema === NO_CONTENT) return { statusCode, headers: { ...headers, ...extra }, body: "" };
  if ("html" in reply) {
    return {
      statusCode,
      headers: { ...headers, "content-type": "text/html; charset=utf-8", ...extra },
      body: reply.html,
    };
  }
  if (schema === undefined || schema === REDIRECT || schema === HTML) {
    throw new Error(`no reply is declared for status ${statusCode}`);
  }
  // Parsing removes members that the schema does not name, so that none can leak.
  const body = v.parse(schema, "body" in reply ? reply.body : undefined);
  return {
    statusCode,
    headers: { ...headers, "content-type": "application/json", ...extra },
    body: JSON.stringify(warnings.length > 0 && isObject(body) ? { ...body, warnings } : body),
  };
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The headers of the response to a POST: a repeated request is recognized by them. */
export const toReplayHeaders = (replayed: boolean): ReplyHeaders => (replayed ? { "idempotent-replay": "true" } : {});

/** The request's trace id: X-Ray's where there is one, else API Gateway's request id. */
export function readTraceId(event: APIGatewayProxyEventV2): string {
  const [, root] = /Root=([\w-]+)/.exec(event.headers["x-amzn-trace-id"] ?? "") ?? [];
  return root ?? event.requestContext.requestId;
}
