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
import { isInTeam, type Principal } from "#shared/principals/principal.ts";
import type { PrincipalStore } from "#shared/principals/principal-store.ts";
import { settingIfAny } from "#shared/settings.ts";
import { type HttpResponse, problem } from "./problem.ts";
import { header, type Parameters, parseFields, parseQuery, type Query, readBody, readQuery } from "./request.ts";

type Schema = v.GenericSchema<unknown, unknown>;
type Out<S> = S extends v.GenericSchema<unknown, infer T> ? T : undefined;

/** The answer of a redirect; its `location` is a time-limited URL. */
export const REDIRECT = "redirect";

/** The answer that has no body: 204. */
export const NO_CONTENT = "no content";

/** The answer that is a page for people. */
export const HTML = "html";

interface Spec<Path extends Schema, Body extends Schema, Q extends Parameters, Reply extends Replies> {
  /** Schemas of what is sent; `path` members that are no UUID make the path name nothing: 404. */
  readonly request: { readonly path?: Path; readonly query?: Q; readonly body?: Body };
  readonly reply: Reply;
  /** Codes that `run` may answer beside those that come from the route itself; for the OpenAPI document. */
  readonly errors?: readonly ErrorCode[];
  /** True where a cancelled run's key is still good: to be told to stop, and to say that it has. */
  readonly whileStopping?: boolean;
  /** The caller's bucket that a call is paid from; `run` puts `toll` into the transaction that does the work. */
  readonly rateLimit?: RateLimitKind;
}
type Replies = Readonly<Record<number, Schema | typeof REDIRECT | typeof NO_CONTENT | typeof HTML>>;
type AnswerHeaders = Readonly<Record<string, string>>;

type Answer<R extends Replies> = {
  [S in keyof R]: R[S] extends Schema
    ? { readonly status: S; readonly body: v.InferInput<R[S]>; readonly headers?: AnswerHeaders }
    : R[S] extends typeof REDIRECT
      ? { readonly status: S; readonly location: string }
      : R[S] extends typeof HTML
        ? { readonly status: S; readonly html: string; readonly headers?: AnswerHeaders }
        : { readonly status: S };
}[keyof R];

/** What an endpoint is called with, all of it parsed. */
export interface Call<Path, Body, Q, Who> extends PublicCall<Path, Body, Q> {
  readonly principal: Who;
  /** What the call costs, for an endpoint that declares a `rateLimit`; in any other it throws. */
  readonly rateLimitToken: RateLimitToken;
}

/** What a public endpoint is called with: the same, but for whom it comes from. */
interface PublicCall<Path, Body, Q> {
  readonly path: Path;
  readonly body: Body;
  readonly query: Q;
  /** A request header by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/** What every endpoint needs beside its own ports. */
export interface HttpPorts extends PublicPorts {
  readonly principals: PrincipalStore;
  /** Kinds of principals that may call, from the route's line in routes.ts. */
  readonly who: readonly string[];
  /** How often one caller may do what has a rate limit. */
  readonly rates: RateLimits;
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
 * The one way to write an endpoint: `request` and `reply` are data, `run` is the endpoint's own line of thought.
 * The order of checks is the contract's: credential 401, size 413, type 415, fields 400, who may call
 * 403, ids 404, then what `run` finds; a rate limit's 429 comes last, with the transaction that it is part of.
 * Routes reserved for runs check the kind of caller directly after the credential.
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
    const rateLimitToken = createRateLimitToken(principal, definition.rateLimit, ports.rates);
    const given = await definition.run({ ...call, principal, rateLimitToken }, ports);
    if (event.requestContext.http.method !== "GET") await ports.principals.noteUse(principal);
    return given;
  });
}

/**
 * As `endpoint`, for a route whose line says `keyOptional`: a request without an Authorization header is served without a
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
    if (header(event, "authorization") === undefined) {
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

/** As `endpoint`, for a route that is open to everybody: there is no principal, and nobody is refused. */
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

/** The parts of a request, each parsed; `refuse` comes before the path, which says what exists. */
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
  const call = { path, query, body, header: (name: string) => header(event, name) };
  // biome-ignore lint/plugin: the parts were parsed by the very schemas that their types come from.
  return call as PublicCall<Out<Path>, Out<Body>, Query<Q>>;
}

