import { once } from "node:events";
import net from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ClientOptions, WebSocket } from "ws";
import { forgetConnections } from "#server/sockets/worker-sockets.ts";
import { parseKey } from "#shared/principals/api-key.ts";
import { keys } from "#shared/table/keys.ts";
import { workerStore } from "#shared/workers/worker-store.ts";
import { type SocketServer, withSocketServer } from "../support/in-process.ts";

// Keeps the log out of the test output.
const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);

const START = Date.parse("2026-05-18T19:00:00Z");
const HOUR = 3_600_000;
const clients: WebSocket[] = [];
beforeEach(() => void vi.useFakeTimers({ now: START, toFake: ["setInterval", "clearInterval", "Date"] }));
afterEach(() => {
  for (const client of clients.splice(0)) client.terminate();
  vi.useRealTimers();
});

function connect({ url, key }: SocketServer, workerId = "rack-7", options: ClientOptions = {}): WebSocket {
  const headers = { authorization: `Bearer ${key}`, ...options.headers };
  const client = new WebSocket(`${url}?worker_id=${workerId}`, { ...options, headers });
  client.on("error", () => undefined);
  clients.push(client);
  return client;
}
async function connected(server: SocketServer, workerId?: string, options?: ClientOptions): Promise<WebSocket> {
  const client = connect(server, workerId, options);
  await once(client, "open");
  return client;
}
const listWorkers = ({ ports, team }: SocketServer) => workerStore(ports).ofTeam(team);
async function connectionId(server: SocketServer): Promise<string> {
  const [connection] = await listWorkers(server);
  if (connection === undefined) throw new Error("no worker is connected");
  return connection.connection_id;
}
/** Advances to the next ping. Resolves when the server has read all earlier frames of the client. */
async function ping(client: WebSocket): Promise<void> {
  const pinged = once(client, "ping");
  vi.advanceTimersByTime(30_000);
  await pinged;
  client.ping();
  await once(client, "pong");
}

