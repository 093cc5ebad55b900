import middy from "@middy/core";
import type { APIGatewayProxyEventV2, Context } from "aws-lambda";
import * as v from "valibot";
import { type ErrorCode, notFound, RunyardError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import {
  createRateLimitToken,
  type RateLimitKind,
  type RateLimits,
  type RateLimitToken,
} from "#shared/limits/token-bucket.ts";
import { loggedPath, logLine } from "#shared/log/log.ts";
import { isInTeam, type Principal, toPrincipalKey } from "#shared/principals/principal.ts";
import type { PrincipalStore } from "#shared/principals/principal-store.ts";
import { settingIfAny } from "#shared/settings.ts";
import { type EventText, type HttpResponse, problem } from "./problem.ts";
import { header, type Parameters, parseFields, parseQuery, type Query, readBody, readQuery } from "./request.ts";
import { clearSessionCookie, readSessionCookie, refuseForeignOrigin } from "./session-cookie.ts";

type Schema = v.GenericSchema<unknown, unknown>;
type Out<S> = S extends v.GenericSchema<unknown, infer T> ? T : undefined;

/** The response of a redirect; its `location` is a time-limited URL. */
export const REDIRECT = "redirect";

/** The response without a body: 204. */
export const NO_CONTENT = "no content";

/** The response that is an HTML page. */
export const HTML = "html";

interface Spec<Path extends Schema, Body extends Schema, Q extends Parameters, Reply extends Replies> {
  /** Schemas of the request; a `path` member that does not match is answered with 404. */
  readonly request: { readonly path?: Path; readonly query?: Q; readonly body?: Body };
  readonly reply: Reply;
  /** Error codes of `run` in addition to those of the route itself; for the OpenAPI document. */
  readonly errors?: readonly ErrorCode[];
  /** True where the key of a cancelled run is still valid, so that its execution learns of the cancel and reports its stop. */
  readonly whileStopping?: boolean;
  /** True where a success is not logged, because there are many and none tells anything. */
  readonly quiet?: boolean;
  /** The kind of rate limit; `run` adds `rateLimitToken` to the transaction that has the request's effect. */
  readonly rateLimit?: RateLimitKind;
  /** True if the response can also be a stream of events; for the OpenAPI document. */
  readonly eventStream?: boolean;
}
type Replies = Readonly<Record<number, Schema | typeof REDIRECT | typeof NO_CONTENT | typeof HTML>>;
type AnswerHeaders = Readonly<Record<string, string>>;

type Answer<R extends Replies> = {
  [S in keyof R]: R[S] extends Schema
    ?
        | { readonly status: S; readonly body: v.InferInput<R[S]>; readonly headers?: AnswerHeaders }
        | { readonly status: S; readonly stream: EventText }
    : R[S] extends typeof REDIRECT
      ? { readonly status: S; readonly location: string; readonly headers?: AnswerHeaders }
      : R[S] extends typeof HTML
        ? { readonly status: S; readonly html: string; readonly headers?: AnswerHeaders }
        : { readonly status: S; readonly headers?: AnswerHeaders };
}[keyof R];

/** The parsed request of an endpoint. */
export interface Call<Path, Body, Q, Who> extends PublicCall<Path, Body, Q> {
  readonly principal: Who;
  /** The rate-limit token of an endpoint that declares a `rateLimit`; in any other endpoint it throws. */
  readonly rateLimitToken: RateLimitToken;
}

/** The parsed request of a public endpoint: the same without a principal. */
interface PublicCall<Path, Body, Q> {
  readonly path: Path;
  readonly body: Body;
  readonly query: Q;
  /** A request header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/** What every endpoint needs in addition to its own ports. */
export interface HttpPorts extends PublicPorts {
  readonly principals: PrincipalStore;
  /** Kinds of principals that may call the route, from its line in routes.ts. */
  readonly who: readonly string[];
  /** The rate limits of one caller. */
  readonly rates: RateLimits;
  /** Address of the web app, if there is one. */
  readonly webUrl: string | undefined;
}

/** What a public endpoint needs. */
export interface PublicPorts {
  readonly baseUrl: string;
}

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
 * credential 401, size 413, content type 415, fields 400, kind of caller 403, ids 404, then those of `run`; the 429 of a rate limit
 * comes last, with the transaction that it is part of. Routes reserved for runs check the kind of caller right after the credential.
 */
export function endpoint<
  P,
  R extends Replies,
  Path extends Schema = v.GenericSchema<unknown, undefined>,
  Body extends Schema = v.GenericSchema<unknown, undefined>,
  Q extends Parameters = Record<never, never>,
  const A extends Answer<R> = Answer<R>,
>(definition: Definition<Path, Body, Q, R, P, A>) {
  return served<Path, Body, Q, R, P & HttpPorts, A>(definition, async (event, ports, log) => {
    const principal = await authenticate(event, ports, definition.whileStopping ?? false);
    log.principal = `${principal.kind}`;
    if (isReservedForRuns(ports)) refuseKind(principal, ports);
    const call = readCall(definition.request, event, () => {
      refuseKind(principal, ports);
      refuseForeignTeam(principal, event);
    });
    const rateLimitToken = createRateLimitToken(toPrincipalKey(principal), definition.rateLimit, ports.rates);
    const given = await definition.run({ ...call, principal, rateLimitToken }, ports);
    if (event.requestContext.http.method !== "GET") await ports.principals.noteUse(principal);
    return given;
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
  const A extends Answer<R> = Answer<R>,
>(definition: KeyOptionalDefinition<Path, Body, Q, R, P, A>) {
  return served<Path, Body, Q, R, P & HttpPorts, A>(definition, async (event, ports, log) => {
    if (header(event, "authorization") === undefined && readSessionCookie(headerReader(event), ports) === undefined) {
      return definition.run({ ...readCall(definition.request, event), principal: undefined }, ports);
    }
    const principal = await authenticate(event, ports, false);
    log.principal = `${principal.kind}`;
    const call = readCall(definition.request, event, () => {
      refuseKind(principal, ports);
      refuseForeignTeam(principal, event);
    });
    const given = await definition.run({ ...call, principal }, ports);
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
  const A extends Answer<R> = Answer<R>,
>(definition: PublicDefinition<Path, Body, Q, R, P, A>) {
  return served<Path, Body, Q, R, P & PublicPorts, A>(definition, async (event, ports) =>
    definition.run(readCall(definition.request, event), ports),
  );
}

/** Parses a request; `refuse` runs before the path is parsed, since a 404 shows what exists. */
function readCall<Path extends Schema, Body extends Schema, Q extends Parameters>(
  request: Spec<Path, Body, Q, Replies>["request"],
  event: APIGatewayProxyEventV2,
  refuse: () => void = () => {},
): PublicCall<Out<Path>, Out<Body>, Query<Q>> {
  const raw = readBody(event);
  const query = readQuery(request.query ?? {}, parseQuery(event.rawQueryString));
  const body = request.body === undefined ? undefined : parseFields(request.body, raw === undefined ? {} : raw);
  refuse();
  const path = request.path === undefined ? undefined : readPath(request.path, event);
  const call = { path, query, body, header: headerReader(event) };
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
  A extends Answer<R>,
>(
  { request, reply, errors = [], rateLimit, quiet = false, eventStream = false }: Spec<Path, Body, Q, R>,
  answer: (event: APIGatewayProxyEventV2, ports: P, log: LogFields) => Promise<A>,
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
        const response = render(await answer(event, ports, log), reply, readTraceId(event));
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
        // An error while the ports are created (a missing setting) is answered with problem+json too.
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

interface LogFields {
  route: string;
  method: string;
  path: string;
  principal?: string;
}

const elapsed = (started: number): number => Math.round(performance.now() - started);

async function authenticate(
  event: APIGatewayProxyEventV2,
  ports: HttpPorts,
  whileStopping: boolean,
): Promise<Principal> {
  const authorization = header(event, "authorization");
  const sessionToken = authorization === undefined ? readSessionCookie(headerReader(event), ports) : undefined;
  if (sessionToken !== undefined) return authenticateSession(event, sessionToken, ports);
  const principal = await ports.principals.authenticate(authorization, readTeamHeader(event));
  if (principal.kind === "run" && principal.stopping && !whileStopping) {
    throw new RunyardError("authentication_required", {
      detail: "the run's key is no longer valid",
      headers: { "www-authenticate": "Bearer" },
    });
  }
  return principal;
}

/** Authenticates by the session cookie. The cookie of a session that has ended is removed from the browser. */
async function authenticateSession(event: APIGatewayProxyEventV2, token: string, ports: HttpPorts): Promise<Principal> {
  try {
    const principal = await ports.principals.authenticateSession(token, readTeamHeader(event));
    if (event.requestContext.http.method !== "GET") refuseForeignOrigin(headerReader(event), ports);
    return principal;
  } catch (error) {
    if (!(error instanceof RunyardError) || error.code !== "authentication_required") throw error;
    throw new RunyardError(error.code, {
      detail: error.message,
      headers: { ...error.headers, "set-cookie": clearSessionCookie(headerReader(event), ports) },
    });
  }
}

const headerReader = (event: APIGatewayProxyEventV2) => (name: string) => header(event, name);
const readTeamHeader = (event: APIGatewayProxyEventV2) =>
  header(event, "x-team-uid") ?? header(event, "x-warp-team-uid");

/** Harness support shows other callers nothing about the requests that it accepts, so the kind of caller is checked first. */
const isReservedForRuns = ({ who }: HttpPorts): boolean => who.every((kind) => kind === "run");

function refuseKind({ kind }: Principal, { who }: HttpPorts): void {
  if (who.includes(kind)) return;
  throw new RunyardError("not_authorized", {
    detail: `this call is for ${who.map((name) => `${name} keys`).join(" and ")}`,
  });
}

function refuseForeignTeam(principal: Principal, event: APIGatewayProxyEventV2): void {
  const team = readTeamHeader(event);
  if (team !== undefined && !isInTeam(principal, team)) {
    throw new RunyardError("not_authorized", { detail: "X-Team-Uid: you are not a member of this team" });
  }
}

/** A malformed id is answered with 404, exactly as an unknown one. */
function readPath<T>(schema: v.GenericSchema<unknown, T>, event: APIGatewayProxyEventV2): T {
  const parsed = v.safeParse(schema, event.pathParameters ?? {});
  if (parsed.success) return parsed.output;
  const parameter = v.getDotPath(parsed.issues[0]) ?? "resource";
  throw notFound(parameter.replace(/(Id|Uid)$/, ""));
}

/** An id in a path. */
export const PathId = v.pipe(v.string(), v.check(isUuid, "must be a UUID"), v.metadata({ format: "uuid" }));

function render<R extends Replies>(answer: Answer<R>, replies: R, traceId: string): HttpResponse {
  const { status } = answer;
  const headers = { "cache-control": "no-store", "x-request-id": traceId };
  const statusCode = Number(status);
  if ("stream" in answer) {
    const type = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };
    return { statusCode, headers: { ...headers, ...type }, body: "", stream: answer.stream };
  }
  const extra = "headers" in answer && answer.headers !== undefined ? answer.headers : {};
  if ("location" in answer)
    return { statusCode, headers: { ...headers, ...extra, location: answer.location }, body: "" };
  const schema = replies[statusCode];
  if (schema === NO_CONTENT) return { statusCode, headers: { ...headers, ...extra }, body: "" };
  if ("html" in answer) {
    return {
      statusCode,
      headers: { ...headers, "content-type": "text/html; charset=utf-8", ...extra },
      body: answer.html,
    };
  }
  if (schema === undefined || schema === REDIRECT || schema === HTML) {
    throw new Error(`no reply is declared for status ${statusCode}`);
  }
  // Parsing removes members that the schema does not name, so that none can leak.
  const body = v.parse(schema, "body" in answer ? answer.body : undefined);
  return {
    statusCode,
    headers: { ...headers, "content-type": "application/json", ...extra },
    body: JSON.stringify(body),
  };
}

/** The request's trace id: X-Ray's where there is one, else API Gateway's request id. */
export function readTraceId(event: APIGatewayProxyEventV2): string {
  const [, root] = /Root=([\w-]+)/.exec(event.headers["x-amzn-trace-id"] ?? "") ?? [];
  return root ?? event.requestContext.requestId;
}
