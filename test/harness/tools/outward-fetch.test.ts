import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import { getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOutwardFetch, MESSAGE_BYTES } from "#harness/tools/remote/outward-fetch.ts";

interface SeenRequest {
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let server: Server;
let port = 0;
let requests: SeenRequest[] = [];
let respond: (response: ServerResponse) => unknown;
beforeEach(async () => {
  requests = [];
  respond = (response) => response.end("Hello.");
  server = createServer(async (request, response) => {
    requests.push({ method: request.method, headers: request.headers, body: await text(request) });
    respond(response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  port = typeof address === "object" ? (address?.port ?? 0) : 0;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const fetchOutward = createOutwardFetch({ loopback: true, privateNetworks: false });
const call = (init?: RequestInit) => fetchOutward(new URL(`http://127.0.0.1:${port}/a`), init);

describe("createOutwardFetch", () => {
  it("sends the method, the headers and the body of a request", async () => {
    expect(await (await call()).text()).toBe("Hello.");
    await call({ method: "POST", headers: [["x-a", "1"]], body: "ä" });
    await call({ method: "DELETE", headers: new Headers({ "x-a": "2" }), signal: null });
    expect(
      requests.map(({ method, headers, body }) => [method, headers["x-a"], headers["content-length"], body]),
    ).toEqual([
      ["GET", undefined, undefined, ""],
      ["POST", "1", "2", "ä"],
      ["DELETE", "2", undefined, ""],
    ]);
  });

  it("has the status, all headers and the body of a response", async () => {
    respond = (response) =>
      response.writeHead(418, "Teapot", { "set-cookie": ["a=1", "b=2"], "x-a": "1" }).end("x".repeat(200_000));
    const response = await call();
    expect([response.status, response.statusText, response.headers.get("x-a")]).toEqual([418, "Teapot", "1"]);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect((await response.text()).length).toBe(200_000);
  });

  it.each([204, 205, 304])("has no body for status %i", async (status) => {
    respond = (response) => response.writeHead(status).end();
    const response = await call();
    expect([response.status, response.body]).toEqual([status, null]);
  });

  it.each(["101 Switching Protocols", "600 Beyond", "999 Denied", "200 a\x01b"])(
    "rejects the response %j, and stays alive",
    async (line) => {
      respond = (response) => response.socket?.end(`HTTP/1.1 ${line}\r\ncontent-length: 0\r\n\r\n`);
      await expect(call()).rejects.toThrow();
      respond = (response) => response.end("Hello.");
      expect(await (await call()).text()).toBe("Hello.");
    },
  );

  it("rejects a body of more than 10 MiB", async () => {
    respond = (response) => response.end("x".repeat(MESSAGE_BYTES));
    expect((await (await call()).text()).length).toBe(MESSAGE_BYTES);
    respond = (response) => response.end("x".repeat(MESSAGE_BYTES + 1));
    await expect(call().then((response) => response.text())).rejects.toThrow(
      `the response has more than ${MESSAGE_BYTES} bytes`,
    );
  });

  it.each([
    ["LF", "\n"],
    ["CR LF", "\r\n"],
    ["CR", "\r"],
  ])("passes on any number of events, of at most 10 MiB each, with lines that end with %s", async (_, end) => {
    const event = `data: ${"x".repeat(100_000)}${end}data: y${end}${end}`;
    const header = { "content-type": "text/event-stream; charset=utf-8" };
    respond = (response) => response.writeHead(200, header).end(event.repeat(150));
    expect((await (await call()).text()).length).toBe(event.length * 150);
    respond = (response) => response.writeHead(200, header).end(`data: xy${end}`.repeat(MESSAGE_BYTES / 8));
    await expect(call().then((response) => response.text())).rejects.toThrow(
      `the event has more than ${MESSAGE_BYTES} bytes`,
    );
  });

  it("passes on a body while it arrives, and its end by either side", async () => {
    const closed = Promise.withResolvers<void>();
    respond = (response) => {
      response.on("close", () => closed.resolve());
      response.write("first");
    };
    const reader = (await call()).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("first");
    await reader?.cancel();
    await closed.promise;
    respond = (response) => response.write("first", () => response.destroy());
    await expect((await call()).text()).rejects.toThrow();
  });

  it("fails with its connection, and ends with its signal", async () => {
    respond = (response) => response.destroy();
    await expect(call()).rejects.toThrow("socket hang up");
    const stop = new AbortController();
    respond = () => stop.abort();
    await expect(call({ signal: stop.signal })).rejects.toThrow(/abort/i);
  });

  it("calls the first address of a name if the connection tries only one", async () => {
    const isDefault = getDefaultAutoSelectFamily();
    setDefaultAutoSelectFamily(false);
    try {
      expect((await fetchOutward(`http://localhost:${port}/`)).status).toBe(200);
      expect(requests[0]?.headers.host).toBe(`localhost:${port}`);
    } finally {
      setDefaultAutoSelectFamily(isDefault);
    }
  });

  it("calls names and addresses that are allowed, and no others", async () => {
    const none = createOutwardFetch({ loopback: false, privateNetworks: true });
    for (const host of ["localhost", "127.0.0.1"]) {
      expect((await fetchOutward(`http://${host}:${port}/`)).status).toBe(200);
      await expect(none(`http://${host}:${port}/`)).rejects.toThrow(`${host} is an address that runs may not call`);
    }
    await expect(none(`http://[::1]:${port}/`)).rejects.toThrow(/^::1 is an address that runs may not call/);
    await expect(fetchOutward(`https://127.0.0.1:${port}/`)).rejects.toThrow(/ssl|tls|wrong version|packet/i);
    expect(requests).toHaveLength(2);
  });
});
