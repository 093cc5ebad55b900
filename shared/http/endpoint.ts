import middy from "@middy/core";
import type { APIGatewayProxyEventV2, Context } from "aws-lambda";
import * as v from "valibot";
import { type ErrorCode, notFound } from "#shared/errors.ts";
import { readIdempotencyHeaders } from "#shared/idempotency/idempotency-headers.ts";
import { isUuid } from "#shared/ids.ts";
import { loggedPath, logLine } from "#shared/log/log.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { settingIfAny } from "#shared/settings.ts";
import type { RequestWarning } from "#shared/wire/request-warning.ts";
import {
  type AuthenticationPorts,
  type AuthenticationRules,
  type Caller,
  type LogFields,
  type RequestBody,
  type RequestContext,
  runAuthenticated,
  type UnauthenticatedRequest,
} from "./authenticated-request.ts";
import { hasCredential, headerReader } from "./caller.ts";
import { ORIGIN_SECRET_HEADER, refuseOtherOrigins } from "./origin-secret.ts";
import { type HttpResponse, problem } from "./problem.ts";
import { type Parameters, parseFields, parseQuery, type Query, readBody, readQuery, readRawBody } from "./request.ts";
import { type EndpointReply, type Replies, readTraceId, renderResponse } from "./response.ts";
import type { Schema } from "./schema-parts.ts";

type Out<S> = S extends v.GenericSchema<unknown, infer T> ? T : undefined;

interface Spec<Path extends Schema, Body extends Schema, Q extends Parameters, Reply extends Replies>
  extends AuthenticationRules {
  /** Schemas of the request; a `path` member that does not match returns 404. */
  readonly request: { readonly path?: Path; readonly query?: Q; readonly body?: Body };
  readonly reply: Reply;
  /** Error codes of `run` in addition to those of the route itself; for the OpenAPI document. */
  readonly errors?: readonly ErrorCode[];
  /** True if a success is not logged, because there are many without information. */
  readonly quiet?: boolean;
  /** True if the response can also be a stream of events; for the OpenAPI document. */
  readonly eventStream?: boolean;
}

