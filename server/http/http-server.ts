import http from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import { notFound } from "#functions/fallback/not-found.ts";
import { type Route, routes } from "#infra/routes.ts";
import { modelGateway } from "#shared/model-gateway/gateway.ts";
import { serveFiles } from "../files/serve-files.ts";
import { sendProblem } from "../host/http/problem-response.ts";
import { findRefusal, refuseUnreadable, SERVER_OPTIONS } from "../host/http/request-checks.ts";
import { webAppDirectory } from "../host/http/web-app.ts";
import { serveWebPage } from "../host/http/web-page.ts";
import { type Adapters, type ServerPorts, toRoutePorts } from "../ports.ts";
import type { LocalWorkerSockets } from "../sockets/worker-sockets.ts";
import { allowedHosts } from "./allowed-hosts.ts";
import { type Endpoint, endpoints } from "./endpoints.ts";
import { checkReadiness, mayReadMetrics } from "./health.ts";
import { identifyCaller, LoadShedder } from "./load-shedder.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { BODY_MS, endpointServer } from "./serve-endpoint.ts";

const API = "/api/v1";
const FILES = "/files";

/** The requests that are refused while the disk has no room. Those of executions are not, so that runs can end. */
const NEW_WORK = new Set([
  "POST /agent/runs",
  "POST /agent/run",
  "POST /agent/runs/{runId}/followups",
  "POST /agent/conversations/{conversationId}/followups",
  "POST /agent/attachments",
  "POST /agent/environments/{environmentUid}/try",
  "POST /agent/schedules/{scheduleId}/run",
]);
const FULL = {
  status: 503,
  code: "resource_unavailable",
  retryAfterSeconds: 60,
} as const;

export interface HttpServerOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly ports: ServerPorts;
  readonly adapters: Adapters;
  /** Reads `RUNYARD_METRICS_KEY`. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Takes the connections of self-hosted workers. */
  readonly sockets: LocalWorkerSockets;
  /** Milliseconds in which the body of a request has to arrive, except for files. @default 60 s */
  readonly bodyMs?: number;
}

/** The HTTP server of the single machine: the API, the model gateway, files, and the web page. */
export interface HttpServer {
  /** The port on which it listens. */
  readonly port: number;
  close(): Promise<void>;
}

/** Starts the server. @throws if the address cannot be listened on */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { webUrl = "", baseUrl } = options.ports;
  const isOwnHost = allowedHosts(webUrl, options.host);
  const listener = getRequestListener(createApp(options).fetch, { overrideGlobalObjects: false });
  const server = http.createServer(SERVER_OPTIONS, (request, response) => {
    const refusal = findRefusal(request, isOwnHost);
    if (refusal !== undefined) sendProblem(request, response, refusal, baseUrl);
    else void listener(request, response);
  });
  // Uploads have no time limit, and other bodies have their own.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 75_000;
  refuseUnreadable(server, baseUrl);
  options.sockets.accept(server, options.ports, isOwnHost);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function createApp({ ports, adapters, bodyMs = BODY_MS, environment }: HttpServerOptions) {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const serve = endpointServer(bodyMs);
  const metrics = createMetrics(adapters);
  serveHealth(app, adapters, metrics, environment?.["RUNYARD_METRICS_KEY"]);
  for (const route of routesByPrecedence()) {
    const endpoint = findEndpoint(route);
    const routePorts = toRoutePorts(ports, route);
    app.on(route.method, API + route.path.replace(/\{(\w+)\}/g, ":$1"), async ({ env, req }) => {
      const shortage = NEW_WORK.has(`${route.method} ${route.path}`) ? adapters.disk.findShortage() : undefined;
      if (shortage !== undefined) {
        sendProblem(env.incoming, env.outgoing, { ...FULL, detail: shortage }, ports.baseUrl);
        return RESPONSE_ALREADY_SENT;
      }
      // Hono serves HEAD with the handler of GET; API Gateway does not.
      const isHead = req.method === "HEAD";
      const routeKey = isHead ? "$default" : `${route.method} ${API}${route.path}`;
      const began = performance.now();
      env.outgoing.once("close", () => {
        const seconds = (performance.now() - began) / 1000;
        metrics.countRequest(`${route.method} ${route.path}`, env.outgoing.statusCode, seconds);
      });
      await serve({ ...env, routeKey, pathParameters: req.param() }, isHead ? notFound : endpoint, routePorts);
      return RESPONSE_ALREADY_SENT;
    });
  }
  const callModel = modelServer(ports, bodyMs, metrics);
  app.all(`${API}/model/*`, ({ env, req }) => callModel(env.incoming, req.raw));
  app.all(`${API}/*`, (context) => serveUnknown(context.env));
  app.all(API, (context) => serveUnknown(context.env));
  const files = serveFiles({
    files: adapters.files,
    secret: adapters.fileSecret,
    basePath: FILES,
    allowedOrigin: new URL(ports.webUrl ?? ports.baseUrl).origin,
    now: ports.now,
  });
  app.all(FILES, ({ req }) => files(req.raw));
  app.all(`${FILES}/*`, ({ req }) => files(req.raw));
  app.all("*", async ({ env }) => {
    await serveWebPage(env.incoming.url ?? "/", env.incoming.method ?? "GET", env.outgoing, webAppDirectory);
    return RESPONSE_ALREADY_SENT;
  });
  return app;

  async function serveUnknown(env: HttpBindings): Promise<Response> {
    await serve({ ...env, routeKey: "$default", pathParameters: {} }, notFound, ports);
    return RESPONSE_ALREADY_SENT;
  }
}