/** What all endpoints have in common: the answer is rendered, an error becomes a problem, and a line is logged. */
function served<
  Path extends Schema,
  Body extends Schema,
  Q extends Parameters,
  R extends Replies,
  P extends PublicPorts,
  A extends Answer<R>,
>(
  { request, reply, errors = [], rateLimit }: Spec<Path, Body, Q, R>,
  answer: (event: APIGatewayProxyEventV2, ports: P, log: LogFields) => Promise<A>,
) {
  return {
    request,
    reply,
    errors,
    rateLimit,
    /** Answers one event; every error becomes problem+json. */
    async handle(event: APIGatewayProxyEventV2, ports: P): Promise<HttpResponse> {
      const started = performance.now();
      const log: LogFields = {
        route: loggedPath(event.routeKey),
        method: event.requestContext.http.method,
        path: loggedPath(event.rawPath),
      };
      try {
        const response = render(await answer(event, ports, log), reply, traceOf(event));
        logLine("info", "request", {
          ...log,
          status: response.statusCode,
          ms: elapsed(started),
          trace_id: traceOf(event),
        });
        return response;
      } catch (error) {
        const context = { baseUrl: ports.baseUrl, instance: event.rawPath, traceId: traceOf(event) };
        const response = problem(error, context);
        const unexpected = response.statusCode >= 500 ? { error } : {};
        logLine(response.statusCode >= 500 ? "error" : "info", "request", {
          ...log,
          ...unexpected,
          status: response.statusCode,
          ms: elapsed(started),
          trace_id: traceOf(event),
        });
        return response;
      }
    },
    /** The Lambda handler; `live` is called at the first event and not before. */
    lambda(live: () => P) {
      let ports: P | undefined;
      return middy<APIGatewayProxyEventV2, HttpResponse, Error, Context>(async (event: APIGatewayProxyEventV2) => {
        ports ??= live();
        return this.handle(event, ports);
      }).onError(async (request) => {
        // What fails before the first port stands (a missing setting) is still a problem+json to the caller.
        logLine("error", "request failed before it began", { error: request.error });
        const { rawPath } = request.event;
        request.response = problem(request.error, {
          baseUrl: settingIfAny("BASE_URL") ?? "",
          instance: rawPath,
          traceId: traceOf(request.event),
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
  const principal = await ports.principals.authenticate(header(event, "authorization"), teamOf(event));
  if (principal.kind === "run" && principal.stopping && !whileStopping) {
    throw new RunyardError("authentication_required", {
      detail: "the run's key is no longer valid",
      headers: { "www-authenticate": "Bearer" },
    });
  }
  return principal;
}

const teamOf = (event: APIGatewayProxyEventV2) => header(event, "x-team-uid") ?? header(event, "x-warp-team-uid");

/** Harness support tells no other caller anything about the requests that it accepts, so the kind of caller comes first. */
const isReservedForRuns = ({ who }: HttpPorts): boolean => who.every((kind) => kind === "run");

function refuseKind({ kind }: Principal, { who }: HttpPorts): void {
  if (who.includes(kind)) return;
  throw new RunyardError("not_authorized", {
    detail: `this call is for ${who.map((name) => `${name} keys`).join(" and ")}`,
  });
}

function refuseForeignTeam(principal: Principal, event: APIGatewayProxyEventV2): void {
  const team = teamOf(event);
  if (team !== undefined && !isInTeam(principal, team)) {
    throw new RunyardError("not_authorized", { detail: "X-Team-Uid: you are not a member of this team" });
  }
}

/** A malformed id names nothing: 404, in the very words of an unknown one. */
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
  if ("location" in answer) return { statusCode, headers: { ...headers, location: answer.location }, body: "" };
  const schema = replies[statusCode];
  if (schema === NO_CONTENT) return { statusCode, headers, body: "" };
  const extra = "headers" in answer && answer.headers !== undefined ? answer.headers : {};
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
  // Parsed, not only checked: a member that the schema does not name cannot leak.
  const body = v.parse(schema, "body" in answer ? answer.body : undefined);
  return {
    statusCode,
    headers: { ...headers, "content-type": "application/json", ...extra },
    body: JSON.stringify(body),
  };
}

/** The request's trace id: X-Ray's where there is one, else API Gateway's request id. */
export function traceOf(event: APIGatewayProxyEventV2): string {
  const [, root] = /Root=([\w-]+)/.exec(event.headers["x-amzn-trace-id"] ?? "") ?? [];
  return root ?? event.requestContext.requestId;
}
