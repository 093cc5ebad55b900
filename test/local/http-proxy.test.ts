import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type HttpProxy, startHttpProxy } from "../../emulator/http-proxy.ts";

interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: http.IncomingHttpHeaders;
  body: string;
}

describe("the local proxy", () => {
  let seen: Seen[] = [];
  let result: (response: http.ServerResponse) => void;
  let upstream: http.Server;
  let door: HttpProxy;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "web-"));
    await writeFile(path.join(folder, "secret.txt"), "secret");
    const web = path.join(folder, "web");
    await mkdir(web);
    await writeFile(path.join(web, "index.html"), "<!doctype html><title>Runyard</title>");
    await writeFile(path.join(web, "app.js"), "export {};");
    await symlink(path.join(folder, "secret.txt"), path.join(web, "out.css"));
    upstream = http.createServer(async (request, response) => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers, body: await text(request) });
      result(response);
    });
    await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
    door = await startHttpProxy({ port: 0, webDirectory: web });
    const address = upstream.address();
    if (typeof address !== "object" || address === null) throw new Error("no address");
    door.openTo(`http://127.0.0.1:${address.port}/_aws/execute-api/abc/$default`, "the-key");
  });
  beforeEach(() => {
    seen = [];
    result = (response) => response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  afterAll(async () => {
    await door.close();
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
    await rm(folder, { recursive: true, force: true });
  });

  /** Sends bytes as they are: fetch would tidy up the path and refuse some methods and headers. */
  function raw(head: string, body = ""): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(door.port, "127.0.0.1");
      const length = body === "" ? "" : `content-length: ${Buffer.byteLength(body)}\r\n`;
      socket.write(`${head}\r\nhost: localhost:4500\r\nconnection: close\r\n${length}\r\n${body}`);
      text(socket).then(resolve, reject);
    });
  }
  const get = (where: string, init?: RequestInit) => fetch(`http://127.0.0.1:${door.port}${where}`, init);

  test.each([
    ["/api/v1/agent/runs?q=a%20b+c%2Fd&state=A&state=B&metadata%5Bk%5D=%C3%A9"],
    ["/api/v1/agent/runs/a%2Fb/../c//d"],
    ["/api/v1/agent/runs/%00?x=%zz"],
    ["/api/v1"],
  ])("forwards %s unchanged", async (where) => {
    await raw(`GET ${where} HTTP/1.1`);
    expect(seen[0]?.url).toBe(`/_aws/execute-api/abc/$default${where}`);
  });

  test.each([["GET"], ["POST"], ["PUT"], ["PATCH"], ["DELETE"], ["HEAD"], ["OPTIONS"], ["PROPFIND"]])(
    "forwards %s with its headers",
    async (method) => {
      await raw(`${method} /api/v1/agent/runs HTTP/1.1\r\nauthorization: Bearer k\r\nX-Custom: 1\r\nx-custom: 2`);
      expect(seen[0]).toMatchObject({ method, headers: { authorization: "Bearer k", "x-custom": "1, 2" } });
    },
  );

  test("sets the caller's address itself, and ignores one in the request", async () => {
    const lies = "x-forwarded-proto: https\r\nx-forwarded-host: evil\r\nx-forwarded-port: 1\r\nforwarded: for=9.9.9.9";
    await raw(`GET /api/v1/x HTTP/1.1\r\n${lies}\r\nx-forwarded-for: 9.9.9.9`);
    expect(seen[0]?.headers).toMatchObject({
      "x-forwarded-proto": "http",
      "x-forwarded-host": "localhost:4500",
      "x-forwarded-port": String(door.port),
      "x-forwarded-for": "9.9.9.9, 127.0.0.1",
    });
    expect(seen[0]?.headers["forwarded"]).toBeUndefined();
  });

  test("forwards bodies in both directions byte for byte, and does not follow redirects", async () => {
    result = (response) => response.writeHead(302, { location: "http://elsewhere.test/x" }).end("grüße");
    const reply = await get("/api/v1/x", { method: "POST", body: "größe", redirect: "manual" });
    expect(seen[0]?.body).toBe("größe");
    expect([reply.status, reply.headers.get("location"), await reply.text()]).toEqual([
      302,
      "http://elsewhere.test/x",
      "grüße",
    ]);
  });

  test("streams a response while it is being written", async () => {
    const later = Promise.withResolvers<void>();
    result = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("first");
      void later.promise.then(() => response.end("second"));
    };
    const reader = (await get("/api/v1/stream")).body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe("first");
    later.resolve();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("second");
  });

  test("hides the message of a function that crashed", async () => {
    result = (response) => response.writeHead(502).end('{"message":"Cannot read secret of undefined"}');
    const reply = await get("/api/v1/x?key=1");
    const body = await reply.text();
    expect(reply.status).toBe(500);
    expect(reply.headers.get("content-type")).toBe("application/problem+json");
    expect(JSON.parse(body)).toMatchObject({ status: 500, error_code: "internal_error", instance: "/api/v1/x" });
    expect(body).not.toContain("secret");
  });

  test("returns 503 with Retry-After for a function that timed out", async () => {
    result = (response) => response.writeHead(502).end('{"errorMessage":"Task timed out after 10.00 seconds"}');
    const reply = await get("/api/v1/x");
    expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(await reply.json()).toMatchObject({ error_code: "resource_unavailable", retryable: true });
  });

  test("enforces the size limits of API Gateway and Lambda", async () => {
    const target = `http://127.0.0.1:${door.port}/api/v1/agent/runs`;
    const post = (bytes: number) => fetch(target, { method: "POST", body: "x".repeat(bytes) });
    expect((await post(10 * 1024 * 1024)).status).toBe(200);
    const refused = await post(10 * 1024 * 1024 + 1);
    expect([refused.status, await refused.json()]).toEqual([413, { message: "Request Entity Too Large" }]);
    expect(seen).toHaveLength(1);

    const statusOf = async (bytes: number) => {
      result = (response) => response.writeHead(200, { "content-length": bytes }).end("x".repeat(bytes));
      return (await fetch(target)).status;
    };
    expect(await statusOf(6_291_556)).toBe(200);
    expect(await statusOf(6_291_557)).toBe(500);
  });

  test("forwards the service's own errors unchanged", async () => {
    result = (response) =>
      response.writeHead(500, { "content-type": "application/problem+json" }).end('{"status":500}');
    expect(await (await get("/api/v1/x")).text()).toBe('{"status":500}');
  });

  test("returns 503 with Retry-After when the emulator does not respond", async () => {
    const away = await startHttpProxy({ port: 0, webDirectory: folder });
    try {
      const before = await fetch(`http://127.0.0.1:${away.port}/api/v1/x`);
      expect([before.status, before.headers.get("retry-after"), before.headers.get("x-should-retry")]).toEqual([
        503,
        "1",
        "true",
      ]);
      away.openTo("http://127.0.0.1:1", "the-key");
      const after = await fetch(`http://127.0.0.1:${away.port}/api/v1/x`);
      expect(await after.json()).toMatchObject({
        status: 503,
        error_code: "resource_unavailable",
        detail: "The emulator does not respond",
        retryable: true,
      });
    } finally {
      await away.close();
    }
  });

  test.each([["/"], ["/runs/01a1fc4a-7d98"], ["/index.html"]])(
    "serves the web page at %s, with security headers",
    async (where) => {
      const reply = await get(where);
      expect(await reply.text()).toContain("<title>Runyard");
      expect(reply.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
      expect(seen).toEqual([]);
    },
  );

  test("serves the page's files, and nothing outside its folder", async () => {
    expect((await get("/app.js")).headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect((await get("/missing.js")).status).toBe(404);
    for (const where of [
      "/../secret.txt",
      "/%2e%2e/secret.txt",
      "/..%2fsecret.txt",
      "/out.css",
      "/%00.js",
      "/%zz.js",
    ]) {
      expect(await raw(`GET ${where} HTTP/1.1`)).toContain(" 404 ");
    }
    expect((await get("/", { method: "POST" })).status).toBe(405);
  });
});
