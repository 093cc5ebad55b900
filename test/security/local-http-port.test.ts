import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { KEY_HEADER } from "../../emulator/emulator-access.ts";
import { type HttpProxy, startHttpProxy } from "../../emulator/http-proxy.ts";
import { SCHEDULER_PATH } from "../../emulator/scheduler-endpoint.ts";
import { Timers } from "../../emulator/timers.ts";

describe("the local HTTP port", () => {
  let folder: string;
  let proxy: HttpProxy;
  let upstream: http.Server;
  let timers: Timers;
  let seen: http.IncomingHttpHeaders[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "port-"));
    timers = await Timers.open(path.join(folder, "timers.json"));
    upstream = http.createServer((request, response) => {
      seen.push(request.headers);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
    const address = upstream.address();
    const port = typeof address === "object" ? address?.port : undefined;
    proxy = await startHttpProxy({ port: 0, webDirectory: folder, timers });
    proxy.openTo(`http://127.0.0.1:${port}/_aws/execute-api/abc/$default`, "the-key");
    proxy.serveModels(async () => Response.json({ model: "reached" }));
  });
  beforeEach(() => {
    seen = [];
  });
  afterAll(async () => {
    await proxy.close();
    await timers.end();
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
    await rm(folder, { recursive: true, force: true });
  });

  /** Sends raw bytes, and returns everything received until the connection is closed. */
  async function exchange(...chunks: readonly string[]): Promise<{ status: number; head: string; body: string }> {
    const socket = net.connect(proxy.port, "127.0.0.1");
    socket.on("error", () => undefined);
    for (const chunk of chunks) socket.write(chunk);
    const response = await text(socket);
    const [head = "", body = ""] = response.split("\r\n\r\n", 2);
    return { status: Number(head.split(" ")[1] ?? 0), head: head.toLowerCase(), body };
  }

  const get = (target: string, ...headers: readonly string[]) =>
    exchange([`GET ${target} HTTP/1.1`, ...headers, "connection: close", "", ""].join("\r\n"));

  describe("requests to another host", () => {
    const paths = ["/api/v1/agent/runs", "/api/v1/model/v1/messages", "/", `${SCHEDULER_PATH}/schedules/a`];
    const hosts = ["evil.test", "evil.test:4500", "127.0.0.1.evil.test", "localhost.evil.test", "169.254.169.254", ""];

    test.each(paths.flatMap((target) => hosts.map((host) => [target, host] as const)))(
      "get 421 at %s for the Host %s",
      async (target, host) => {
        const { status, head, body } = await get(target, `host: ${host}`);
        expect(status).toBe(421);
        expect(head).toContain("content-type: application/problem+json");
        expect(JSON.parse(body)).toMatchObject({ status: 421, error_code: "invalid_request", retryable: false });
        expect(body).not.toContain("evil");
        expect(seen).toEqual([]);
      },
    );

    test.each(["localhost:4500", "127.0.0.1", "LOCALHOST:8080", "[::1]:4500"])(
      "are accepted for the Host %s",
      async (host) => {
        expect((await get("/api/v1/agent/runs", `host: ${host}`)).status).toBe(200);
      },
    );
  });

  describe("oversized and malformed requests", () => {
    const long = "a".repeat(100_000);
    const host = "host: localhost";

    test.each(["/api/v1/agent/runs", "/api/v1/model/v1/messages", "/", "/index.html"])(
      "get 414 for a URL of 100,000 characters at %s",
      async (target) => {
        const { status, head, body } = await get(`${target}?q=${long}`, host);
        expect([status, JSON.parse(body).error_code]).toEqual([414, "invalid_request"]);
        expect(head).toContain("content-type: application/problem+json");
        expect(body.length).toBeLessThan(1_000);
      },
    );

    test.each([
      ["one header of 100,000 characters", [`x-long: ${long}`]],
      ["a key of 100,000 characters", [`authorization: Bearer ${long}`]],
      ["a hundred headers of 1,000", Array.from({ length: 100 }, (_, index) => `x-${index}: ${"a".repeat(1_000)}`)],
      ["a name of 100,000 characters", [`${long}: 1`]],
      ["a header of two million characters", [`x-long: ${"a".repeat(2_000_000)}`]],
    ])("get 431 for %s", async (_, headers) => {
      const { status, head, body } = await get("/api/v1/agent/runs", host, ...headers);
      expect(status).toBe(431);
      expect(head).toContain("content-type: application/problem+json");
      expect(JSON.parse(body)).toMatchObject({ status: 431, error_code: "invalid_request", retryable: false });
      expect(seen).toEqual([]);
    });

    test("get 400 for invalid HTTP", async () => {
      const { status, body } = await exchange("HELLO\r\n\r\n");
      expect([status, JSON.parse(body).error_code]).toEqual([400, "invalid_request"]);
    });

    test("do not affect the next request on another connection", async () => {
      expect((await get(`/api/v1/agent/runs?q=${"a".repeat(4_000)}`, host)).status).toBe(200);
    });
  });

  describe("the emulator's key", () => {
    test("is added to forwarded requests, and never accepted from callers", async () => {
      await get("/api/v1/agent/runs", "host: localhost", `${KEY_HEADER}: mine`);
      expect(seen[0]?.[KEY_HEADER]).toBe("the-key");
    });

    test("is not enough to set a timer: the scheduler's address has a random segment", async () => {
      const authorization =
        "AWS4-HMAC-SHA256 Credential=test/20260519/us-east-1/scheduler/aws4_request, SignedHeaders=host, Signature=0";
      const timer = {
        ScheduleExpression: "rate(1 minute)",
        FlexibleTimeWindow: { Mode: "OFF" },
        Target: {
          Arn: "arn:aws:lambda:us-east-1:000000000000:function:runyard-fire-schedule",
          RoleArn: "arn:aws:iam::000000000000:role/timers",
          Input: "{}",
        },
      };
      const init = { method: "POST", headers: { authorization }, body: JSON.stringify(timer) };
      for (const segment of ["", "/x", "/..", "/%2e%2e"]) {
        const url = `http://127.0.0.1:${proxy.port}${SCHEDULER_PATH}${segment}/schedules/planted`;
        expect((await fetch(url, init)).status).toBe(405);
      }
      expect(timers.get("default", "planted")).toBeUndefined();
      expect(new URL(proxy.schedulerUrl).pathname).toMatch(/^\/_aws\/scheduler\/[\w-]{43}$/);
    });
  });
});
