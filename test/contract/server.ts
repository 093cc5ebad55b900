import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { notFound } from "#functions/fallback/not-found.ts";
import type { HttpResponse } from "#shared/http/problem.ts";
import { FALLBACK_PORTS, findRoute, loadEndpoint } from "../support/client.ts";
import { httpEvent } from "../support/control-plane.ts";
import { type Seeds, seeds } from "./seeds.ts";

const PREFIX = "/api/v1";
const SEEDS = "/seeds/";

/** Milliseconds in which a second of the control plane's time passes while a request waits. */
const SECOND_MS = 4;

export interface ContractServer {
  /** The URL of the API, which ends in /api/v1. */
  readonly baseUrl: string;
  /** The prefix of the URLs of seeds: `{seedsUrl}{METHOD} {path template}`, percent-encoded, with `?stateful` in that phase. */
  readonly seedsUrl: string;
  close(): Promise<void>;
}

/** Serves the whole API, with every route's own function, on the memory stores. */
export async function serveContract(): Promise<ContractServer> {
  const stages = seeds();
  // Generated headers and URLs exceed Node's default limit, and the API is to refuse them.
  const server = createServer({ maxHeaderSize: 1024 * 1024 }, (request, response) => {
    const result = (request.url ?? "").startsWith(SEEDS) ? handleSeed(request, stages) : handleRequest(request, stages);
    void result.then(
      (found) => send(response, found),
      (error: unknown) => send(response, { statusCode: 500, headers: {}, body: String(error) }),
    );
  });
  // Idle connections stay open: one that closes while it is reused would look like a failure of the API.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no address");
  const origin = `http://127.0.0.1:${address.port}`;
  return {
    baseUrl: origin + PREFIX,
    seedsUrl: origin + SEEDS,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function handleSeed(request: IncomingMessage, stages: Seeds): Promise<HttpResponse> {
  const [path = "", query] = (request.url ?? "").split("?");
  const operation = decodeURIComponent(path.slice(SEEDS.length));
  const seed = await stages.take(operation, query === "stateful");
  return { statusCode: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(seed) };
}

/** Finds the route's function, and passes it the request as an event, as API Gateway does. */
async function handleRequest(request: IncomingMessage, stages: Seeds): Promise<HttpResponse> {
  const event = await toEvent(request);
  const method = event.requestContext.http.method;
  const found = routeOfPath(method, event.rawPath);
  if (found === undefined) return notFound.handle(event, FALLBACK_PORTS);
  const { route, parameters } = found;
  const operation = `${route.method} ${route.path}`;
  const stage = await stages.prepareStage(operation, event.headers["authorization"]);
  const endpoint = await loadEndpoint(route);
  const { clock, ports } = stage.plane;
  const ticking = setInterval(() => {
    clock.now += 1000;
  }, SECOND_MS);
  try {
    const who = route.who === "public" ? [] : [...route.who];
    const response = await endpoint.handle(
      { ...event, pathParameters: parameters },
      { ...ports, who, scope: route.scope },
    );
    stages.noteResponse(operation, stage, response.statusCode);
    return response;
  } finally {
    clearInterval(ticking);
  }
}

function routeOfPath(method: string, rawPath: string): ReturnType<typeof findRoute> {
  try {
    return rawPath.startsWith(PREFIX) ? findRoute(method, rawPath.slice(PREFIX.length)) : undefined;
  } catch (error) {
    // A path with an invalid percent-encoding matches no route.
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

async function toEvent(request: IncomingMessage): Promise<APIGatewayProxyEventV2> {
  const [rawPath = "", query = ""] = (request.url ?? "").split(/\?(.*)/s);
  const bytes = await buffer(request);
  const headers = Object.entries(request.headersDistinct).map(([name, values]) => [name, values?.join(",") ?? ""]);
  const event = httpEvent({
    method: request.method ?? "GET",
    rawPath,
    query,
    ...(bytes.length === 0 ? {} : { body: bytes }),
  });
  return { ...event, headers: Object.fromEntries(headers) };
}

function send(response: ServerResponse, { statusCode, headers, body }: HttpResponse): void {
  response.writeHead(statusCode, headers);
  response.end(body);
}