describe("the sockets of workers on a single machine", () => {
  it("send a frame to an open connection only, and close one for good", () =>
    withSocketServer(async (server) => {
      const client = await connected(server);
      const id = await connectionId(server);
      const message = once(client, "message");
      expect([await server.sockets.post(id, "frame"), await server.sockets.post("unknown", "frame")]).toEqual([
        true,
        false,
      ]);
      expect(String((await message)[0])).toBe("frame");
      const closed = once(client, "close");
      await server.sockets.close(id);
      expect((await closed)[0]).toBe(1008);
      await expect.poll(() => listWorkers(server)).toEqual([]);
      expect(await server.sockets.post(id, "frame")).toBe(false);
    }));

  it.each([
    ["addressed to another server", 421, { headers: { host: "attacker.example" } }],
    ["without a valid key", 401, { headers: { authorization: "Bearer ryp_wrong" } }],
    ["of a team that the key is not in", 403, { headers: { "x-team-uid": "0199a3c4-7d20-7c3b-8a11-5e0f9b2c6d48" } }],
  ])("refuse a connection %s with %i", (_, status, options) =>
    withSocketServer(async (server) => {
      const [, response] = await once(connect(server, "rack-7", options), "unexpected-response");
      expect(response.statusCode).toBe(status);
      expect(JSON.parse(await text(response)).type).toMatch(`${server.ports.baseUrl}/docs/errors/`);
      expect(await listWorkers(server)).toEqual([]);
    }),
  );

  it.each(["//", "/?worker_id=rack-7"])("refuse a connection to %s whose client keeps its side open, and end", (at) =>
    withSocketServer(async (server) => {
      const socket = net.connect({ port: Number(new URL(server.url).port), host: "127.0.0.1", allowHalfOpen: true });
      const headers = "upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13";
      socket.write(`GET ${at} HTTP/1.1\r\nhost: ${new URL(server.url).host}\r\n${headers}\r\n\r\n`);
      expect(await text(socket)).toMatch("HTTP/1.1 401 ");
    }),
  );

  it("record when a frame arrives, even one that cannot be read", () =>
    withSocketServer(async (server) => {
      const client = await connected(server);
      const store = workerStore(server.ports);
      const before = await store.find(await connectionId(server));
      vi.setSystemTime(START + HOUR);
      client.send("no frame");
      await expect
        .poll(async () => (await listWorkers(server)).map(({ last_seen_at }) => last_seen_at))
        .toEqual([START + HOUR]);
      expect(before?.connection.last_seen_at).toBe(START);
    }));

  it("end a connection that does not respond to pings, and keep one that does", () =>
    withSocketServer(async (server) => {
      const silent = await connected(server, "silent", { autoPong: false });
      const client = await connected(server, "alive");
      await ping(client);
      const closed = once(silent, "close");
      await ping(client);
      expect((await closed)[0]).toBe(1006);
      await ping(client);
      expect(client.readyState).toBe(WebSocket.OPEN);
      await expect
        .poll(async () => (await listWorkers(server)).map(({ worker_host }) => worker_host))
        .toEqual(["alive"]);
    }));

  it("close a connection whose key is deleted with the next ping, although it is idle", () =>
    withSocketServer(async (server) => {
      const client = await connected(server);
      await ping(client);
      const { hash } = parseKey(server.key) ?? { hash: "" };
      await server.ports.table.write({ kind: "delete", key: keys.apiKey(hash) });
      const closed = once(client, "close");
      vi.advanceTimersByTime(30_000);
      expect((await closed)[0]).toBe(1008);
      await expect.poll(() => listWorkers(server)).toEqual([]);
    }));

  it("record an open connection each hour, so that it is found for as long as it is open", () =>
    withSocketServer(async (server) => {
      const client = await connected(server);
      const id = await connectionId(server);
      const { find } = workerStore(server.ports);
      for (let hours = 1; hours <= 5; hours++) {
        vi.setSystemTime(START + hours * HOUR);
        await ping(client);
        await expect.poll(async () => (await find(id))?.connection.last_seen_at).toBe(Date.now());
        await server.adapters.table.purgeExpired(Date.now());
      }
      await ping(client);
      expect((await find(id))?.connection.last_seen_at).toBe(Date.now() - 30_000);
    }));

  it("record an open connection at the next ping where the data directory could not be written", () =>
    withSocketServer(async (server) => {
      const client = await connected(server);
      const { find } = workerStore(server.ports);
      const id = await connectionId(server);
      vi.setSystemTime(START + HOUR);
      printed.mockClear();
      server.adapters.database.statement("PRAGMA query_only = 1").run();
      await ping(client);
      await expect.poll(() => printed.mock.calls.join("\n")).toContain("a connection was not recorded as open");
      expect((await find(id))?.connection.last_seen_at).toBe(START);
      server.adapters.database.statement("PRAGMA query_only = 0").run();
      await ping(client);
      await expect.poll(async () => (await find(id))?.connection.last_seen_at).toBe(Date.now());
    }));

  it("notify workers that the server is stopping, and accept none after that", () =>
    withSocketServer(async (server) => {
      const client = await connected(server);
      const closed = once(client, "close");
      await server.sockets.end();
      expect((await closed)[0]).toBe(1001);
      const [, response] = await once(connect(server), "unexpected-response");
      expect(response.statusCode).toBe(503);
    }));
});

describe("forgetConnections", () => {
  it("removes the connections that a previous process left in the table", () =>
    withSocketServer(async (server) => {
      const store = workerStore(server.ports);
      const left = { team: server.team, workerHost: "rack-7", connectionId: "left" };
      await store.register(left, "hash");
      await store.register({ ...left, workerHost: "rack-8", connectionId: "left too" }, "hash");
      await forgetConnections(server.adapters.database, server.ports);
      expect([await listWorkers(server), await store.find("left")]).toEqual([[], undefined]);
    }));
});
