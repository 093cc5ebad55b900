import { beforeEach, describe, expect, it } from "vitest";
import { connectWorker } from "#functions/workers/connect-worker.ts";
import { setLogOutput } from "#shared/log/log.ts";
import { type ConnectionKey, type WorkerStore, workerStore } from "#shared/workers/worker-store.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { openSocket } from "../../support/worker.ts";

let plane: TestControlPlane;
let user: Client;
let store: WorkerStore;
beforeEach(async () => {
  plane = await createTestControlPlane();
  store = workerStore(plane.ports);
  user = createClient(plane);
});

const path = "/agent/connected-self-hosted-workers";
const connection = (workerHost: string, connectionId: string, team = plane.team): ConnectionKey => ({
  team,
  workerHost,
  connectionId,
});
const connect = async (key: ConnectionKey) => {
  await store.register(key, "hash");
  plane.clock.now += 1000;
  return key;
};

describe("GET /agent/connected-self-hosted-workers", () => {
  // @contract workers.list: Connected workers can be listed.
  it("is empty while no worker is connected", async () => {
    expect(await user.get(path)).toEqual(
      expect.objectContaining({ status: 200, body: { workers: [], ws_url: "wss://workers.runyard.test" } }),
    );
  });

  // @contract workers.list
  // @contract workers.item: A worker has worker_host, connection_count, connected_at and last_seen_at.
  it("shows each worker once by its id, with its connections", async () => {
    await connect(connection("builder", "one"));
    const second = await connect(connection("builder", "two"));
    await connect(connection("attic", "three"));
    plane.clock.now += 60_000;
    await store.noteSeen(second);
    expect((await user.get(path)).body).toMatchObject({
      workers: [
        {
          worker_host: "attic",
          connection_count: 1,
          connected_at: "2026-05-18T19:00:02.000Z",
          last_seen_at: "2026-05-18T19:00:02.000Z",
        },
        {
          worker_host: "builder",
          connection_count: 2,
          connected_at: "2026-05-18T19:00:00.000Z",
          last_seen_at: "2026-05-18T19:01:03.000Z",
        },
      ],
    });
  });

  // @contract workers.gone: A disconnected worker is not listed.
  it("omits a connection that has ended, and one that API Gateway must have ended", async () => {
    const first = await connect(connection("builder", "one"));
    await connect(connection("builder", "two"));
    await store.forget(first);
    await store.forget(first);
    expect((await user.get(path)).body.workers).toMatchObject([{ worker_host: "builder", connection_count: 1 }]);
    expect(await store.noteSeen(first)).toBe(false);
    plane.clock.now += 3 * 3600_000;
    expect((await user.get(path)).body.workers).toEqual([]);
  });

  it("shows a team's workers only to its members and agents", async () => {
    await connect(connection("builder", "one"));
    await connect(connection("builder", "elsewhere", plane.otherTeam));
    const agent = createClient(plane, (await plane.agent()).key);
    expect((await agent.get(path)).body.workers).toMatchObject([{ worker_host: "builder", connection_count: 1 }]);
    const both = createClient(plane, (await plane.person("Mia", [plane.team, plane.otherTeam])).key);
    expect((await both.get(path)).body.workers).toMatchObject([{ worker_host: "builder", connection_count: 2 }]);
    const headers = { "x-team-uid": plane.otherTeam };
    expect((await both.get(path, { headers })).body.workers).toMatchObject([{ connection_count: 1 }]);
  });

  it("returns workers in pages", async () => {
    for (const host of ["a#b", "a", "c"]) await connect(connection(host, "one"));
    const first = (await user.get(`${path}?limit=2`)).body;
    expect(first.workers.map((one: { worker_host: string }) => one.worker_host)).toEqual(["a", "a#b"]);
    const second = (await user.get(`${path}?limit=2&cursor=${first.page_info.next_cursor}`)).body;
    expect(second.workers).toMatchObject([{ worker_host: "c" }]);
    expect((await user.get(`${path}?limit=0`)).status).toBe(400);
  });
});

