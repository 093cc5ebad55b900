import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { notFound } from "#functions/fallback/not-found.ts";
import { type Route, routePaths, routes } from "#infra/routes.ts";
import type { HttpResponse } from "#shared/http/problem.ts";
import type { Definition } from "../../scripts/openapi/endpoints.ts";
import {
  BASE_URL,
  type CallOptions,
  httpEvent,
  type ResponseBody,
  type TestControlPlane,
  type TestPorts,
} from "./control-plane.ts";
import { expectDocumented } from "./documented.ts";
import { withRights } from "./rights.ts";

const PREFIX = "/api/v1";

/** The ports of the fallback, which handles requests that match no route. */
export const FALLBACK_PORTS = { baseUrl: BASE_URL, routes: [...routePaths] };

export type RequestOptions = Pick<CallOptions, "key" | "headers" | "body">;

/** An endpoint as the router calls it. */
interface Endpoint extends Definition {
  handle(event: APIGatewayProxyEventV2, ports: TestPorts): Promise<HttpResponse>;
}

/**
 * Sends a request as API Gateway does: routes.ts defines the function and who may call it, and requests that match no route go
 * to the fallback. `target` is a path below /api/v1, with its query.
 */
export async function request(
  plane: TestControlPlane,
  method: string,
  target: string,
  options: RequestOptions = {},
): Promise<ResponseBody> {
  const [path = "", query = ""] = target.split(/\?(.*)/s);
  const found = findRoute(method, path);
  const rawPath = PREFIX + path;
  if (found === undefined)
    return parseResponse(await notFound.handle(httpEvent({ ...options, method, rawPath, query }), FALLBACK_PORTS));
  const { route, parameters } = found;
  const who = route.who === "public" ? [] : [...route.who];
  const endpoint = await loadEndpoint(route);
  const routeKey = `${method} ${PREFIX}${route.path}`;
  const call = {
    key: plane.key,
    ...options,
    method,
    rawPath,
    routeKey,
    query,
    path: parameters,
    who,
    scope: route.scope,
  };
  const response = await withRights(route.file, route.rights, () => plane.call(endpoint, call));
  expectDocumented(route, endpoint, response);
  return response;
}

/** Requests with one key: that of the control plane's first person by default. */
export function createClient(plane: TestControlPlane, key: string | undefined = plane.key) {
  return {
    get: (target: string, options: RequestOptions = {}) => request(plane, "GET", target, { key, ...options }),
    post: (target: string, body?: unknown, options: RequestOptions = {}) =>
      request(plane, "POST", target, { key, ...(body === undefined ? {} : { body }), ...options }),
    put: (target: string, body: unknown, options: RequestOptions = {}) =>
      request(plane, "PUT", target, { key, body, ...options }),
    delete: (target: string, options: RequestOptions = {}) => request(plane, "DELETE", target, { key, ...options }),
  };
}
export type Client = ReturnType<typeof createClient>;

/** `METHOD /path` of every route but the fallback's. */
export const routeNames: readonly string[] = routes
  .filter(({ path }) => path !== "*")
  .map(({ method, path }) => `${method} ${path}`);

/** Finds the route of a request, with the parameters of its path. */
export function findRoute(
  method: string,
  path: string,
): { route: Route; parameters: Record<string, string> } | undefined {
  for (const route of routes) {
    const names = route.path.split("/");
    const parts = path.split("/");
    if (route.method !== method || names.length !== parts.length) continue;
    const isParameter = (name: string) => name.startsWith("{");
    if (!names.every((name, index) => (isParameter(name) ? parts[index] !== "" : name === parts[index]))) continue;
    const pairs = names.flatMap((name, index) =>
      isParameter(name) ? [[name.slice(1, -1), decodeURIComponent(parts[index] ?? "")] as const] : [],
    );
    return { route, parameters: Object.fromEntries(pairs) };
  }
  return undefined;
}

const functionsFolder = join(import.meta.dirname, "..", "..", "functions");

const endpoints = new Map<string, Promise<Endpoint>>();

/** Loads the endpoint of a route's file once, because each `import()` in a test is a message to the test runner. */
export function loadEndpoint({ file }: Route): Promise<Endpoint> {
  const loading = endpoints.get(file) ?? importEndpoint(file);
  endpoints.set(file, loading);
  return loading;
}

async function importEndpoint(file: string): Promise<Endpoint> {
  const module: Record<string, unknown> = await import(pathToFileURL(join(functionsFolder, `${file}.ts`)).href);
  const endpoint = Object.values(module).find(isEndpoint);
  if (endpoint === undefined) throw new Error(`functions/${file}.ts exports no endpoint`);
  return endpoint;
}

const isEndpoint = (value: unknown): value is Endpoint =>
  typeof value === "object" && value !== null && "handle" in value && typeof value.handle === "function";

function parseResponse(response: HttpResponse): ResponseBody {
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(response.body) };
}
