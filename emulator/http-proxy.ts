import { randomBytes } from "node:crypto";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { sendProblem } from "../server/host/http/problem-response.ts";
import { findRefusal, refuseUnreadable, SERVER_OPTIONS } from "../server/host/http/request-checks.ts";
import { serveWebPage } from "../server/host/http/web-page.ts";
import { ConcurrencyLimiter } from "./concurrency-limiter.ts";
import { KEY_HEADER } from "./emulator-access.ts";
import { spoilInvalidUtf8 } from "./invalid-utf8.ts";
import { handleSchedulerRequest, SCHEDULER_PATH } from "./scheduler-endpoint.ts";
import type { Timers } from "./timers.ts";

type Gateway = (request: Request) => Promise<Response>;

export interface HttpProxy {
  port: number;
  /** URL at which the functions of the cloud set timers. It is a capability, so it changes with each start. */
  schedulerUrl: string;
  /** Forwards all requests under /api/v1 to this URL from now on, with the emulator's key. */
  openTo(apiUrl: string, emulatorKey: string): void;
  /** Serves requests below /api/v1/model/ with the gateway, streaming its responses. */
  serveModels(gateway: Gateway): void;
  close(): Promise<void>;
}

export interface HttpProxyOptions {
  port: number;
  /** Directory of the web page; there need not be one. */
  webDirectory: string;
  /** The timers that the functions of the cloud set here; without them there is no scheduler. */
  timers?: Timers;
}

/** The local counterpart of CloudFront: one address for the API and the web page. It holds the scheduler too. */
export async function startHttpProxy(options: HttpProxyOptions): Promise<HttpProxy> {
  let target: Target | undefined;
  let models: ReturnType<typeof getRequestListener> | undefined;
  // Connections are kept: a new one for each call would cost more than the call.
  const agent = new http.Agent({ keepAlive: true, maxFreeSockets: 64 });
  const limiter = new ConcurrencyLimiter();
  const longPolls = new ConcurrencyLimiter(MAX_LONG_POLLS, MAX_LONG_POLLS);
  const schedulerPath = `${SCHEDULER_PATH}/${randomBytes(32).toString("base64url")}`;
  const server = http.createServer(SERVER_OPTIONS, (request, response) => {
    const rawUrl = request.url ?? "/";
    const refusal = findRefusal(request);
    if (refusal !== undefined) sendProblem(request, response, refusal);
    else if (options.timers !== undefined && rawUrl.startsWith(`${schedulerPath}/`))
      void handleSchedulerRequest(request, response, options.timers, schedulerPath);
    else if (models !== undefined && rawUrl.startsWith("/api/v1/model/")) void models(request, response);
    else if (isApiPath(rawUrl))
      withinLimit(isLongPoll(rawUrl) ? longPolls : limiter, request, response, () =>
        forward(request, response, target, agent),
      );
    else void serveWebPage(rawUrl, request.method ?? "GET", response, options.webDirectory);
  });
  // A long poll may hold its response for 25 seconds, and uploads have no limit of their own here.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 75_000;
  refuseUnreadable(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, "127.0.0.1", resolve);
  });
  const port = portOf(server.address());
  return {
    port,
    schedulerUrl: `http://127.0.0.1:${port}${schedulerPath}`,
    openTo: (apiUrl, emulatorKey) => {
      target = { url: new URL(apiUrl), key: emulatorKey };
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

/** The API in the emulator, and the key that the emulator requires. */
interface Target {
  readonly url: URL;
  readonly key: string;
}

const isApiPath = (rawUrl: string): boolean => /^\/api(\/|\?|$)/.test(rawUrl);

/** Maximum concurrent long polls; each occupies a process of the emulator. */
const MAX_LONG_POLLS = 64;
const isLongPoll = (rawUrl: string): boolean => new URLSearchParams(rawUrl.split("?", 2)[1]).has("wait");

/** Limits concurrent calls by route; long polls have a limit of their own, so that they do not block others. */
function withinLimit(
  limiter: ConcurrencyLimiter,
  request: IncomingMessage,
  response: ServerResponse,
  work: () => void,
): void {
  const [pathname = ""] = (request.url ?? "/").split("?", 1);
  const route = pathname.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "*");
  const kind = `${request.method} ${route}`;
  const begin = (leave: () => void): void => {
    // The caller may have hung up while it waited.
    if (response.destroyed) {
      leave();
      return;
    }
    response.once("close", leave);
    work();
  };
  limiter.enter(kind, begin, () => sendProblem(request, response, OVERLOADED));
}

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === "object" && address !== null ? address.port : 0;

/** Headers that concern one connection, and forwarding headers of the sender. */
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
  KEY_HEADER,
]);

