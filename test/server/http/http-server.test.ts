import { once } from "node:events";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createAdminKey } from "#server/admin-key.ts";
import { type ControlSocket, openControlSocket } from "#server/http/control-socket.ts";
import { type HttpServer, startHttpServer } from "#server/http/http-server.ts";
import { type Installation, openInstallation } from "../support/in-process.ts";

// Keeps the log out of the test output.
vi.spyOn(process.stdout, "write").mockReturnValue(true);

const ID = "0199a3c4-7d20-7c3b-8a11-5e0f9b2c6d48";
let installation: Installation;
let server: HttpServer;
let url: string;
let key: string;

async function start(maxDiskBytes?: number, bodyMs?: number): Promise<void> {
  installation = await openInstallation(maxDiskBytes === undefined ? {} : { maxDiskBytes });
  const { adapters, ports, sockets } = installation;
  key = (await createAdminKey(adapters.database, adapters.table)).api_key;
  // Stops the timers of the load shedder, which would refuse requests on a busy machine.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  server = await startHttpServer({
    ...{ host: "127.0.0.1", port: 0, ports, adapters, sockets },
    ...(bodyMs === undefined ? {} : { bodyMs }),
  });
  vi.useRealTimers();
  url = `http://127.0.0.1:${server.port}`;
}
afterEach(async () => {
  await installation.sockets.end();
  await server.close();
  await installation.close();
});

async function call(method: string, at: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${url}/api/v1${at}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...headers },
  });
  const text = await response.text();
  return { status: response.status, text };
}

describe("a server without room on its disk", () => {
  beforeEach(async () => {
    await start(1);
    await installation.adapters.disk.measureAll();
  });

  it("refuses what starts new work, with the reason", async () => {
    const requests = [
      "/agent/runs",
      "/agent/run",
      `/agent/runs/${ID}/followups`,
      "/agent/attachments",
      `/agent/schedules/${ID}/run`,
    ];
    for (const at of requests) {
      const { status, text } = await call("POST", at);
      expect([at, status, text]).toEqual([at, 503, expect.stringContaining("has reached its limit of 1 bytes")]);
      expect(JSON.parse(text).type).toBe(`${installation.ports.baseUrl}/docs/errors/resource-unavailable`);
    }
  });

  it("serves what reads, ends or reports a run", async () => {
    const requests = [
      ["GET", "/agent/runs", 200],
      ["GET", `/agent/runs/${ID}`, 404],
      ["POST", `/agent/runs/${ID}/cancel`, 404],
      ["POST", "/harness-support/heartbeat", 403],
    ] as const;
    for (const [method, at, expected] of requests) {
      expect([at, (await call(method, at)).status]).toEqual([at, expected]);
    }
  });
});

describe("a server", () => {
  beforeEach(() => start());

  it("accepts only the callers that a route is for", async () => {
    expect((await call("POST", "/harness-support/resolve-prompt")).status).toBe(403);
    expect((await call("GET", "/agent/runs", { authorization: "" })).status).toBe(401);
    expect((await call("GET", "/openapi.json", { authorization: "" })).status).toBe(200);
  });

  it("prefers paths without a parameter to those with one", async () => {
    const created = await call("GET", "/agent/me");
    expect(created.status).toBe(200);
    const workers = await call("GET", "/agent/connected-self-hosted-workers");
    expect(JSON.parse(workers.text)).toMatchObject({ workers: [] });
  });

  it.each(["", "/", "/unknown", "/agent/unknown"])(
    "responds with a problem to the unknown path /api/v1%s",
    async (at) => {
      const { status, text } = await call("GET", at);
      expect([status, JSON.parse(text).error_code]).toEqual([404, "resource_not_found"]);
    },
  );

  it("does not serve HEAD with the endpoint of GET", async () => {
    expect((await call("HEAD", "/agent/me")).status).toBe(405);
  });

  it.each([
    ["addressed to another server", 421, "GET / HTTP/1.1\r\nhost: attacker.example\r\nconnection: close\r\n\r\n"],
    ["without a protocol", 400, "hello\r\n\r\n"],
  ])(
    "refuses a request %s with %i, and names the page of the error below its public address",
    async (_, status, sent) => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1");
      socket.write(sent);
      const response = await text(socket);
      expect(response).toMatch(`HTTP/1.1 ${status} `);
      expect(response).toContain(`"type":"${installation.ports.baseUrl}/docs/errors/invalid-request"`);
    },
  );

  it("closes while a client keeps its connection open, and stops listening", async () => {
    expect((await call("GET", "/agent/me")).status).toBe(200);
    await server.close();
    await expect(fetch(url)).rejects.toThrow();
  });

  it("reports an address that is in use", async () => {
    const { adapters, ports, sockets } = installation;
    const port = Number(new URL(url).port);
    const second = startHttpServer({ host: "127.0.0.1", port, ports, adapters, sockets });
    await expect(second).rejects.toMatchObject({ code: "EADDRINUSE" });
  });
});

