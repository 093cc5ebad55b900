import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { compileCache } from "../../support/compile-cache.ts";
import { eventually } from "../support/eventually.ts";
import { type Served, useServers } from "../support/served.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const PROGRAM = path.join(ROOT, "server/command/runyard-server.ts");
const servers = useServers();
const children: ChildProcessWithoutNullStreams[] = [];
const sockets: WebSocket[] = [];
let directory: string;
let server: Served;

beforeEach(async () => {
  directory = servers.directory();
  server = await servers.start(directory, { environment: { WORKER_CLAIM_SECONDS: "5" } });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }
});

function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: {
      PATH: process.env["PATH"],
      HOME: directory,
      ...compileCache(),
      RUNYARD_API_KEY: server.state.api_key,
      RUNYARD_BASE_URL: server.state.base_url,
      ...environment,
    },
  });
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += String(chunk)));
  return { child, output: () => output };
}

async function startWorker(...args: readonly string[]) {
  const worker = run(["worker", "--id", "rack-7", "--no-sandbox", ...args]);
  await eventually(() => expect(worker.output()).toMatch(/Z connected/));
  return worker;
}

/** A socket that behaves like a third-party worker. */
async function openSocket(id = "rack-7", headers = { authorization: `Bearer ${server.state.api_key}` }) {
  const url = `${server.state.web_url.replace("http", "ws")}/any/path?worker_id=${id}`;
  const socket = new WebSocket(url, { headers });
  sockets.push(socket);
  const frames: { type: string; data: { task_id: string; env_vars: Record<string, string> } }[] = [];
  socket.on("message", (data) => frames.push(JSON.parse(data.toString())));
  socket.on("error", () => undefined);
  const status = await new Promise<number>((resolve) => {
    socket.on("open", () => resolve(101));
    socket.on("unexpected-response", (_, response) => resolve(response.statusCode ?? 0));
  });
  const send = (type: string, data: object) => socket.send(JSON.stringify({ type, data }));
  return { socket, frames, status, send };
}

const block = (command: string) => `\`\`\`sh\n${command}\n\`\`\``;
async function createRun(command: string): Promise<string> {
  const body = { prompt: block(command), config: { worker_host: "rack-7", model_id: "local/runbook" } };
  const { body: created } = await server.call("POST", "/agent/runs", body);
  return created.run_id;
}
const readRun = async (id: string) => (await server.call("GET", `/agent/runs/${id}`)).body;
const connected = async () => (await server.call("GET", "/agent/connected-self-hosted-workers")).body.workers;

describe("the socket of workers", () => {
  // @contract workers.connect: A worker connects over a socket.
  it("responds to pings, rejects other callers, and lists connected workers until the socket closes", async () => {
    expect(readFileSync(path.join(directory, "local.json"), "utf8")).toContain('"ws_url": "ws://127.0.0.1:');
    expect((await openSocket("rack-7", { authorization: "Bearer ryp_wrong" })).status).toBe(401);
    expect((await openSocket("warp-7")).status).toBe(400);
    const worker = await openSocket();
    expect(worker.status).toBe(101);
    expect(await connected()).toMatchObject([{ worker_host: "rack-7", connection_count: 1 }]);
    worker.socket.ping();
    await once(worker.socket, "pong");
    worker.socket.close();
    await eventually(async () => expect(await connected()).toEqual([]));
  });

  it("survives half frames, binary frames, floods and frames of 1 MB", async () => {
    const good = await openSocket();
    const half = await openSocket();
    half.socket.send("{", { fin: false });
    half.socket.send(Buffer.from([0, 255, 1]));
    half.socket.terminate();
    const large = await openSocket();
    large.socket.send("x".repeat(1_000_000));
    const [code] = await once(large.socket, "close");
    expect(code).toBe(1009);
    const flood = await openSocket();
    const closed = once(flood.socket, "close");
    for (let frame = 0; frame < 3_000; frame++) flood.send("task_claimed", { task_id: "none" });
    expect((await closed)[0]).toBe(1013);
    const id = await createRun("true");
    await eventually(() => expect(good.frames.length).toBeGreaterThan(0));
    expect(good.frames[0]?.data.task_id).toBe(id);
  });
});

describe("a run of a worker", () => {
  it("does not wait for the sandboxes of the service", async () => {
    const directory = servers.directory();
    server = await servers.start(directory, { args: ["--concurrency", "1"] });
    const file = path.join(directory, "began");
    for (let count = 0; count < 5; count++) {
      const config = { model_id: "local/runbook" };
      const prompt = block(`touch ${file}; sleep 600`);
      expect((await server.call("POST", "/agent/runs", { prompt, config })).status).toBe(200);
    }
    await eventually(() => expect(existsSync(file)).toBe(true));
    const id = await createRun("true");
    const worker = await openSocket();
    await eventually(() => expect(worker.frames.map(({ data }) => data.task_id)).toEqual([id]));
  });
});

