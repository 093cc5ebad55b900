import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HttpProxy, startHttpProxy } from "../../emulator/http-proxy.ts";

/** A service that handles one request at a time and whose functions time out after three seconds. */
const WORK_MS = 500;
const FUNCTION_MS = 3_000;
const CALLERS = 64;

let folder: string;
let proxy: HttpProxy;
let upstream: http.Server;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "overload-"));
  let free = Promise.resolve();
  upstream = http.createServer((request, response) => {
    request.resume();
    const timer = setTimeout(() => {
      response.writeHead(502).end(`{"errorMessage":"Task timed out after ${FUNCTION_MS / 1000}.00 seconds"}`);
    }, FUNCTION_MS);
    free = free.then(async () => {
      if (response.writableEnded) return;
      await new Promise((resolve) => setTimeout(resolve, WORK_MS));
      clearTimeout(timer);
      if (!response.writableEnded) response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const address = upstream.address();
  proxy = await startHttpProxy({ port: 0, webDirectory: folder });
  proxy.openTo(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`, "the-key");
});
afterAll(async () => {
  await proxy.close();
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

test(`the server responds to ${CALLERS} concurrent callers with 200 or with 503 and Retry-After within 30 seconds, never with 500`, async () => {
  const id = "0193a4b0-0000-7000-8000-000000000001";
  const targets = [`/agent/runs/${id}`, `/agent/runs/${id}/events`, "/agent/runs", `/agent/runs/${id}/events?wait=5`];
  const began = performance.now();
  const responses = await Promise.all(
    Array.from({ length: CALLERS }, async (_, index) => {
      const response = await fetch(`http://127.0.0.1:${proxy.port}/api/v1${targets[index % targets.length]}`);
      return { status: response.status, headers: response.headers, body: await response.json() };
    }),
  );
  expect(performance.now() - began).toBeLessThan(30_000);
  const statuses = responses.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  for (const { headers, body } of responses.filter(({ status }) => status === 503)) {
    expect(headers.get("content-type")).toBe("application/problem+json");
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(headers.get("x-should-retry")).toBe("true");
    expect(body).toMatchObject({ status: 503, error_code: "resource_unavailable", retryable: true });
  }
});
