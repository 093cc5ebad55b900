import { once } from "node:events";
import {
  request as createRequest,
  createServer,
  type IncomingMessage,
  type RequestOptions,
  type Server,
  type ServerResponse,
} from "node:http";
import { connect, createServer as createTcpServer, type Socket, type Server as TcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEgress } from "#harness/network/egress.ts";
import { createEgressProxy, type EgressProxy } from "#harness/network/egress-proxy.ts";

let target: Server;
let proxyServer: TcpServer;
let proxy: EgressProxy;
let respond: (request: IncomingMessage, response: ServerResponse) => unknown;
const portOf = (server: Server | TcpServer): number => {
  const address = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
};

async function start(authorization?: string, isOpen = true): Promise<void> {
  const scopes = { loopback: true, privateNetworks: false };
  const egress = createEgress(isOpen ? "open" : "none");
  proxy = createEgressProxy({ egress, scopes, ...(authorization === undefined ? {} : { authorization }) });
  proxyServer = createTcpServer({ allowHalfOpen: true }, (socket) => proxy.accept(socket, { port: portOf(target) }));
  await once(proxyServer.listen(0, "127.0.0.1"), "listening");
}

beforeEach(async () => {
  respond = (_, response) => response.end("Hello.");
  target = createServer((request, response) => void respond(request, response));
  await once(target.listen(0, "127.0.0.1"), "listening");
});
afterEach(() => {
  proxy.close();
  proxyServer.close();
  target.closeAllConnections();
  target.close();
});

async function call(path: string, options: RequestOptions = {}, body?: string) {
  const request = createRequest({ host: "127.0.0.1", port: portOf(proxyServer), path, agent: false, ...options });
  request.end(body);
  const [response] = await once(request, "response");
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}
const url = (path = "/") => `http://127.0.0.1:${portOf(target)}${path}`;

/** Sends text on a connection of its own and returns what comes until it matches, or the other side ends the connection. */
async function exchange(sent: string, awaited = /$^/): Promise<string> {
  const socket = connect(portOf(proxyServer), "127.0.0.1");
  socket.write(sent);
  let received = "";
  for await (const chunk of socket) {
    received += chunk;
    if (awaited.test(received)) break;
  }
  return received;
}

