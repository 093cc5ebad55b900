import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { runAgent } from "#server/worker/agent-run.ts";
import { prepareHarness } from "#server/worker/harness-program.ts";
import type { WorkerOptions } from "#server/worker/options.ts";
import { runWorker } from "#server/worker/worker.ts";

let server: Server;
let port: number;
let reply: { status: number; body: string };
let requests: { method: string | undefined; path: string | undefined; headers: IncomingHttpHeaders; body: string }[];
let connected: { socket: WebSocket; path: string | undefined; headers: IncomingHttpHeaders; texts: string[] }[];
let lines: string[];
let options: WorkerOptions;

beforeEach(async () => {
  [requests, connected, lines, reply] = [[], [], [], { status: 200, body: "{}" }];
  vi.spyOn(console, "log").mockImplementation((text: string) => void lines.push(text));
  server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    requests.push({ method: request.method, path: request.url, headers: request.headers, body });
    response.writeHead(reply.status, { connection: "close" }).end(reply.body);
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, stream, head) => {
    sockets.handleUpgrade(request, stream, head, (socket) => {
      const texts: string[] = [];
      socket.on("message", (data) => texts.push(String(data)));
      connected.push({ socket, path: request.url, headers: request.headers, texts });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server does not listen");
  port = address.port;
  options = {
    ...{ id: "rack-7", maxTasks: 1, baseUrl: `http://127.0.0.1:${port}/api/v1`, key: "ryp_key", team: undefined },
    ...{ socketUrl: undefined, dryRun: true, isolates: false, drainSeconds: 60, directory: "data" },
  };
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  for (const { socket } of connected) socket.terminate();
  await new Promise((resolve) => server.close(resolve));
});

const dryRun = (more: Partial<WorkerOptions> = {}) => runWorker({ ...options, ...more }, new AbortController().signal);
const found = () => lines.flatMap((line) => /^✓ service .* (\S+, socket \S+)$/.exec(line)?.[1] ?? []);

describe("a worker that tries its connection", () => {
  it("requests its socket from the service with its key, connects, and executes nothing", async () => {
    reply.body = JSON.stringify({ workers: [], ws_url: `ws://127.0.0.1:${port}/named` });
    expect(await dryRun()).toBe(0);
    expect(requests).toEqual([
      {
        ...{ method: "GET", path: "/api/v1/agent/connected-self-hosted-workers", body: "" },
        headers: expect.objectContaining({ authorization: "Bearer ryp_key" }),
      },
    ]);
    expect(requests[0]?.headers).not.toHaveProperty("x-team-uid");
    expect(connected).toMatchObject([
      { path: "/named?worker_id=rack-7", headers: { authorization: "Bearer ryp_key" }, texts: [] },
    ]);
    expect(found()).toEqual([`${options.baseUrl}, socket ws://127.0.0.1:${port}/named`]);
    expect(lines.slice(-2)).toEqual([
      expect.stringMatching(/^✓ socket /),
      "A worker with the id rack-7 can connect. Nothing was executed.",
    ]);
  });

  it("names the team of a person with several", async () => {
    await dryRun({ team: "team-2" });
    expect([requests, connected].flat().map(({ headers }) => headers["x-team-uid"])).toEqual(["team-2", "team-2"]);
  });

  it("connects to a given socket without a request", async () => {
    expect(await dryRun({ socketUrl: `ws://127.0.0.1:${port}/own` })).toBe(0);
    expect([requests, connected.map(({ path }) => path)]).toEqual([[], ["/own?worker_id=rack-7"]]);
  });

  it.each(["{}", "no JSON"])("derives the socket from the address where the service names none: %s", async (body) => {
    reply.body = body;
    await dryRun();
    expect(connected.map(({ path }) => path)).toEqual(["/workers?worker_id=rack-7"]);
  });

  it.each([
    ["https://a.example/api/v1", undefined, "wss://a.example/workers"],
    ["http://a.example:81/x/api/v1", undefined, "ws://a.example:81/workers"],
    ["https://a.example/api/v1", "wss://sockets.example/x", "wss://sockets.example/x"],
    // A server that does not know its public address names that of its own machine.
    ["https://a.example/api/v1", "ws://127.0.0.1:4500/workers", "wss://a.example/workers"],
    ["http://localhost:4501/api/v1", "ws://127.0.0.1:4500/workers", "ws://127.0.0.1:4500/workers"],
  ])("of %s, which names the socket %s, connects to %s", async (baseUrl, ws_url, expected) => {
    vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ ws_url })));
    // With such a key it ends before it connects.
    await expect(dryRun({ baseUrl, key: "\n" })).rejects.toThrow("Invalid character in header content");
    expect(found()).toEqual([`${baseUrl}, socket ${expected}`]);
  });

  it("reports why the service refuses it, or that it cannot be reached", async () => {
    reply = { status: 401, body: '{"error":"the key is invalid"}' };
    await expect(dryRun()).rejects.toThrow(`${options.baseUrl} returned 401: the key is invalid`);
    const baseUrl = "http://127.0.0.1:9/api/v1";
    await expect(dryRun({ baseUrl })).rejects.toThrow(`${baseUrl} cannot be reached: fetch failed`);
    expect(connected).toEqual([]);
  });
});

