import middy from "@middy/core";
import type { APIGatewayProxyEventV2, Context } from "aws-lambda";
import * as v from "valibot";
import { type ErrorCode, notFound, RunyardError } from "#shared/errors.ts";
import { readIdempotencyHeaders } from "#shared/idempotency/idempotency-headers.ts";
import { isUuid } from "#shared/ids.ts";
import {
  createRateLimitToken,
  type RateLimitKind,
  type RateLimits,
  type RateLimitToken,
} from "#shared/limits/token-bucket.ts";
import { loggedPath, logLine } from "#shared/log/log.ts";
import { type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import { settingIfAny } from "#shared/settings.ts";
import { PRIVILEGED_READS } from "#shared/wire/keys/scope.ts";
import type { RequestWarning } from "#shared/wire/request-warning.ts";
import { isRecorded } from "./audit/action.ts";
import { withAudit, withoutAudit } from "./audit/trail.ts";
import { toAuditedRequest, toRefusal } from "./audited-request.ts";
import {
  authenticate,
  type CallerPorts,
  headerReader,
  isReservedForRuns,
  refuseForeignTeam,
  refuseKind,
  refuseScope,
} from "./caller.ts";
import { type HttpResponse, problem } from "./problem.ts";
import {
  header,
  type Parameters,
  parseFields,
  parseQuery,
  type Query,
  readBody,
  readQuery,
  readRawBody,
} from "./request.ts";
import { listWarnings } from "./request-warnings.ts";
import { type EndpointReply, type Replies, readTraceId, renderResponse } from "./response.ts";
import { readSessionCookie } from "./session-cookie.ts";

type Schema = v.GenericSchema<unknown, unknown>;
type Out<S> = S extends v.GenericSchema<unknown, infer T> ? T : undefined;

interface Spec<Path extends Schema, Body extends Schema, Q extends Parameters, Reply extends Replies> {
  /** Schemas of the request; a `path` member that does not match returns 404. */
  readonly request: { readonly path?: Path; readonly query?: Q; readonly body?: Body };
  readonly reply: Reply;
  /** Error codes of `run` in addition to those of the route itself; for the OpenAPI document. */
  readonly errors?: readonly ErrorCode[];
  /** True if the key of a cancelled run is still valid, so that its execution learns of the cancel and reports its stop. */
  readonly whileStopping?: boolean;
  /** True if a success is not logged, because there are many without information. */
  readonly quiet?: boolean;
  /** The kind of rate limit; `run` adds `rateLimitToken` to the transaction that has the request's effect. */
  readonly rateLimit?: RateLimitKind;
  /** True if the response can also be a stream of events; for the OpenAPI document. */
  readonly eventStream?: boolean;
  /** Refuses a request before its credential is read, or returns the one to read it from. @default the request itself */
  readonly admit?: (event: APIGatewayProxyEventV2, ports: CallerPorts) => APIGatewayProxyEventV2;
}

/** The parsed request of an endpoint. */
export interface Call<Path, Body, Q, Who> extends PublicCall<Path, Body, Q> {
  readonly principal: Who;
  /** The rate-limit token of an endpoint that declares a `rateLimit`; in any other endpoint it throws. */
  readonly rateLimitToken: RateLimitToken;
  /**
   * Authenticates the request again, for a response that takes long: its key may be deleted and its principal removed meanwhile.
   * @throws RunyardError as at the beginning of the request
   */
  readonly authenticateAgain: () => Promise<Who>;
  /** Runs `work` as a request of another endpoint, under whose name the audit log records its change or refusal. */
  readonly recordAs: RecordAs;
}

/** A request of an endpoint as the audit log names it. */
export interface RecordedRequest {
  /** Its method and path, such as `POST /agent/runs/{runId}/cancel`. */
  readonly operation: string;
  /** The parameters of the path. */
  readonly path: Readonly<Record<string, string>>;
  readonly body: unknown;
}
export type RecordAs = <T>(request: RecordedRequest, work: () => Promise<T>) => Promise<T>;

/** The parsed request of a public endpoint: the same without a principal. */
interface PublicCall<Path, Body, Q> {
  readonly path: Path;
  readonly body: Body;
  /** The body as it was sent, with the members that its schema does not name. */
  readonly sentBody: unknown;
  readonly query: Q;
  /** A request header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/** What every endpoint needs in addition to its own ports. */
export interface HttpPorts extends CallerPorts {
  /** The rate limits of one caller. */
  readonly rates: RateLimits;
}

/** What a public endpoint needs. */
export type PublicPorts = Pick<HttpPorts, "baseUrl">;

type Definition<Path extends Schema, Body extends Schema, Q extends Parameters, R extends Replies, P, A> = Spec<
  Path,
  Body,
  Q,
  R
> & { run(call: Call<Out<Path>, Out<Body>, Query<Q>, Principal>, ports: P): Promise<A> };

type KeyOptionalDefinition<
  Path extends Schema,
  Body extends Schema,
  Q extends Parameters,
  R extends Replies,
  P,
  A,
> = Spec<Path, Body, Q, R> & {
  run(
    call: PublicCall<Out<Path>, Out<Body>, Query<Q>> & { readonly principal: Principal | undefined },
    ports: P,
  ): Promise<A>;
};

type PublicDefinition<Path extends Schema, Body extends Schema, Q extends Parameters, R extends Replies, P, A> = Spec<
  Path,
  Body,
  Q,
  R
> & { run(call: PublicCall<Out<Path>, Out<Body>, Query<Q>>, ports: P): Promise<A> };

/**
 * Defines an endpoint: `request` and `reply` are data, `run` has the endpoint's own logic. Checks run in the order of the API contract:
 * credential 401, size 413, content type 415, fields 400, kind of caller and scope 403, ids 404, then those of `run`; the 429 of a rate limit
 * comes last, with the transaction that it is part of. Routes reserved for runs check the kind of caller right after the credential.
 */
export function endpoint<
  P,
  R extends Replies,
  Path extends Schema = v.GenericSchema<unknown, undefined>,
  Body extends Schema = v.GenericSchema<unknown, undefined>,
  Q extends Parameters = Record<never, never>,
  const A extends EndpointReply<R> = EndpointReply<R>,
>(definition: Definition<Path, Body, Q, R, P, A>) {
  return served<Path, Body, Q, R, P & HttpPorts, A>(definition, async (event, ports, { log, warnings }) => {
    const credentials = definition.admit?.(event, ports) ?? event;
    const principal = await authenticate(credentials, ports, definition.whileStopping ?? false);
    log.principal = `${principal.kind}`;
    return recordRefusals({ event, principal }, ports, async () => {
      if (isReservedForRuns(ports)) refuseKind(principal, ports);
      const call = readCall(definition.request, event, () => {
        refuseKind(principal, ports);
        refuseScope(principal, ports);
        refuseForeignTeam(principal, event);
      });
      const { body } = definition.request;
      if (body !== undefined && !isReservedForRuns(ports)) warnings.push(...listWarnings(body, call.sentBody));
      const rateLimitToken = createRateLimitToken(toPrincipalKey(principal), definition.rateLimit, ports.rates);
      const authenticateAgain = async () => {
        const again = await authenticate(credentials, ports, definition.whileStopping ?? false);
        refuseForeignTeam(again, event);
        return again;
      };
      const recordAs: RecordAs = ({ operation, path, body: members }, work) => {
        const request = { event: { ...event, routeKey: operation, pathParameters: { ...path } }, principal };
        return recordRefusals(request, ports, () => audited({ ...request, body: members }, ports, work));
      };
      const run = () => definition.run({ ...call, principal, rateLimitToken, authenticateAgain, recordAs }, ports);
      const given = await audited({ event, principal, body: call.body }, ports, run);
      if (event.requestContext.http.method !== "GET") await ports.principals.noteUse(principal);
      return given;
    });
  });
}

/**
 * As `endpoint`, for a route whose line says `keyOptional`: a request without a key and without a session is served without a
 * principal. A credential that is sent has to be valid.
 */
export function keyOptionalEndpoint<
  P,
  R extends Replies,
  Path extends Schema = v.GenericSchema<unknown, undefined>,
  Body extends Schema = v.GenericSchema<unknown, undefined>,
  Q extends Parameters = Record<never, never>,
  const A extends EndpointReply<R> = EndpointReply<R>,
>(definition: KeyOptionalDefinition<Path, Body, Q, R, P, A>) {
  return served<Path, Body, Q, R, P & HttpPorts, A>(definition, async (event, ports, { log }) => {
    if (header(event, "authorization") === undefined && readSessionCookie(headerReader(event), ports) === undefined) {
      return definition.run({ ...readCall(definition.request, event), principal: undefined }, ports);
    }
    const principal = await authenticate(event, ports, false);
    log.principal = `${principal.kind}`;
    const call = readCall(definition.request, event, () => {
      refuseKind(principal, ports);
      refuseScope(principal, ports);
      refuseForeignTeam(principal, event);
    });
    const run = () => definition.run({ ...call, principal }, ports);
    const given = await audited({ event, principal, body: call.body }, ports, run);
    if (event.requestContext.http.method !== "GET") await ports.principals.noteUse(principal);
    return given;
  });
}

/** As `endpoint`, for a route that needs no credential: there is no principal. */
export function publicEndpoint<
  P,
  R extends Replies,
  Path extends Schema = v.GenericSchema<unknown, undefined>,
  Body extends Schema = v.GenericSchema<unknown, undefined>,
  Q extends Parameters = Record<never, never>,
  const A extends EndpointReply<R> = EndpointReply<R>,
>(definition: PublicDefinition<Path, Body, Q, R, P, A>) {
  return served<Path, Body, Q, R, P & PublicPorts, A>(definition, async (event, ports) =>
    definition.run(readCall(definition.request, event), ports),
  );
}

interface RawDefinition<Path, R extends Replies, P, A> extends Spec<Schema, Schema, Parameters, R> {
  readonly request: { readonly path: v.GenericSchema<unknown, Path> };
  run(call: Pick<PublicCall<Path, Buffer, unknown>, "path" | "body" | "header">, ports: P): Promise<A>;
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
  refuse: () => void = () => {},
): PublicCall<Out<Path>, Out<Body>, Query<Q>> {
  const raw = readBody(event);
  const query = readQuery(request.query ?? {}, parseQuery(event.rawQueryString));
  const sentBody = raw === undefined ? {} : raw;
  const body = request.body === undefined ? undefined : parseFields(request.body, sentBody);
  // Like the fields, before it is known whether the resource exists.
  if (event.requestContext.http.method === "POST") readIdempotencyHeaders(headerReader(event));
  refuse();
  const path = request.path === undefined ? undefined : readPath(request.path, event);
  const call = { path, query, body, sentBody, header: headerReader(event) };
  // biome-ignore lint/plugin: the parts were parsed by the very schemas that their types come from.
  return call as PublicCall<Out<Path>, Out<Body>, Query<Q>>;
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
      const log: LogFields = {
        route: loggedPath(event.routeKey),
        method: event.requestContext.http.method,
        path: loggedPath(event.rawPath),
      };
      try {
        const warnings: RequestWarning[] = [];
        const given = await respond(event, ports, { log, warnings });
        const response = renderResponse(given, reply, readTraceId(event), warnings);
        const { statusCode: status } = response;
        if (!quiet) logLine("info", "request", { ...log, status, ms: elapsed(started), trace_id: readTraceId(event) });
        return response;
      } catch (error) {
        const context = { baseUrl: ports.baseUrl, instance: event.rawPath, traceId: readTraceId(event) };
        const response = problem(error, context);
        const unexpected = response.statusCode >= 500 ? { error } : {};
        logLine(response.statusCode >= 500 ? "error" : "info", "request", {
          ...log,
          ...unexpected,
          status: response.statusCode,
          ms: elapsed(started),
          trace_id: readTraceId(event),
        });
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

/** Runs an endpoint, and records the request in the audit log if it is refused: a change, or a read with one of `PRIVILEGED_READS`. */
async function recordRefusals<T>(
  { event, principal }: { event: APIGatewayProxyEventV2; principal: Principal },
  { scope, principals }: CallerPorts,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const isRead = event.routeKey.startsWith("GET ");
    const isPrivileged = isRead ? PRIVILEGED_READS.includes(scope) : !scope.startsWith("own ");
    const isRefused = isPrivileged && error instanceof RunyardError && error.code === "not_authorized";
    const refusal = isRefused ? toRefusal(event, principal) : undefined;
    if (refusal !== undefined) await principals.recordRefusal(refusal.team, refusal.event);
    throw error;
  }
}

/** Runs an endpoint, and records its change in the audit log, unless a run or a session reports about itself. */
function audited<T>(
  { event, principal, body }: { event: APIGatewayProxyEventV2; principal: Principal; body: unknown },
  { scope }: CallerPorts,
  run: () => Promise<T>,
): Promise<T> {
  if (scope.startsWith("own ")) return withoutAudit(run);
  return withAudit(toAuditedRequest(event, principal, body), isRecorded(event.routeKey), run);
}

/** What a response and its log line say in addition. */
interface RequestContext {
  readonly log: LogFields;
  /** Filled by the request. */
  readonly warnings: RequestWarning[];
}

interface LogFields {
  route: string;
  method: string;
  path: string;
  principal?: string;
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
