import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { WebSocket } from "ws";
import { MAX_FRAME_BYTES, ServiceFrame, type WorkerFrame } from "#shared/wire/worker.ts";
import { Problem } from "../host/terminal.ts";
import { readRefusal } from "./refusal.ts";

const PING_MS = 30_000;
/** Milliseconds without a pong after which the connection counts as lost. */
const PONG_MS = 60_000;
const MAX_BACKOFF_MS = 60_000;
/** After a connection that was open for this long, the next attempt comes soon again. */
const STABLE_MS = 30_000;
/** Reports that wait for the next connection. */
const MAX_WAITING = 1_000;

export interface ConnectionOptions {
  readonly url: string;
  readonly workerId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Takes each frame of the service. */
  onFrame(frame: ServiceFrame): void;
  /** Takes a line about the connection. */
  log(line: string): void;
}

const DRAINING = JSON.stringify({ type: "worker_draining", data: {} } satisfies WorkerFrame);

const Frame = v.pipe(v.string(), v.parseJson(), ServiceFrame);

/** The connection of a worker, which is opened again until the worker stops. */
export class WorkerConnection {
  readonly #options: ConnectionOptions;
  readonly #stop = new AbortController();
  readonly #waiting: string[] = [];
  #isDraining = false;
  #socket: WebSocket | undefined;
  #ended: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Connects, and connects again after 1, 2, 4 … 60 seconds whenever the connection is lost. */
  start(): void {
    this.#ended = this.#connectAgain();
  }

  /** Sends a report, now or when the worker is connected again. */
  send(frame: WorkerFrame): void {
    const text = JSON.stringify(frame);
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text, () => undefined);
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(text);
  }

  /** Tells the service that the worker accepts no more tasks, on this connection and on those that follow it. */
  drain(): void {
    this.#isDraining = true;
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(DRAINING, () => undefined);
  }

  /** Closes the connection for good, after what was sent. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#socket?.close(1000, "the worker stops");
    await this.#ended;
  }

  async #connectAgain(): Promise<void> {
    const { log } = this.#options;
    let backoff = 1_000;
    while (!this.#stop.signal.aborted) {
      const began = performance.now();
      const why = await this.#connect();
      if (this.#stop.signal.aborted) return;
      if (performance.now() - began > STABLE_MS) backoff = 1_000;
      log(`not connected: ${why}; next attempt in ${backoff / 1000} s`);
      await sleep(backoff, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      backoff = Math.min(2 * backoff, MAX_BACKOFF_MS);
    }
  }

  /** Connects once. Resolves with the reason when the connection has ended. */
  #connect(): Promise<string> {
    const { headers, log, onFrame } = this.#options;
    const { promise, resolve } = Promise.withResolvers<string>();
    const socket = openSocket(this.#options, headers);
    this.#socket = socket;
    let pongAt = performance.now();
    let why = "";
    const pings = setInterval(() => {
      if (performance.now() - pongAt > PONG_MS) socket.terminate();
      else if (socket.readyState === WebSocket.OPEN) socket.ping();
    }, PING_MS);
    socket.on("open", () => {
      log("connected");
      if (this.#isDraining) socket.send(DRAINING, () => undefined);
      for (const text of this.#waiting.splice(0)) socket.send(text, () => undefined);
    });
    socket.on("pong", () => {
      pongAt = performance.now();
    });
    socket.on("message", (data, isBinary) => {
      const parsed = v.safeParse(Frame, isBinary ? "" : data.toString());
      if (parsed.success) onFrame(parsed.output);
      else log("a frame of the service could not be read");
    });
    socket.on("unexpected-response", (request, response) => {
      void readRefusal(response).then((refusal) => {
        why = `the service returned ${refusal}`;
        request.destroy();
        socket.terminate();
      });
    });
    socket.on("error", (error) => {
      why ||= error.message;
    });
    socket.on("close", (code) => {
      clearInterval(pings);
      resolve(why || `the connection was closed (${code})`);
    });
    return promise;
  }
}

/** Opens a socket as the protocol requires: without a subprotocol or a first frame. */
function openSocket({ url, workerId }: ConnectionOptions, headers: Readonly<Record<string, string>>): WebSocket {
  const address = new URL(url);
  address.searchParams.set("worker_id", workerId);
  return new WebSocket(address, {
    headers,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    handshakeTimeout: 20_000,
  });
}

/** Opens a socket and closes it again. @throws Problem if it cannot be opened */
export async function tryConnection(options: Pick<ConnectionOptions, "url" | "workerId" | "headers">): Promise<void> {
  const socket = openSocket({ ...options, onFrame: () => undefined, log: () => undefined }, options.headers);
  await new Promise<void>((resolve, reject) => {
    socket.on("open", () => resolve());
    socket.on("unexpected-response", (_, response) => {
      void readRefusal(response).then((refusal) => reject(new Problem(`${options.url} returned ${refusal}`)));
    });
    socket.on("error", (error) => reject(new Problem(`${options.url} cannot be reached: ${error.message}`)));
  }).finally(() => socket.terminate());
}
