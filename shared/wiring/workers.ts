import { apiGatewaySockets } from "#shared/aws/sockets/api-gateway-sockets.ts";
import { socketClient } from "#shared/aws/sockets/socket-client.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import { principalStore } from "#shared/principals/principal-store.ts";
import type { WorkerSockets } from "#shared/sandbox/worker-sockets.ts";
import { setting, settingIfAny } from "#shared/settings.ts";
import { createRunQueue } from "#shared/wiring/adapters.ts";
import type { ConnectPorts } from "#shared/worker-socket/connect-worker.ts";
import type { WorkerReadPorts } from "#shared/workers/connected-workers.ts";
import type { OfferPorts } from "#shared/workers/worker-ports.ts";
import { createTable, createTablePorts } from "./common.ts";
import { createRunPorts } from "./runs.ts";

/** API Gateway refuses frames to a connection while the function that accepts it is still running. */
const SETTLE_SECONDS = 1;

/** The sockets of workers, by the management endpoint of the WebSocket API. */
export const createWorkerSockets = (): WorkerSockets =>
  apiGatewaySockets(() => socketClient(toAddress(setting("WORKER_SOCKET_ENDPOINT"))));

/** On an emulator, the settings are paths below its own address. */
const toAddress = (setting: string): string =>
  setting.startsWith("/") ? `${process.env["AWS_ENDPOINT_URL"]}${setting}` : setting;

/** The ports of the functions that open and close connections. */
export function createConnectPorts(): ConnectPorts & Pick<HttpPorts, "baseUrl"> {
  const table = createTable();
  return {
    table,
    now: Date.now,
    principals: principalStore(table, Date.now),
    queue: createRunQueue(),
    settleSeconds: SETTLE_SECONDS,
    baseUrl: setting("BASE_URL"),
  };
}

/** The ports of the function that closes connections. */
export const createDisconnectPorts = (): Pick<ConnectPorts, "table" | "now"> => ({
  table: createTable(),
  now: Date.now,
});

/** The ports of the function that receives frames. */
export const createFramePorts = (): OfferPorts => ({ ...createRunPorts(), sockets: createWorkerSockets() });

/** The ports of the list of connected workers. */
export function createWorkerListPorts(): WorkerReadPorts & HttpPorts & { readonly cursors: Cursors } {
  const url = settingIfAny("WORKER_SOCKET_URL");
  return {
    ...createTablePorts(),
    workerSocketUrl: url === undefined ? undefined : toAddress(url).replace(/^http/, "ws"),
  };
}