describe("the socket of workers", () => {
  const status = async (...args: Parameters<typeof openSocket> extends [unknown, ...infer R] ? R : never) =>
    (await openSocket(plane, ...args)).statusCode;

  it("accepts agent keys and personal keys of members, each for its team", async () => {
    const agent = await plane.agent();
    expect(await status("rack-7", { key: agent.key })).toBe(200);
    expect(await status("rack-7")).toBe(200);
    expect(await status("rack-7", { key: plane.otherKey })).toBe(200);
    expect((await user.get(path)).body.workers).toMatchObject([{ worker_host: "rack-7", connection_count: 2 }]);
  });

  it("refuses other callers with 401 and 403", async () => {
    expect(await status("rack-7", { key: "" })).toBe(401);
    expect(await status("rack-7", { key: "ryp_wrong" })).toBe(401);
    expect(await status("rack-7", { headers: { "x-team-uid": plane.otherTeam } })).toBe(403);
    const nobody = await plane.person("Nora", []);
    expect(await status("rack-7", { key: nobody.key })).toBe(400);
    const both = await plane.person("Mia", [plane.team, plane.otherTeam]);
    expect(await status("rack-7", { key: both.key })).toBe(400);
    expect(await status("rack-7", { key: both.key, headers: { "X-Team-Uid": plane.team } })).toBe(200);
  });

  it("accepts keys with the scope workers only", async () => {
    const keyWith = async (scope: string) =>
      (await user.post("/agent/keys", { name: "worker", scopes: [scope] })).body.key;
    expect((await openSocket(plane, "rack-7", { key: await keyWith("workers") })).statusCode).toBe(200);
    const refused = await openSocket(plane, "rack-8", { key: await keyWith("runs:write") });
    expect(refused.statusCode).toBe(403);
    expect(refused.body).toContain("lacks the scope workers:");
  });

  // @contract workers.connect.reserved: A worker_id that begins with warp or is hosted is refused.
  it.each([undefined, "", "hosted", "warp", "warp-7", "Warp", "x".repeat(513)])("refuses the id %j", async (id) => {
    expect(await status(id)).toBe(400);
    expect((await user.get(path)).body.workers).toEqual([]);
  });

  it("refuses more than 500 connections of a team with 429, until one is closed", async () => {
    const host = (number: number) => `rack-${number % 7}`;
    const keys = Array.from({ length: 499 }, (_, number) => connection(host(number), `connection-${number}`));
    for (const key of keys) await store.register(key, "hash");
    const last = await openSocket(plane, "rack-7");
    expect(last.statusCode).toBe(200);
    const refused = await openSocket(plane, "rack-7");
    expect(refused.statusCode).toBe(429);
    expect(JSON.parse(refused.body ?? "")).toMatchObject({
      error_code: "resource_unavailable",
      retryable: true,
      detail: "the workers of the team have 500 connections already",
    });
    expect(refused.headers).toMatchObject({ "retry-after": "60" });
    expect(await status("rack-7", { key: plane.otherKey })).toBe(200);
    await store.forget(connection(host(0), "connection-0"));
    expect(await status("rack-7")).toBe(200);
    expect(await status("rack-7")).toBe(429);
    // Connections that API Gateway must have closed do not count.
    plane.clock.now += 7_800_000;
    expect(await status("rack-7")).toBe(200);
  });

  it("names the trace in a refusal, and logs it as an error only if the service failed", async () => {
    const lines: { message: string; level: string; status: number }[] = [];
    const connectionId = "connection-1";
    const connect = (ports: Partial<TestControlPlane["ports"]>, requestId?: string) =>
      connectWorker.handle(
        { requestContext: { connectionId, ...(requestId === undefined ? {} : { requestId }) } },
        { ...plane.ports, ...ports },
      );
    const { principals } = plane.ports;
    const broken = { ...principals, authenticate: () => Promise.reject(new Error("the table is gone")) };
    setLogOutput((line) => void lines.push(JSON.parse(line)));
    try {
      expect(await connect({}, "request-7")).toMatchObject({
        statusCode: 401,
        headers: { "x-request-id": "request-7" },
      });
      expect(await connect({ principals: broken })).toMatchObject({
        statusCode: 500,
        headers: { "x-request-id": connectionId },
      });
    } finally {
      setLogOutput((line) => void process.stdout.write(line));
    }
    expect(lines.map(({ message, level, status: given }) => [message, level, given])).toEqual([
      ["worker refused", "info", 401],
      ["worker refused", "error", 500],
    ]);
  });
});