/**
 * Serves what monitors ask for: `/healthz` while the process runs, `/readyz` if it can take runs, and `/metrics` for Prometheus,
 * to this machine or with the key of the metrics.
 */
function serveHealth(app: Hono<{ Bindings: HttpBindings }>, adapters: Adapters, metrics: Metrics, key?: string): void {
  const fresh = { "cache-control": "no-store" };
  app.get("/healthz", (context) => context.json({ status: "ok" }, 200, fresh));
  app.get("/readyz", async (context) => {
    const readiness = await checkReadiness(adapters);
    return context.json(readiness, readiness.status === "ready" ? 200 : 503, fresh);
  });
  app.get("/metrics", async (context) => {
    if (!mayReadMetrics(context.env.incoming, key)) {
      return context.text("The metrics are for this machine, or for RUNYARD_METRICS_KEY as a bearer token.\n", 401, {
        ...fresh,
        "www-authenticate": "Bearer",
      });
    }
    return context.text(await metrics.read(), 200, { ...fresh, "content-type": metrics.contentType });
  });
}

/** Creates the function that hands requests to the model gateway. The memory that their bodies take is limited. */
function modelServer(
  ports: ServerPorts,
  bodyMs: number,
  metrics: Metrics,
): (incoming: http.IncomingMessage, request: Request) => Promise<Response> {
  const gateway = modelGateway(ports);
  // Apart from other requests: these are in memory for as long as a model takes.
  const shedder = new LoadShedder(() => 0);
  return async (incoming, request) => {
    const caller = identifyCaller(incoming, incoming.headers["x-api-key"]);
    const admission = shedder.admit({ caller, isExecution: true, isWaiting: false });
    let work: Promise<unknown> = Promise.resolve();
    const waitUntil = (until: Promise<unknown>) => {
      work = until;
    };
    const late = setTimeout(() => incoming.complete || incoming.destroy(), bodyMs);
    const began = performance.now();
    const response = await gateway(request, waitUntil, admission?.receive);
    metrics.countModelCall(response.status, (performance.now() - began) / 1000);
    clearTimeout(late);
    void work.finally(() => admission?.release());
    return response;
  };
}

/** The routes with parameters come last, because Hono takes the first that matches. */
const routesByPrecedence = (): Route[] =>
  routes
    .filter((route) => route.path !== "*")
    .toSorted((a, b) => Number(a.path.includes("{")) - Number(b.path.includes("{")));

function findEndpoint({ file }: Route): Endpoint {
  const endpoint = endpoints[file];
  if (endpoint === undefined) throw new Error(`server/http/endpoints.ts lacks ${file}: run npm run docs`);
  return endpoint;
}
