import { rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, request } from "node:http";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createAdminKey } from "#server/admin-key.ts";
import { mayReadMetrics } from "#server/http/health.ts";
import { type HttpServer, startHttpServer } from "#server/http/http-server.ts";
import { type Installation, openInstallation } from "../support/in-process.ts";

// Keeps the log out of the test output.
vi.spyOn(process.stdout, "write").mockReturnValue(true);

const METRICS_KEY = "the-key-of-the-metrics";
let installation: Installation;
let server: HttpServer;

beforeEach(async () => {
  installation = await openInstallation();
  const { adapters, ports, sockets } = installation;
  const environment = { RUNYARD_METRICS_KEY: METRICS_KEY };
  server = await startHttpServer({ host: "127.0.0.1", port: 0, ports, adapters, sockets, environment });
});
afterEach(async () => {
  await installation.sockets.end();
  await server.close();
  await installation.close();
});

async function get(at: string, headers: IncomingHttpHeaders = {}) {
  const sent = request({ port: server.port, host: "127.0.0.1", path: at, headers }).end();
  const response = await new Promise<import("node:http").IncomingMessage>((resolve) => sent.once("response", resolve));
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

describe("the health of a server", () => {
  it("is reported without a key, and is never cached", async () => {
    const { status, headers, body } = await get("/healthz");
    expect([status, headers["cache-control"], JSON.parse(body)]).toEqual([200, "no-store", { status: "ok" }]);
    const ready = await get("/readyz");
    expect([ready.status, JSON.parse(ready.body)]).toEqual([
      200,
      { status: "ready", checks: { table: "ok", files: "ok", queue: "ok", disk: "ok" } },
    ]);
  });

  it("is 503 with the part that cannot work, without details of the machine", async () => {
    rmSync(path.join(installation.directory, "files"), { recursive: true });
    const { status, body } = await get("/readyz");
    expect([status, JSON.parse(body)]).toEqual([
      503,
      { status: "unavailable", checks: { table: "ok", files: "failed; see the log", queue: "ok", disk: "ok" } },
    ]);
    expect((await get("/healthz")).status, "the process itself works").toBe(200);
  });
});

describe("the metrics of a server", () => {
  it("have the requests by route, the runs by state, and the queues", async () => {
    const { adapters } = installation;
    const { api_key: key } = await createAdminKey(adapters.database, adapters.table);
    const created = await fetch(`http://127.0.0.1:${server.port}/api/v1/agent/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ prompt: "SECRET-PROMPT", config: { model_id: "local/runbook" } }),
    });
    expect(created.status).toBe(200);
    await created.text();
    await expect
      .poll(async () => (await get("/metrics")).body)
      .toContain('runyard_request_seconds_count{route="POST /agent/runs",status="200"} 1');
    const { headers, body } = await get("/metrics");
    expect(headers["content-type"]).toContain("version=0.0.4");
    expect(body).toContain('runyard_runs{state="QUEUED"} 1');
    expect(body).toMatch(/^runyard_queue_messages\{queue="runs",kind="waiting"\} 1$/m);
    expect(body).toMatch(/^runyard_queue_oldest_seconds\{queue="runs"\} \d/m);
    expect(body).toMatch(/^process_resident_memory_bytes \d/m);
    expect(body).not.toContain("SECRET-PROMPT");
  });

  it.each<[string, IncomingHttpHeaders, number]>([
    ["without a key", {}, 200],
    ["with the key", { host: "127.0.0.1", authorization: `Bearer ${METRICS_KEY}`, "x-forwarded-for": "1.2.3.4" }, 200],
    ["with another key", { authorization: "Bearer wrong" }, 401],
    ["that a proxy passes on", { "x-forwarded-for": "1.2.3.4" }, 401],
  ])("are for requests from this machine, and for the key: one %s", async (_, headers, status) => {
    expect((await get("/metrics", headers)).status).toBe(status);
  });

  it("are closed to requests that name another host, and to other keys where none is set", async () => {
    const allowed: boolean[] = [];
    const asking = createServer((incoming, outgoing) => {
      allowed.push(mayReadMetrics(incoming, undefined));
      outgoing.end();
    });
    await new Promise<void>((resolve) => asking.listen(0, "127.0.0.1", resolve));
    const address = asking.address();
    const at = typeof address === "object" ? address?.port : undefined;
    for (const headers of [{ host: "runyard.example" }, { authorization: "Bearer " }, { host: "localhost:1" }]) {
      const sent = request({ port: at, host: "127.0.0.1", headers }).end();
      await new Promise((resolve) => sent.once("response", (response) => resolve(response.resume())));
    }
    await new Promise((resolve) => asking.close(resolve));
    expect(allowed).toEqual([false, true, true]);
  });
});
