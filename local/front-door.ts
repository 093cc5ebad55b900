import { randomUUID } from "node:crypto";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { spoilInvalidUtf8 } from "./invalid-utf8.ts";
import { Lanes } from "./lanes.ts";
import { answerScheduler, isSchedulerPath } from "./scheduler-endpoint.ts";
import type { Timers } from "./timers.ts";
import { serveWebPage } from "./web-page.ts";

type Gateway = (request: Request) => Promise<Response>;

export interface FrontDoor {
  port: number;
  /** Names the API behind the door: all requests under /api/v1 go to this address from now on. */
  openTo(apiUrl: string): void;
  /** Names what answers below /api/v1/model/, as its answers grow. */
  serveModels(gateway: Gateway): void;
  close(): Promise<void>;
}

export interface FrontDoorOptions {
  port: number;
  /** Directory of the web page; there need not be one. */
  webDirectory: string;
  /** The timers that the functions of the cloud set here; without them there is no scheduler. */
  timers?: Timers;
}

/** The local counterpart of CloudFront: one address for the API and the web page. It holds the scheduler too. */
export async function startFrontDoor(options: FrontDoorOptions): Promise<FrontDoor> {
  let target: URL | undefined;
  let models: ReturnType<typeof getRequestListener> | undefined;
  // Connections are kept: a new one for each call would cost more than the call.
  const agent = new http.Agent({ keepAlive: true, maxFreeSockets: 64 });
  const lanes = new Lanes();
  const server = http.createServer((request, response) => {
    const rawUrl = request.url ?? "/";
    if (options.timers !== undefined && isSchedulerPath(rawUrl))
      void answerScheduler(request, response, options.timers);
    else if (models !== undefined && rawUrl.startsWith("/api/v1/model/")) void models(request, response);
    else if (isApiPath(rawUrl)) inLane(lanes, request, response, () => forward(request, response, target, agent));
    else void serveWebPage(rawUrl, request.method ?? "GET", response, options.webDirectory);
  });
  // A long poll may hold its answer for 25 seconds, and uploads have no limit of their own here.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 75_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, "127.0.0.1", resolve);
  });
  return {
    port: portOf(server.address()),
    openTo: (apiUrl) => {
      target = new URL(apiUrl);
    },
    serveModels: (gateway) => {
      models = getRequestListener(gateway, { overrideGlobalObjects: false });
    },
    close: async () => {
      agent.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const isApiPath = (rawUrl: string): boolean => /^\/api(\/|\?|$)/.test(rawUrl);

/** A call takes the lane of its route; one that waits for something to happen holds nobody else up. */
function inLane(lanes: Lanes, request: IncomingMessage, response: ServerResponse, work: () => void): void {
  const [pathname = "", query] = (request.url ?? "/").split("?", 2);
  if (new URLSearchParams(query).has("wait")) {
    work();
    return;
  }
  const route = pathname.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "*");
  lanes.enter(`${request.method} ${route}`, (leave) => {
    // The caller may have hung up while it waited.
    if (response.destroyed) {
      leave();
      return;
    }
    response.once("close", leave);
    work();
  });
}

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === "object" && address !== null ? address.port : 0;

/** Headers that concern one connection, and the sender's own idea of who forwarded it. */
const NOT_FORWARDED = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "upgrade",
  "host",
  "forwarded",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
]);

/** Bytes of a request that API Gateway takes, and of an answer that Lambda gives; the emulator has no such limits. */
const REQUEST_BYTES = 10 * 1024 * 1024;
const ANSWER_BYTES = 6_291_556;

function forward(request: IncomingMessage, response: ServerResponse, target: URL | undefined, agent: http.Agent): void {
  if (target === undefined) {
    away(request, response, "Runyard is still starting");
    return;
  }
  if (Number(request.headers["content-length"] ?? 0) > REQUEST_BYTES) {
    request.resume();
    response.writeHead(413, { "content-type": "application/json" }).end('{"message":"Request Entity Too Large"}');
    return;
  }
  const upstream = http.request({
    agent,
    host: target.hostname,
    port: target.port,
    method: request.method ?? "GET",
    // Raw, as it came: decoding and encoding again would change what percent signs mean.
    path: `${target.pathname.replace(/\/$/, "")}${request.url ?? "/"}`,
    headers: forwardedHeaders(request, target),
    setHost: false,
  });
  upstream.on("response", (answer) => {
    const status = answer.statusCode ?? 502;
    const isTooLong = Number(answer.headers["content-length"] ?? 0) > ANSWER_BYTES;
    if (isTooLong || isCrash(status, answer.headers["content-type"])) {
      answer.resume();
      sendProblem(request, response, 500, "The service failed", undefined);
      return;
    }
    response.writeHead(status, withoutConnectionHeaders(answer.rawHeaders));
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  });
  upstream.on("error", () => {
    if (response.headersSent) response.destroy();
    else away(request, response, "The emulator does not answer");
  });
  // A caller that hangs up frees the function's answer from being waited for.
  response.on("close", () => {
    if (!response.writableFinished) upstream.destroy();
  });
  request.pipe(spoilInvalidUtf8()).pipe(upstream);
}

function forwardedHeaders(request: IncomingMessage, target: URL): string[] {
  const host = request.headers.host ?? `127.0.0.1:${request.socket.localPort}`;
  const earlier = request.headers["x-forwarded-for"];
  const caller = request.socket.remoteAddress ?? "127.0.0.1";
  const headers: string[] = [];
  for (const [name, value] of pairs(request.rawHeaders)) {
    const lower = name.toLowerCase();
    if (!NOT_FORWARDED.has(lower) && lower !== "x-forwarded-for") headers.push(name, value);
  }
  headers.push("host", target.host);
  headers.push("x-forwarded-for", [earlier, caller].filter(Boolean).join(", "));
  headers.push("x-forwarded-host", host);
  headers.push("x-forwarded-port", String(request.socket.localPort ?? 80));
  headers.push("x-forwarded-proto", "http");
  return headers;
}

function withoutConnectionHeaders(rawHeaders: string[]): string[] {
  return pairs(rawHeaders)
    .filter(([name]) => !NOT_FORWARDED.has(name.toLowerCase()))
    .flat();
}

function pairs(rawHeaders: string[]): [string, string][] {
  const found: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    found.push([rawHeaders[index] ?? "", rawHeaders[index + 1] ?? ""]);
  }
  return found;
}

/** The emulator answers a function's exception with 502 and the exception's message, which is nobody's business. */
const isCrash = (status: number, contentType: string | undefined): boolean =>
  (status === 500 || status === 502 || status === 504) && !contentType?.startsWith("application/problem+json");

function away(request: IncomingMessage, response: ServerResponse, detail: string): void {
  sendProblem(request, response, 502, "The service cannot be reached", detail);
}

function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  title: string,
  detail: string | undefined,
): void {
  request.resume();
  const traceId = randomUUID();
  const instance = (request.url ?? "/").split("?", 1)[0];
  const body = JSON.stringify({
    type: `http://${request.headers.host ?? "127.0.0.1"}/api/v1/docs/errors/internal-error`,
    title,
    status,
    ...(detail === undefined ? {} : { detail }),
    instance,
    error: detail === undefined ? title : `${title} (${detail})`,
    error_code: "internal_error",
    retryable: true,
    trace_id: traceId,
  });
  response.writeHead(status, {
    "content-type": "application/problem+json",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-request-id": traceId,
    "x-should-retry": "true",
  });
  response.end(body);
}
