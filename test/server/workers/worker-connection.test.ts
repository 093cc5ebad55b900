import { once } from "node:events";
import { createServer, IncomingMessage, type Server } from "node:http";
import { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { describeRefusal, readRefusal } from "#server/worker/refusal.ts";
import { tryConnection, WorkerConnection } from "#server/worker/worker-connection.ts";
import type { ServiceFrame } from "#shared/wire/worker.ts";

const cancel = { type: "task_cancellation", data: { task_id: "run-1" } };
const report = (number: number) => ({ type: "task_completed", data: { task_id: `run-${number}` } }) as const;

let server: Server;
let url: string;
let opened: { readonly socket: WebSocket; readonly request: IncomingMessage; readonly texts: string[] }[];
/** Whether the service ignores pings. */
let isSilent: boolean;
let refusal: { readonly status: number; readonly body: string } | undefined;
let connection: WorkerConnection;
let frames: ServiceFrame[];
let lines: string[];

beforeEach(async () => {
  [opened, refusal, frames, lines, isSilent] = [[], undefined, [], [], false];
  const sockets = new WebSocketServer({ noServer: true });
  const silent = new WebSocketServer({ noServer: true, autoPong: false });
  server = createServer();
  server.on("upgrade", (request, stream, head) => {
    if (refusal !== undefined) {
      const { status, body } = refusal;
      stream.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
      return;
    }
    (isSilent ? silent : sockets).handleUpgrade(request, stream, head, (socket) => {
      const texts: string[] = [];
      socket.on("message", (data) => texts.push(String(data)));
      opened.push({ socket, request, texts });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server does not listen");
  url = `ws://127.0.0.1:${address.port}/socket?a=b`;
  connection = new WorkerConnection({
    ...{ url, workerId: "rack 7", headers: { authorization: "Bearer key" } },
    onFrame: (frame) => frames.push(frame),
    log: (line) => lines.push(line),
  });
});
afterEach(async () => {
  await connection.close();
  for (const { socket } of opened) socket.terminate();
  await new Promise((resolve) => server.close(resolve));
});

const until = (check: () => void) => expect.poll(() => check());
async function connected(count = 1) {
  await until(() => opened.length).toBe(count);
  await until(() => lines.filter((line) => line === "connected").length).toBe(count);
  const last = opened.at(-1);
  if (last === undefined) throw new Error("no connection");
  return last;
}

describe("the connection of a worker", () => {
  it("names the worker in the address, with its headers, and without a subprotocol or compression", async () => {
    connection.start();
    const { request, texts } = await connected();
    expect(request.url).toBe("/socket?a=b&worker_id=rack+7");
    expect(request.headers).toMatchObject({ authorization: "Bearer key" });
    expect(request.headers).not.toHaveProperty("sec-websocket-protocol");
    expect(request.headers).not.toHaveProperty("sec-websocket-extensions");
    expect([texts, lines]).toEqual([[], ["connected"]]);
  });

  it("says that the worker drains, on the connection that it has and on the next one", async () => {
    connection.start();
    const first = await connected();
    connection.drain();
    await until(() => first.texts).toEqual([JSON.stringify({ type: "worker_draining", data: {} })]);
    first.socket.terminate();
    const second = await connected(2);
    await until(() => second.texts).toEqual([JSON.stringify({ type: "worker_draining", data: {} })]);
  });

  it("passes frames of the service on, and logs those that it cannot read", async () => {
    connection.start();
    const { socket } = await connected();
    socket.send(JSON.stringify(cancel));
    socket.send("no JSON");
    socket.send(JSON.stringify({ type: "unknown", data: {} }));
    socket.send(Buffer.from(JSON.stringify(cancel)));
    await until(() => lines.length).toBe(4);
    expect(frames).toEqual([cancel]);
    expect(lines).toEqual([
      "connected",
      ...Array.from({ length: 3 }, () => "a frame of the service could not be read"),
    ]);
  });

  it("keeps the first thousand reports until it is connected, and sends them in order, and later ones at once", async () => {
    for (let number = 1; number <= 1_001; number++) connection.send(report(number));
    connection.start();
    const { texts } = await connected();
    await until(() => texts.length).toBe(1_000);
    connection.send(report(1_002));
    await until(() => texts.length).toBe(1_001);
    expect(texts.map((text) => JSON.parse(text).data.task_id)).toEqual(
      [...Array.from({ length: 1_000 }, (_, index) => index + 1), 1_002].map((number) => `run-${number}`),
    );
  });

  it("is reopened after a second, reports why it was lost, and then sends the waiting reports", async () => {
    connection.start();
    const { socket } = await connected();
    socket.close(1001);
    await until(() => lines.length).toBe(2);
    connection.send(report(1));
    const began = performance.now();
    const again = await connected(2);
    expect(performance.now() - began).toBeGreaterThan(500);
    await until(() => again.texts).toEqual([JSON.stringify(report(1))]);
    expect(lines).toEqual([
      "connected",
      "not connected: the connection was closed (1001); next attempt in 1 s",
      "connected",
    ]);
  });

  it("reports why the service refuses it, and doubles the wait after each attempt", async () => {
    refusal = { status: 401, body: '{"error":"the key is invalid"}' };
    connection.start();
    await until(() => lines.length).toBe(2);
    expect(lines).toEqual(
      [1, 2].map(
        (seconds) => `not connected: the service returned 401: the key is invalid; next attempt in ${seconds} s`,
      ),
    );
  });

  it("is closed with a reason, and never opened again", async () => {
    connection.start();
    const { socket } = await connected();
    const closed = once(socket, "close");
    await connection.close();
    const [code, reason] = await closed;
    expect([code, String(reason), lines]).toEqual([1000, "the worker stops", ["connected"]]);
  });

  it("makes no further attempt once it is closed", async () => {
    refusal = { status: 503, body: "" };
    connection.start();
    await until(() => lines.length).toBe(1);
    await connection.close();
    expect(lines).toEqual(["not connected: the service returned 503; next attempt in 1 s"]);
  });
});

describe("the connection of a worker, in the course of time", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  it("is kept while the service responds to its pings", async () => {
    connection.start();
    const { socket } = await connected();
    for (let count = 0; count < 4; count++) {
      const pinged = once(socket, "ping");
      vi.advanceTimersByTime(30_000);
      await pinged;
      // The worker responds to this ping after it has read the pong to its own.
      socket.ping();
      await once(socket, "pong");
    }
    expect(lines).toEqual(["connected"]);
  });

  it("is ended if the service responds to no ping for more than a minute", async () => {
    isSilent = true;
    connection.start();
    const { socket } = await connected();
    const pings: unknown[] = [];
    socket.on("ping", () => pings.push(1));
    vi.advanceTimersByTime(30_000);
    vi.advanceTimersByTime(30_000);
    await until(() => pings.length).toBe(2);
    expect(lines).toEqual(["connected"]);
    vi.advanceTimersByTime(30_000);
    await until(() => lines.at(-1)).toBe("not connected: the connection was closed (1006); next attempt in 1 s");
  });

  it("is tried again soon where it was open for more than half a minute", async () => {
    refusal = { status: 503, body: "" };
    connection.start();
    await until(() => lines.length).toBe(1);
    refusal = undefined;
    const { socket } = await connected();
    vi.advanceTimersByTime(30_001);
    socket.close(1001);
    await until(() => lines.length).toBe(3);
    expect(lines.at(-1)).toBe("not connected: the connection was closed (1001); next attempt in 1 s");
  });

  it("is ended by a frame that is larger than 128 KiB", async () => {
    connection.start();
    const { socket } = await connected();
    socket.send(JSON.stringify({ ...cancel, more: "x".repeat(128 * 1024) }));
    await until(() => lines.length).toBe(2);
    expect(lines.at(-1)).toBe("not connected: Max payload size exceeded; next attempt in 1 s");
    expect(frames).toEqual([]);
  });
});

describe("tryConnection", () => {
  const options = () => ({ url, workerId: "rack-7", headers: {} });

  it("opens a connection and closes it", async () => {
    await tryConnection(options());
    await until(() => opened.map(({ socket }) => socket.readyState)).toEqual([3]);
  });

  it("reports the response of the service, or that it cannot be reached", async () => {
    refusal = { status: 403, body: "not here" };
    await expect(tryConnection(options())).rejects.toThrow(`${url} returned 403: not here`);
    const nowhere = "ws://127.0.0.1:1/";
    await expect(tryConnection({ ...options(), url: nowhere })).rejects.toThrow(
      `${nowhere} cannot be reached: connect`,
    );
  });
});

it.each([
  [401, '{"error":"no"}', "401: no"],
  [500, " text ", "500: text"],
  [404, "", "404"],
  [400, "x".repeat(301), `400: ${"x".repeat(300)}`],
  [400, '{"error":""}', "400"],
])("describeRefusal describes %i with %j as %j", (status, body, expected) => {
  expect(describeRefusal(status, body)).toBe(expected);
});

describe("readRefusal", () => {
  /** Reads a response that arrives in these parts; it stays open after the last one unless that is null. */
  async function read(...parts: readonly (string | null)[]): Promise<string> {
    const response = new IncomingMessage(new Socket());
    response.statusCode = 503;
    const refusal = readRefusal(response);
    for (const part of parts) {
      response.push(part);
      await nextTurn();
    }
    return refusal;
  }
  const withLength = (length: number) => '{"error":"full"'.padEnd(length);

  it("reads a reason that arrives in parts, up to 64 KiB", async () => {
    expect(await read('{"error":', '"full"}', null)).toBe("503: full");
    expect(await read(withLength(64 * 1024), "}", null)).toBe("503: full");
    expect(await read(null)).toBe("503");
  });

  it("does not wait for the end of a longer one", async () => {
    expect(await read(withLength(64 * 1024 + 1))).toBe(`503: ${withLength(300).trim()}`);
  });
});
