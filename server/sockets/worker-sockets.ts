import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import * as v from "valibot";
import { type WebSocket, WebSocketServer } from "ws";
import { connectWorker } from "#functions/workers/connect-worker.ts";
import { disconnectWorker } from "#functions/workers/disconnect-worker.ts";
import { receiveFrame } from "#functions/workers/receive-frame.ts";
import { logLine } from "#shared/log/log.ts";
import type { WorkerSockets } from "#shared/sandbox/worker-sockets.ts";
import { MAX_FRAME_BYTES } from "#shared/wire/worker.ts";
import { isKeyValid } from "#shared/workers/offer-run.ts";
import { workerStore } from "#shared/workers/worker-store.ts";
import type { Database } from "../database/database.ts";
import { type LocalProblem, rawProblem } from "../host/http/problem-response.ts";
import { endRefused, findRefusal } from "../host/http/request-checks.ts";
import type { ServerPorts } from "../ports.ts";
import { rawResponse } from "./raw-response.ts";

const PING_MS = 30_000;
/** Milliseconds after which an open connection is recorded in the table again. */
const SEEN_MS = 3_600_000;
const MAX_CONNECTIONS = 2_000;
/** Frames of a connection that wait to be handled; a worker that sends more is disconnected. */
const MAX_WAITING_FRAMES = 100;

/** Close codes of WebSocket. */
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;
const TRY_AGAIN_LATER = 1013;

const unavailable = (detail: string): LocalProblem => ({
  status: 503,
  code: "resource_unavailable",
  detail,
  retryAfterSeconds: 60,
});

interface Connection {
  /** Undefined if the connection was not opened after all. */
  readonly socket: Promise<WebSocket | undefined>;
  seenAt: number;
  isAlive: boolean;
  /** The handling of the frames that arrived so far. */
  handled: Promise<unknown>;
  waiting: number;
}

/**
 * The sockets of self-hosted workers on a single machine: any path of the server's port. Requests and frames are handled by the
 * functions that API Gateway calls on AWS.
 */