describe("createEgressProxy", () => {
  it("passes on the method, the headers but those of the connection, and the body of a request", async () => {
    await start();
    const seen: unknown[] = [];
    respond = async (request, response) => {
      const { method, url: path, headers } = request;
      seen.push([method, path, headers["x-a"], headers["x-own"], headers["proxy-connection"], headers.host]);
      response
        .setHeader("set-cookie", ["a=1", "b=2"])
        .writeHead(418, "Teapot")
        .end(await text(request));
    };
    const headers = { "x-a": ["1", "2"], "x-own": "x", connection: "x-own", "proxy-connection": "keep-alive" };
    const response = await call(url("/a?b=c"), { method: "POST", headers }, "ä");
    expect(response).toMatchObject({ status: 418, body: "ä", headers: { "set-cookie": ["a=1", "b=2"] } });
    expect(seen).toEqual([["POST", "/a?b=c", "1, 2", undefined, undefined, `127.0.0.1:${portOf(target)}`]]);
  });

  it.each(["POST", "DELETE"])("passes on the body of a %s without a length", async (method) => {
    await start();
    respond = async (request, response) => response.end(await text(request));
    const headers = { "transfer-encoding": "chunked" };
    expect((await call(url(), { method, headers }, "x".repeat(100_000))).body.length).toBe(100_000);
  });

  it("serves several requests on one connection", async () => {
    await start();
    const one = `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
    expect(await exchange(one + one, /Hello\.[\s\S]*Hello\./)).toMatch(/Hello\.[\s\S]*Hello\./);
  });

  it("passes on the length of a body that the client names as a header of the connection", async () => {
    await start();
    respond = async (request, response) => response.end(`body: ${await text(request)}`);
    const second = "GET /second HTTP/1.1\r\nHost: other.example\r\n\r\n";
    const headers = { connection: "close, Content-Length", "content-length": second.length };
    expect((await call(url(), { headers }, second)).body).toBe(`body: ${second}`);
  });

  it("limits the connections for requests that a client sends at once", async () => {
    await start();
    const requests = 600;
    const held: ServerResponse[] = [];
    respond = (_, response) => {
      if (held.push(response) > 500) for (const one of held) one.end("Hello.");
    };
    const one = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    const received = await exchange(one.repeat(requests));
    expect(received).toMatch(/HTTP\/1\.1 502 [\s\S]*too many connections are open\n/);
    expect(held.length).toBeLessThan(requests);
  });

  it("connects CONNECT with whatever the host speaks over TLS or HTTP", async () => {
    await start();
    const opened = `CONNECT 127.0.0.1:${portOf(target)} HTTP/1.1\r\n\r\n`;
    const answer = await exchange(`${opened}GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`, /Hello/);
    expect(answer).toMatch(/^HTTP\/1\.1 200 Connection established\r\n\r\nHTTP\/1\.1 200 OK[\s\S]*Hello\.$/);
  });

  it("opens web sockets, and passes on the refusal of one", async () => {
    await start();
    target.on("upgrade", (request, socket: Socket) => {
      if (request.url === "/no") return void socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno");
      socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nfirst ");
      socket.pipe(socket);
    });
    const upgrade = (path: string) =>
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    expect(await exchange(`${upgrade("/")}echo`, /echo/)).toMatch(/^HTTP\/1\.1 101 [\s\S]*\r\n\r\nfirst echo$/);
    expect(await exchange(upgrade("/no"))).toMatch(/^HTTP\/1\.1 404 Not Found[\s\S]*\r\n\r\nno$/);
  });

  it("ignores an upgrade to anything else", async () => {
    await start();
    const headers = { connection: "Upgrade, HTTP2-Settings", upgrade: "h2c", "http2-settings": "" };
    expect(await call(url(), { headers })).toMatchObject({ status: 200, body: "Hello." });
  });

  it.each([
    ["GET https://127.0.0.1/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", /^HTTP\/1\.1 400 [\s\S]*http URLs and CONNECT/],
    ["GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: b.example\r\n\r\n", /^(HTTP\/1\.1 400 [\s\S]*)?$/],
    ["GET http://a_b%00.example/ HTTP/1.1\r\nHost: x\r\n\r\n", /^HTTP\/1\.1 400 /],
    ["CONNECT a,b:443 HTTP/1.1\r\n\r\n", /^HTTP\/1\.1 403 [\s\S]*blocked: an invalid name/],
    ["\0\0\0", /^$/],
    ["\x16\x03\x01\x00\x05\xff\xff\xff\xff\xff", /^$/],
  ])("refuses %j", async (sent, answer) => {
    await start();
    expect(await exchange(sent)).toMatch(answer);
  });

  it("answers a host that may not be called with 403, which names it and the remedy", async () => {
    await start(undefined, false);
    expect(await call("http://other.example/")).toMatchObject({
      status: 403,
      body: expect.stringContaining("blocked: other.example, the environment's network.mode is none"),
    });
    expect(await exchange("CONNECT other.example:443 HTTP/1.1\r\n\r\n")).toMatch(
      /^HTTP\/1\.1 403 [\s\S]*other\.example/,
    );
  });

  it("answers a host that cannot be reached with 502", async () => {
    await start();
    expect((await call("http://127.0.0.1:1/")).status).toBe(502);
    expect((await call("http://name.invalid/")).status).toBe(502);
  });

  it("demands its credential, where it has one, from every client", async () => {
    await start("Basic eDp5");
    const opened = `CONNECT 127.0.0.1:${portOf(target)} HTTP/1.1\r\n`;
    const then = "\r\nGET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    expect(await exchange(opened + then)).toMatch(/^HTTP\/1\.1 407 [\s\S]*proxy-authenticate: Basic/);
    expect((await call(url())).status).toBe(407);
    expect((await call(url(), { headers: { "proxy-authorization": "Basic eDp5" } })).status).toBe(200);
  });

  it("ends all connections when it is closed", async () => {
    await start();
    respond = () => {};
    const called = call(url());
    await once(target, "request");
    proxy.close();
    await expect(called).rejects.toThrow();
  });

  it("ends the connection to the host when the client is gone", async () => {
    await start();
    respond = (_, response) => response.write("x");
    const gone = new Promise((resolve) => {
      target.on("request", (request) => request.socket.on("close", resolve));
    });
    const socket = connect(portOf(proxyServer), "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    await once(socket, "data");
    await sleep(1);
    socket.destroy();
    await gone;
  });
});