describe("a worker", () => {
  it("connects, takes frames of the service, and drains and closes when it is stopped", async () => {
    const stop = new AbortController();
    const ended = runWorker({ ...options, dryRun: false, drainSeconds: 7 }, stop.signal);
    await expect.poll(() => connected.length).toBe(1);
    const data = { task_id: "run-1" };
    connected[0]?.socket.send(JSON.stringify({ type: "task_cancellation", data }));
    await expect
      .poll(() => connected[0]?.texts.map((text) => JSON.parse(text)))
      .toEqual([
        { type: "task_completed", data: { ...data, message: "the task is not running", task_state: "CANCELLED" } },
      ]);
    const time = "2026-05-18T19:00:00Z";
    const task = {
      ...{ id: "run-2", title: "Title", task_definition: { prompt: "work" }, created_at: time, updated_at: time },
      owner: { Type: "TEAM", Id: 1 },
    };
    const assigned = { task_id: "run-2", execution_id: "e", task, env_vars: {}, docker_image: "debian" };
    connected[0]?.socket.send(JSON.stringify({ type: "task_assignment", data: assigned }));
    await expect
      .poll(() => connected[0]?.texts.slice(1).map((text) => JSON.parse(text)))
      .toMatchObject([
        { type: "task_claimed", data: { task_id: "run-2", execution_id: "e", worker_id: "rack-7" } },
        { type: "task_failed", data: { task_id: "run-2", failure_reason: "dispatch_command" } },
      ]);
    const closed = new Promise<number>((resolve) => connected[0]?.socket.on("close", resolve));
    stop.abort();
    expect([await ended, await closed]).toEqual([0, 1000]);
    const logged = lines.filter((line) => /^\d{4}-\S+Z /.test(line)).map((line) => line.replace(/^\S+ /, ""));
    expect(logged).toEqual(["connected", "stopping: 0 tasks have 7 s to end", "stopped"]);
  });

  it("ends although it was stopped before it began", async () => {
    const socketUrl = `ws://127.0.0.1:${port}/own`;
    expect(await runWorker({ ...options, socketUrl, dryRun: false }, AbortSignal.abort())).toBe(0);
    expect(lines.at(-1)).toMatch(/ stopped$/);
  });
});

describe("the programs of a worker", () => {
  it("isolate commands unless the caller or the setting disables it", async () => {
    expect((await prepareHarness(false, "data")).programs.environment).toEqual({ RUNYARD_SANDBOX: "none" });
    vi.stubEnv("RUNYARD_SANDBOX", "machine");
    expect((await prepareHarness(true, "data")).programs.environment).toEqual({ RUNYARD_SANDBOX: "machine" });
    expect((await prepareHarness(false, "data")).programs.environment).toEqual({ RUNYARD_SANDBOX: "none" });
    vi.stubEnv("RUNYARD_SANDBOX", "none");
    expect((await prepareHarness(true, "data")).programs.environment).toEqual({ RUNYARD_SANDBOX: "none" });
  });

  it("say why this machine cannot execute a task in an image or with a limited network", async () => {
    const unisolated = await prepareHarness(false, "data");
    expect(unisolated.findProblem({ docker_image: "debian" })).toContain("needs bubblewrap");
    expect(unisolated.findProblem({ network: "none" })).toContain("install bubblewrap on its machine");
    expect([unisolated.findProblem({}), unisolated.images]).toEqual([undefined, undefined]);
  });

  it("are refused if isolation is required and does not work", async () => {
    vi.stubEnv("RUNYARD_SANDBOX", undefined);
    vi.stubEnv("PATH", "/nowhere");
    await expect(prepareHarness(true, "data")).rejects.toMatchObject({
      message: "Runs are not executed without isolation.",
      details: ["Install bubblewrap, or use --no-sandbox if everybody in the team may run commands as this user."],
    });
  });
});

describe("runyard-server agent run", () => {
  const run = (environment: NodeJS.ProcessEnv = {}) =>
    runAgent(
      { runId: "run-1", baseUrl: options.baseUrl, key: "ryr_key", isolates: false, directory: "data" },
      environment,
      new AbortController().signal,
    );

  it.each([401, 403])("ends with 3 where the service refuses the key with %i", async (status) => {
    reply = { status, body: "" };
    const complain = vi.spyOn(console, "error").mockReturnValue(undefined);
    expect(await run()).toBe(3);
    expect(complain.mock.calls).toEqual([
      ["The service refused the key of run run-1: its execution is over, or has not been claimed."],
    ]);
    expect(requests).toMatchObject([
      {
        ...{ method: "POST", path: "/api/v1/harness-support/resolve-prompt", body: "{}" },
        headers: { authorization: "Bearer ryr_key", "content-type": "application/json" },
      },
    ]);
    expect(requests[0]?.headers["runyard-protocol"]).toMatch(/^\d+$/);
    expect(requests[0]?.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("fails where the service cannot say which execution the key is for", async () => {
    reply = { status: 500, body: '{"error":"broken"}' };
    await expect(run()).rejects.toThrow(`${options.baseUrl} returned 500: broken`);
  });
});