export class LocalWorkerSockets implements WorkerSockets {
  readonly #connections = new Map<string, Connection>();
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME_BYTES, perMessageDeflate: false });
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** Accepts connections of a server. `isOwnHost` decides on the Host header. */
  accept(server: Server, ports: ServerPorts, isOwnHost: (host: string | undefined) => boolean): void {
    server.on("upgrade", (request: IncomingMessage, stream: Duplex, head: Buffer) => {
      stream.on("error", () => stream.destroy());
      void this.#open(request, stream, head, ports, isOwnHost).catch((error: unknown) => {
        logLine("error", "a worker could not connect", { error });
        stream.destroy();
      });
    });
    this.#timer = setInterval(() => this.#ping(ports), PING_MS).unref();
  }

  async post(connectionId: string, frame: string): Promise<boolean> {
    const socket = await this.#connections.get(connectionId)?.socket;
    if (socket === undefined || socket.readyState !== socket.OPEN) return false;
    return new Promise((resolve) => socket.send(frame, (error) => resolve(error === undefined || error === null)));
  }

  async close(connectionId: string): Promise<void> {
    const socket = await this.#connections.get(connectionId)?.socket;
    socket?.close(POLICY_VIOLATION, "the connection is not valid any more");
  }

  /** Closes all connections; workers connect again when the server is back. */
  async end(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const { socket } of this.#connections.values()) {
      const open = await socket;
      open?.close(GOING_AWAY, "the server stops");
      open?.terminate();
    }
    await Promise.all([...this.#connections.values()].map(({ handled }) => handled));
  }

  async #open(
    request: IncomingMessage,
    stream: Duplex,
    head: Buffer,
    ports: ServerPorts,
    isOwnHost: (host: string | undefined) => boolean,
  ): Promise<void> {
    const refusal = this.#findShortage() ?? findRefusal(request, isOwnHost);
    if (refusal !== undefined) {
      endRefused(stream, stream instanceof Socket ? rawProblem(refusal, stream, ports.baseUrl) : "");
      return;
    }
    const connectionId = randomUUID();
    const { promise, resolve } = Promise.withResolvers<WebSocket | undefined>();
    const connection: Connection = {
      socket: promise,
      seenAt: Date.now(),
      isAlive: true,
      handled: Promise.resolve(),
      waiting: 0,
    };
    // It is known before its first offer, which waits until it is open.
    this.#connections.set(connectionId, connection);
    let isAccepted = false;
    try {
      const response = await connectWorker.handle(toConnectEvent(connectionId, request), ports);
      isAccepted = response.statusCode === 200;
      if (!isAccepted) return endRefused(stream, rawResponse(response));
    } finally {
      if (!isAccepted) {
        this.#connections.delete(connectionId);
        resolve(undefined);
      }
    }
    const remove = () => {
      resolve(undefined);
      void this.#remove(connectionId, ports);
    };
    if (stream.destroyed) return remove();
    stream.once("close", remove);
    this.#server.handleUpgrade(request, stream, head, (socket) => {
      this.#listen(connectionId, connection, socket, ports);
      resolve(socket);
    });
  }

  #findShortage(): LocalProblem | undefined {
    if (this.#isClosed) return unavailable("the server is stopping");
    if (this.#connections.size >= MAX_CONNECTIONS) return unavailable(`${MAX_CONNECTIONS} workers are connected`);
    return undefined;
  }

  #listen(connectionId: string, connection: Connection, socket: WebSocket, ports: ServerPorts): void {
    socket.on("error", () => socket.terminate());
    socket.on("pong", () => {
      connection.isAlive = true;
    });
    socket.on("message", (data, isBinary) => {
      connection.isAlive = true;
      if (connection.waiting >= MAX_WAITING_FRAMES) return socket.close(TRY_AGAIN_LATER, "too many frames");
      connection.waiting++;
      const event = {
        requestContext: { connectionId, eventType: "MESSAGE" },
        body: isBinary ? "" : data.toString(),
        isBase64Encoded: isBinary,
      };
      // In their order: a claim must not be overtaken by the end of its task.
      connection.handled = connection.handled
        .then(() => receiveFrame.handle(event, ports))
        .catch((error: unknown) => logLine("error", "a frame of a worker failed", { error }))
        .finally(() => connection.waiting--);
    });
  }

  async #remove(connectionId: string, ports: ServerPorts): Promise<void> {
    const connection = this.#connections.get(connectionId);
    if (connection === undefined) return;
    await connection.handled;
    this.#connections.delete(connectionId);
    if (this.#isClosed) return;
    const event = { requestContext: { connectionId, eventType: "DISCONNECT" } };
    await disconnectWorker.handle(event, ports).catch((error: unknown) => {
      logLine("error", "a connection was not removed", { error });
    });
  }

  #ping(ports: ServerPorts): void {
    for (const [connectionId, connection] of this.#connections) {
      void connection.socket
        .then(async (socket) => {
          if (!connection.isAlive) return socket?.terminate();
          connection.isAlive = false;
          if (socket?.readyState === socket?.OPEN) socket?.ping();
          // Frames and offers check the key too, but a worker that is idle has none of them.
          if (!(await isValid(connectionId, ports))) return this.close(connectionId);
          if (Date.now() - connection.seenAt >= SEEN_MS) await noteSeen(connectionId, connection, ports);
        })
        .catch((error: unknown) => logLine("error", "a connection was not recorded as open", { error }));
    }
  }
}

/** Whether the key of a connection may still open one. A connection that is not recorded yet, or any more, is left alone. */
async function isValid(connectionId: string, ports: ServerPorts): Promise<boolean> {
  const found = await workerStore(ports).find(connectionId);
  return found === undefined || isKeyValid(found.connection.key_hash, found.key.team, ports);
}

/** Records that a connection is open. The next ping tries it again if this fails. */
async function noteSeen(connectionId: string, connection: Connection, ports: ServerPorts): Promise<void> {
  const before = connection.seenAt;
  connection.seenAt = Date.now();
  try {
    const store = workerStore(ports);
    const found = await store.find(connectionId);
    if (found !== undefined) await store.noteSeen(found.key);
  } catch (error) {
    connection.seenAt = before;
    throw error;
  }
}

/** The event of API Gateway's WebSocket API. */
function toConnectEvent(connectionId: string, { headers, url = "/" }: IncomingMessage) {
  const [, ...query] = url.split("?");
  return {
    requestContext: { connectionId, eventType: "CONNECT" },
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString()])),
    queryStringParameters: Object.fromEntries(new URLSearchParams(query.join("?"))),
  };
}

const STALE = "SELECT pk FROM items WHERE pk >= 'CONNECTION#' AND pk < 'CONNECTION$' AND sk = 'CONNECTION'";
const Row = v.object({ pk: v.string() });

/** Removes the connections of a previous process from the table. */
export async function forgetConnections(database: Database, ports: Pick<ServerPorts, "table" | "now">): Promise<void> {
  const rows = await database.read(() => database.statement(STALE).all());
  for (const row of rows) {
    const connectionId = v.parse(Row, row).pk.slice("CONNECTION#".length);
    await disconnectWorker.handle({ requestContext: { connectionId } }, ports);
  }
}
