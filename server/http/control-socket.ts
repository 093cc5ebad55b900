import { chmodSync, rmSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { attemptDeliveries } from "#functions/executions/attempt-deliveries.ts";
import { decideEvents } from "#functions/executions/decide-events.ts";
import { discoverSkills } from "#functions/executions/discover-skills.ts";
import { dispatchRun } from "#functions/executions/dispatch-run.ts";
import { endRun } from "#functions/executions/end-run.ts";
import { fireSchedule } from "#functions/executions/fire-schedule.ts";
import { planDeliveries } from "#functions/executions/plan-deliveries.ts";
import { reapRuns } from "#functions/executions/reap-runs.ts";
import { reconcileSchedules } from "#functions/executions/reconcile-schedules.ts";
import { routes } from "#infra/routes.ts";
import { logLine } from "#shared/log/log.ts";
import { type ServerPorts, toRoutePorts } from "../ports.ts";
import { endpoints } from "./endpoints.ts";

/** What operating systems accept as the path of a socket. */
const MAX_PATH_BYTES = 100;

type Invoke = (event: string) => Promise<unknown>;

/** A socket that invokes single functions with events, for `npm run invoke`. */
export interface ControlSocket {
  close(): void;
}

/**
 * Listens on the socket control.sock of the data directory. Only the owner of the directory can connect to it.
 * `POST /NAME` invokes a function with the event in the body; `GET /` names the functions.
 */
export function openControlSocket(directory: string, ports: ServerPorts, dispatchPorts: ServerPorts): ControlSocket {
  const file = path.join(directory, "control.sock");
  if (Buffer.byteLength(file) > MAX_PATH_BYTES) return { close: () => undefined };
  // A server that was killed leaves its socket behind.
  rmSync(file, { force: true });
  const functions = functionsByName(ports, dispatchPorts);
  const server = http.createServer((request, response) => {
    void respond(request, functions).then(({ status, body }) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  server.on("error", (error) => logLine("warn", "npm run invoke is not available", { error }));
  // Other users cannot enter the directory; this is for file systems and backups that do not keep its mode.
  server.listen(file, () => chmodSync(file, 0o600));
  server.unref();
  return {
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function respond(
  request: http.IncomingMessage,
  functions: ReadonlyMap<string, Invoke>,
): Promise<{ readonly status: number; readonly body: unknown }> {
  if (request.method === "GET") return { status: 200, body: [...functions.keys()].toSorted() };
  const invoke = functions.get(request.url?.slice(1) ?? "");
  if (invoke === undefined) return { status: 404, body: {} };
  try {
    return { status: 200, body: (await invoke(await text(request))) ?? null };
  } catch (error) {
    const [errorType, errorMessage] = error instanceof Error ? [error.name, error.message] : ["Error", String(error)];
    return { status: 500, body: { errorType, errorMessage } };
  }
}

function functionsByName(ports: ServerPorts, dispatchPorts: ServerPorts): ReadonlyMap<string, Invoke> {
  const functions = new Map<string, Invoke>([
    ["attempt-deliveries", (event) => attemptDeliveries.handle(JSON.parse(event), ports)],
    ["decide-events", (event) => decideEvents.handle(JSON.parse(event), ports)],
    ["discover-skills", (event) => discoverSkills.handle(JSON.parse(event), ports)],
    ["dispatch-run", (event) => dispatchRun.handle(JSON.parse(event), dispatchPorts)],
    ["end-run", (event) => endRun.handle(JSON.parse(event), ports)],
    ["fire-schedule", (event) => fireSchedule.handle(JSON.parse(event), ports)],
    ["plan-deliveries", (event) => planDeliveries.handle(JSON.parse(event), ports)],
    ["reap-runs", (event) => reapRuns.handle(JSON.parse(event), ports)],
    ["reconcile-schedules", (event) => reconcileSchedules.handle(JSON.parse(event), ports)],
  ]);
  for (const route of routes) {
    const endpoint = endpoints[route.file];
    const routePorts = toRoutePorts(ports, route);
    if (endpoint !== undefined) {
      functions.set(path.basename(route.file), (event) => endpoint.handle(JSON.parse(event), routePorts));
    }
  }
  return functions;
}