/** Maximum bytes of API Gateway's requests and Lambda's responses; the emulator has no such limits. */
const REQUEST_BYTES = 10 * 1024 * 1024;
const MAX_RESPONSE_BYTES = 6_291_556;

function forward(
  request: IncomingMessage,
  response: ServerResponse,
  target: Target | undefined,
  agent: http.Agent,
): void {
  if (target === undefined) {
    sendUnavailable(request, response, "Runyard is still starting");
    return;
  }
  if (Number(request.headers["content-length"] ?? 0) > REQUEST_BYTES) {
    request.resume();
    response.writeHead(413, { "content-type": "application/json" }).end('{"message":"Request Entity Too Large"}');
    return;
  }
  const upstream = http.request({
    agent,
    host: target.url.hostname,
    port: target.url.port,
    method: request.method ?? "GET",
    // Raw, as it came: decoding and encoding again would change what percent signs mean.
    path: `${target.url.pathname.replace(/\/$/, "")}${request.url ?? "/"}`,
    headers: forwardedHeaders(request, target),
    setHost: false,
  });
  upstream.on("response", (upstreamResponse) => {
    const status = upstreamResponse.statusCode ?? 502;
    const isTooLong = Number(upstreamResponse.headers["content-length"] ?? 0) > MAX_RESPONSE_BYTES;
    if (isTooLong || isCrash(status, upstreamResponse.headers["content-type"])) {
      void hideCrash(request, response, upstreamResponse);
      return;
    }
    response.writeHead(status, withoutConnectionHeaders(upstreamResponse.rawHeaders));
    upstreamResponse.pipe(response);
    upstreamResponse.on("error", () => response.destroy());
  });
  upstream.on("error", () => {
    if (response.headersSent) response.destroy();
    else sendUnavailable(request, response, "The emulator does not respond");
  });
  // Nobody waits for the function's response after its caller has disconnected.
  response.on("close", () => {
    if (!response.writableFinished) upstream.destroy();
  });
  request.pipe(spoilInvalidUtf8()).pipe(upstream);
}

function forwardedHeaders(request: IncomingMessage, { url, key }: Target): string[] {
  const host = request.headers.host ?? `127.0.0.1:${request.socket.localPort}`;
  const earlier = request.headers["x-forwarded-for"];
  const caller = request.socket.remoteAddress ?? "127.0.0.1";
  const headers: string[] = [];
  for (const [name, value] of pairs(request.rawHeaders)) {
    const lower = name.toLowerCase();
    if (!NOT_FORWARDED.has(lower) && lower !== "x-forwarded-for") headers.push(name, value);
  }
  headers.push("host", url.host);
  headers.push(KEY_HEADER, key);
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

/** The emulator returns a function's exception as 502 and the exception's message, which must not be exposed. */
const isCrash = (status: number, contentType: string | undefined): boolean =>
  (status === 500 || status === 502 || status === 504) && !contentType?.startsWith("application/problem+json");

const FAILED = { status: 500, code: "internal_error", retryAfterSeconds: 1 } as const;

const OVERLOADED = {
  status: 503,
  code: "resource_unavailable",
  retryAfterSeconds: 2,
} as const;
/** Bytes of a failed function's message that are read. */
const MESSAGE_BYTES = 16_384;

/** A function that timed out is overloaded; API Gateway returns 503 too. */
async function hideCrash(
  request: IncomingMessage,
  response: ServerResponse,
  upstreamResponse: IncomingMessage,
): Promise<void> {
  let message = "";
  upstreamResponse.on("data", (chunk: Buffer) => {
    if (message.length < MESSAGE_BYTES) message += chunk.toString();
  });
  await new Promise((resolve) => upstreamResponse.once("close", resolve));
  if (response.destroyed || response.headersSent) return;
  sendProblem(request, response, /timed out/i.test(message) ? OVERLOADED : FAILED);
}

function sendUnavailable(request: IncomingMessage, response: ServerResponse, detail: string): void {
  sendProblem(request, response, { status: 503, code: "resource_unavailable", detail, retryAfterSeconds: 1 });
}