/** The parsed request of an endpoint. */
interface Call<Path, Body, Q> extends RequestBody {
  readonly path: Path;
  readonly body: Body;
  readonly query: Q;
  /** A request header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/** What every endpoint needs in addition to its own ports. */
export type HttpPorts = AuthenticationPorts;

/** What a public endpoint needs. */
export type PublicPorts = Pick<HttpPorts, "baseUrl">;

/**
 * Defines an endpoint: `request` and `reply` are data, `run` has the endpoint's own logic. Checks run in the order of the API contract:
 * credential 401, size 413, content type 415, fields 400, kind of caller and scope 403, ids 404, then those of `run`; the 429 of a rate limit
 * comes last, with the transaction that it is part of. Routes reserved for runs check the kind of caller right after the credential.
 */
export const endpoint = /* @__PURE__ */ createFactory<HttpPorts, Caller>(runAuthenticated);

/**
 * As `endpoint`, for a route whose line says `keyOptional`: a request without a key and without a session is served without a
 * principal. A credential that is sent has to be valid.
 */
export const keyOptionalEndpoint = /* @__PURE__ */ createFactory<
  HttpPorts,
  { readonly principal: Principal | undefined }
>(async (request, ports, run) =>
  hasCredential(request.event, ports)
    ? runAuthenticated(request, ports, run)
    : run({ ...request.readCall(), principal: undefined }),
);

/** As `endpoint`, for a route that needs no credential: there is no principal. */
export const publicEndpoint = /* @__PURE__ */ createFactory<PublicPorts, unknown>(async (request, _ports, run) =>
  run(request.readCall()),
);

/**
 * Creates a function that defines endpoints. Its calls are marked as pure, so that bundles leave out the kinds that they do not use.
 * @param respond runs a request, and adds to the call what such endpoints know about the caller
 */
function createFactory<Base extends PublicPorts, Extra>(
  respond: <C extends RequestBody, T>(
    request: UnauthenticatedRequest<C>,
    ports: Base,
    run: (call: C & Extra) => Promise<T>,
  ) => Promise<T>,
) {
  return <
    P,
    R extends Replies,
    Path extends Schema = v.GenericSchema<unknown, undefined>,
    Body extends Schema = v.GenericSchema<unknown, undefined>,
    Q extends Parameters = Record<never, never>,
    const A extends EndpointReply<R> = EndpointReply<R>,
  >(
    definition: Spec<Path, Body, Q, R> & {
      run(call: Call<Out<Path>, Out<Body>, Query<Q>> & Extra, ports: P): Promise<A>;
    },
  ) =>
    served<Path, Body, Q, R, P & Base, A>(definition, (event, ports, context) =>
      respond(
        { ...context, event, rules: definition, readCall: (refuse) => readCall(definition.request, event, refuse) },
        ports,
        (call) => definition.run(call, ports),
      ),
    );
}

interface RawDefinition<Path, R extends Replies, P, A> extends Spec<Schema, Schema, Parameters, R> {
  readonly request: { readonly path: v.GenericSchema<unknown, Path> };
  run(call: Pick<Call<Path, Buffer, unknown>, "path" | "body" | "header">, ports: P): Promise<A>;
}

/** As `publicEndpoint`, for a route whose `run` checks who has sent the bytes of the body before it parses them. */
export function rawEndpoint<P, R extends Replies, Path, const A extends EndpointReply<R> = EndpointReply<R>>(
  definition: RawDefinition<Path, R, P, A>,
) {
  return served<Schema, Schema, Parameters, R, P & PublicPorts, A>(definition, async (event, ports) => {
    const path = readPath(definition.request.path, event);
    return definition.run({ path, body: readRawBody(event), header: headerReader(event) }, ports);
  });
}

/** Parses a request; `refuse` runs before the path is parsed, since a 404 shows what exists. */
function readCall<Path extends Schema, Body extends Schema, Q extends Parameters>(
  request: Spec<Path, Body, Q, Replies>["request"],
  event: APIGatewayProxyEventV2,
  refuse?: () => void,
): Call<Out<Path>, Out<Body>, Query<Q>> {
  const raw = readBody(event);
  const query = readQuery(request.query ?? {}, parseQuery(event.rawQueryString));
  const sentBody = raw === undefined ? {} : raw;
  const body = request.body === undefined ? undefined : parseFields(request.body, sentBody);
  // Like the fields, before it is known whether the resource exists.
  if (event.requestContext.http.method === "POST") readIdempotencyHeaders(headerReader(event));
  refuse?.();
  const path = request.path === undefined ? undefined : readPath(request.path, event);
  const call = { path, query, body, sentBody, header: headerReader(event) };
  // biome-ignore lint/plugin: the parts were parsed by the very schemas that their types come from.
  return call as Call<Out<Path>, Out<Body>, Query<Q>>;
}

/** What all endpoints have in common: render the response, turn errors into problems, and log a line. */
function served<
  Path extends Schema,
  Body extends Schema,
  Q extends Parameters,
  R extends Replies,
  P extends PublicPorts,
  A extends EndpointReply<R>,
>(
  { request, reply, errors = [], rateLimit, quiet = false, eventStream = false }: Spec<Path, Body, Q, R>,
  respond: (event: APIGatewayProxyEventV2, ports: P, context: RequestContext) => Promise<A>,
) {
  return {
    request,
    reply,
    errors,
    rateLimit,
    eventStream,
    /** Handles one event; every error becomes problem+json. */
    async handle(event: APIGatewayProxyEventV2, ports: P): Promise<HttpResponse> {
      const started = performance.now();
      const traceId = readTraceId(event);
      const log: LogFields = {
        route: loggedPath(event.routeKey),
        method: event.requestContext.http.method,
        path: loggedPath(event.rawPath),
      };
      const logResponse = ({ statusCode: status }: HttpResponse, level: "info" | "error", fields = {}) =>
        logLine(level, "request", { ...log, ...fields, status, ms: elapsed(started), trace_id: traceId });
      try {
        const originSecrets = settingIfAny("ORIGIN_SECRET");
        if (originSecrets !== undefined) refuseOtherOrigins(headerReader(event)(ORIGIN_SECRET_HEADER), originSecrets);
        const warnings: RequestWarning[] = [];
        const result = await respond(event, ports, { log, warnings });
        const response = renderResponse(result, reply, traceId, warnings);
        if (!quiet) logResponse(response, "info");
        return response;
      } catch (error) {
        const response = problem(error, { baseUrl: ports.baseUrl, instance: event.rawPath, traceId });
        if (response.statusCode >= 500) logResponse(response, "error", { error });
        else logResponse(response, "info");
        return response;
      }
    },
    /** Creates the Lambda handler; `createPorts` is called at the first event and not before. */
    lambda(createPorts: () => P) {
      let ports: P | undefined;
      return middy<APIGatewayProxyEventV2, HttpResponse, Error, Context>(async (event: APIGatewayProxyEventV2) => {
        ports ??= createPorts();
        return this.handle(event, ports);
      }).onError(async (request) => {
        // An error while the ports are created (a missing setting) returns problem+json too.
        logLine("error", "request failed before it began", { error: request.error });
        const { rawPath } = request.event;
        request.response = problem(request.error, {
          baseUrl: settingIfAny("BASE_URL") ?? "",
          instance: rawPath,
          traceId: readTraceId(request.event),
        });
      });
    },
  };
}

const elapsed = (started: number): number => Math.round(performance.now() - started);

/** A malformed id returns 404, exactly like an unknown one. */
function readPath<T>(schema: v.GenericSchema<unknown, T>, event: APIGatewayProxyEventV2): T {
  const parsed = v.safeParse(schema, event.pathParameters ?? {});
  if (parsed.success) return parsed.output;
  const parameter = v.getDotPath(parsed.issues[0]) ?? "resource";
  throw notFound(parameter.replace(/(Id|Uid)$/, ""));
}

/** An id in a path. */
export const PathId = v.pipe(v.string(), v.check(isUuid, "must be a UUID"), v.metadata({ format: "uuid" }));