describe("runyard-server agent run", () => {
  it("executes the run that a third-party worker has claimed, and is refused once it is over", async () => {
    const id = await createRun("echo done by the agent");
    const worker = await openSocket();
    await eventually(() => expect(worker.frames).toHaveLength(1));
    worker.send("task_claimed", { task_id: id, worker_id: "rack-7" });
    await eventually(async () => expect((await readRun(id)).state).toBe("CLAIMED"));
    const args = ["agent", "run", "--share", "team:edit", "--task-id", id, "--sandboxed", "--no-sandbox"];
    const key = { WARP_API_KEY: worker.frames[0]?.data.env_vars["WARP_API_KEY"] ?? "" };
    const agent = run([...args, "--server-root-url", server.state.web_url], key);
    expect(await once(agent.child, "exit"), agent.output()).toEqual([0, null]);
    expect((await readRun(id)).state).toBe("SUCCEEDED");
    const late = run([...args, "--server-root-url", server.state.web_url], key);
    expect((await once(late.child, "exit"))[0]).toBe(3);
    expect((await once(run(["agent", "run"]).child, "exit"))[0]).toBe(2);
  });
});

describe("runyard-server worker", () => {
  it.each([
    ["npm run worker", "npm", ["run", "worker", "--"]],
    ["runyard worker", process.execPath, ["cli/src/main.ts", "worker"]],
  ])("executes a run as `%s`, and ends with SIGTERM", async (_, command, args) => {
    const child = spawn(command, [...args, "--id", "rack-7", "--no-sandbox"], {
      cwd: ROOT,
      env: {
        PATH: process.env["PATH"],
        HOME: directory,
        RUNYARD_API_KEY: server.state.api_key,
        RUNYARD_BASE_URL: server.state.base_url,
      },
      stdio: ["ignore", "pipe", "pipe"],
      // npm does not pass signals on to the program that it runs; a terminal signals all of them.
      detached: true,
    });
    const ended = once(child, "exit");
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += String(chunk)));
    try {
      const id = await createRun("echo done");
      await eventually(async () =>
        expect(await readRun(id), output).toMatchObject({ state: "SUCCEEDED", execution_location: "REMOTE" }),
      );
    } finally {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
    }
    await ended;
    await eventually(async () => expect(await connected()).toEqual([]));
  });

  it("checks its requirements with --dry-run, and executes nothing", async () => {
    const id = await createRun("true");
    const dry = run(["worker", "--id", "rack-8", "--no-sandbox", "--dry-run"]);
    expect(await once(dry.child, "exit"), dry.output()).toEqual([0, null]);
    expect((await readRun(id)).state).toBe("QUEUED");
    const wrong = run(["worker", "--id", "rack-8", "--no-sandbox", "--dry-run"], { RUNYARD_API_KEY: "ryp_wrong" });
    expect((await once(wrong.child, "exit"))[0]).toBe(1);
    expect(wrong.output()).toContain("returned 401: A valid API key is required");
    const reserved = run(["worker", "--id", "hosted", "--no-sandbox", "--dry-run"]);
    expect((await once(reserved.child, "exit"))[0]).toBe(1);
    expect(reserved.output()).toMatch(/returned 400: .*worker_id: is reserved: .*\n$/);
    expect(reserved.output()).not.toContain("    at ");
  });

  // @contract runs.cancel.force-worker: The worker is sent task_cancellation.
  it("stops the processes of a run that is cancelled by force, and no run by a plain cancel", async () => {
    const worker = await startWorker();
    const file = path.join(directory, "pid");
    const id = await createRun(`echo $$ > ${file}\nsleep 600 & wait`);
    await eventually(() => expect(existsSync(file) && readFileSync(file, "utf8").trim()).toMatch(/^\d+$/));
    const pid = Number(readFileSync(file, "utf8"));
    expect((await server.call("POST", `/agent/runs/${id}/cancel`)).status).toBe(422);
    expect((await server.call("POST", `/agent/runs/${id}/cancel?force=true`)).status).toBe(200);
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
    await eventually(async () => expect((await readRun(id)).is_sandbox_running).toBe(false));
    expect((await readRun(id)).state).toBe("CANCELLED");
    worker.child.kill("SIGTERM");
    expect((await once(worker.child, "exit"))[0]).toBe(0);
  });

  it("executes each of 50 runs once, in three processes of which one is killed and one restarted", async () => {
    const log = path.join(directory, "done");
    const ids: string[] = [];
    const [first, second] = [await startWorker("--max-tasks", "3"), await startWorker("--max-tasks", "3")];
    await startWorker("--max-tasks", "3");
    for (let run = 0; run < 50; run++) ids.push(await createRun(`sleep 0.2\necho ${run} >> ${log}`));
    const ended = async () => {
      const { body } = await server.call("GET", "/agent/runs?limit=100&state=SUCCEEDED");
      return body.runs.length;
    };
    await eventually(async () => expect(await ended()).toBeGreaterThan(5));
    first.child.kill("SIGKILL");
    second.child.kill("SIGTERM");
    await once(second.child, "exit");
    await startWorker("--max-tasks", "3");
    for (let attempt = 0; attempt < 6 && (await ended()) < ids.length; attempt++) {
      await eventually(async () => expect(await ended()).toBe(ids.length)).catch(() => undefined);
    }
    expect(await ended()).toBe(ids.length);
    for (const id of ids) {
      const { body } = await server.call("GET", `/agent/runs/${id}/timeline`);
      const ends = body.events.filter(({ event_type }: { event_type: string }) => event_type === "run_succeeded");
      expect(ends).toHaveLength(1);
    }
    const numbers = new Set(readFileSync(log, "utf8").trim().split("\n").map(Number));
    const missing = ids.filter((_, number) => !numbers.has(number));
    const left = await Promise.all(
      missing.map(async (id) => (await server.call("GET", `/agent/runs/${id}/timeline`)).body),
    );
    expect(left, "runs that executed nothing").toEqual([]);
  }, 240_000);
});