describe("the control socket", () => {
  beforeEach(() => start());

  /** Calls the socket. */
  const invoke = (method: string, at: string, body = "") =>
    new Promise<{ status: number | undefined; body: unknown }>((resolve, reject) => {
      const socketPath = path.join(installation.directory, "control.sock");
      const outgoing = request({ socketPath, method, path: at }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode, body: JSON.parse(text) }));
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  async function withSocket(use: (control: ControlSocket) => Promise<void>): Promise<void> {
    const { directory, ports } = installation;
    const control = openControlSocket(directory, ports, ports);
    try {
      await expect.poll(() => existsSync(path.join(directory, "control.sock"))).toBe(true);
      await use(control);
    } finally {
      control.close();
    }
  }

  it("replaces one that a killed server left, and is accessible only to its owner", async () => {
    const file = path.join(installation.directory, "control.sock");
    writeFileSync(file, "");
    await withSocket(async () => {
      await expect.poll(() => statSync(file).isSocket() && (statSync(file).mode & 0o777) === 0o600).toBe(true);
      const { status, body } = await invoke("GET", "/");
      expect([status, body]).toEqual([200, expect.arrayContaining(["create-run", "dispatch-run", "reap-runs"])]);
    });
  });

  it("returns 404 for an unknown function, and the error of a function that fails", () =>
    withSocket(async () => {
      await expect.poll(async () => (await invoke("GET", "/").catch(() => undefined))?.status).toBe(200);
      expect(await invoke("POST", "/unknown", "{}")).toEqual({ status: 404, body: {} });
      expect(await invoke("POST", "/reap-runs", "{")).toEqual({
        status: 500,
        body: { errorType: "SyntaxError", errorMessage: expect.any(String) },
      });
    }));
});

describe("requests to models", () => {
  const MODEL = "/api/v1/model/anthropic/v1/messages";
  const BYTES = 5 * 1024 * 1024;

  /** Creates a run that its creator executes, and returns its key. */
  async function createLocalRun(): Promise<string> {
    const post = (at: string, credential: string, body: unknown) =>
      fetch(`${url}/api/v1${at}`, {
        method: "POST",
        headers: { authorization: `Bearer ${credential}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const created = await post("/agent/runs", key, { prompt: "a", execution_location: "LOCAL" });
    const { run_key } = v.parse(v.object({ run_key: v.string() }), await created.json());
    await post("/harness-support/resolve-prompt", run_key, {});
    return run_key;
  }

  /** Begins a request whose last byte does not arrive. Resolves with what the connection has received when it ends. */
  function stall(runKey: string) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `POST ${MODEL} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${runKey}\r\ncontent-length: ${BYTES}\r\n\r\n`,
    );
    socket.write(Buffer.alloc(BYTES - 1, " "));
    return { socket, status: once(socket, "data").then(([data]) => String(data).slice(9, 12)) };
  }

  const send = async (runKey: string) => {
    const response = await fetch(`${url}${MODEL}`, { method: "POST", headers: { "x-api-key": runKey }, body: "{}" });
    return response.status;
  };

  it("of one execution take a limited part of the memory, so that there is room for those of others", async () => {
    await start();
    const [greedy, other] = [await createLocalRun(), await createLocalRun()];
    const stalled = Array.from({ length: 13 }, () => stall(greedy));
    try {
      expect(await Promise.race(stalled.map(({ status }) => status))).toBe("503");
      expect(await send(other)).toBe(400);
    } finally {
      for (const { socket } of stalled) socket.destroy();
    }
    await expect.poll(() => send(greedy)).toBe(400);
  });

  it("are disconnected if their bodies do not arrive in time", async () => {
    await start(undefined, 500);
    const { socket } = stall(await createLocalRun());
    await once(socket, "close");
  });
});
