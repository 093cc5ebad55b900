import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createAdminKey } from "#server/admin-key.ts";
import type { Endpoint } from "#server/http/endpoints.ts";
import { countRefusals, identifyCaller } from "#server/http/load-shedder.ts";
import { endpointServer } from "#server/http/serve-endpoint.ts";
import type { ServerPorts } from "#server/ports.ts";
import type { HttpResponse } from "#shared/http/problem.ts";
import { type Installation, openInstallation } from "../support/in-process.ts";

// Keeps the log out of the test output.
const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);

const MIB = 1024 * 1024;
let installation: Installation;
let server: Server;
let url: string;
let serve: ReturnType<typeof endpointServer>;
/** Requests that have begun. */
let begun: number;
/** The kinds of callers that the endpoint is for, and the key of one. */
let who: string[];
let authorization: string;
/** The response of the endpoint, and the bodies that it received. */
let respond: () => HttpResponse | Promise<HttpResponse>;
let bodies: string[];
/** The signals that the endpoint received last. */
let signals: ServerPorts["signals"];

const ok = (more: Partial<HttpResponse> = {}): HttpResponse => ({ statusCode: 200, headers: {}, body: "{}", ...more });

beforeEach(async () => {
  [respond, bodies, begun, who] = [ok, [], 0, ["personal"]];
  printed.mockClear();
  installation = await openInstallation();
  const { adapters, ports } = installation;
  authorization = `Bearer ${(await createAdminKey(adapters.database, adapters.table)).api_key}`;
  const endpoint: Endpoint = {
    handle: async ({ body = "" }, ports) => {
      bodies.push(Buffer.from(body, "base64").toString());
      signals = ports.signals;
      return respond();
    },
  };
  setBodyTime();
  server = createServer((incoming, outgoing) => {
    begun++;
    const routeKey = `${incoming.method} ${decodeURI(incoming.url?.split("?")[0] ?? "")}`;
    void serve({ incoming, outgoing, routeKey, pathParameters: {} }, endpoint, { ...ports, who });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server does not listen");
  url = `http://127.0.0.1:${address.port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await installation.close();
});

/** Sets the time in which the body of a request has to arrive. @param milliseconds @default that of the server */
function setBodyTime(milliseconds?: number): void {
  // Stops the timers of the load shedder, which would refuse requests on a busy machine.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  serve = endpointServer(milliseconds);
  vi.useRealTimers();
}

/** Begins a request of which only the beginning of the body arrives. Resolves with the response when the connection is closed. */
const stall = (at: string, credential = "", body = "x") => {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.write(
    `POST ${at} HTTP/1.1\r\nhost: x\r\nauthorization: ${credential}\r\ncontent-length: ${10 * MIB}\r\n\r\n${body}`,
  );
  return text(socket);
};

/** Sends a body without its length, in pieces. */
const sendPieces = (pieces: readonly Buffer[]) =>
  new Promise<number | undefined>((resolve, reject) => {
    const outgoing = request(`${url}/runs`, { method: "POST", headers: { authorization } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    outgoing.on("error", reject);
    for (const piece of pieces) outgoing.write(piece);
    outgoing.end();
  });

/** Responses that wait until the test completes them. */
function holdResponses() {
  const held: (() => void)[] = [];
  respond = () => new Promise((resolve) => held.push(() => resolve(ok())));
  return held;
}

// The first one, because refusals of the others are logged ten seconds later.
describe("countRefusals", () => {
  afterEach(() => void vi.useRealTimers());

  it("logs every ten seconds how many requests were refused since then", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const count = countRefusals();
    const logged = () => [...printed.mock.calls.join("\n").matchAll(/"refused":(\d+)/g)].map(([, number]) => number);
    for (let refused = 0; refused < 3; refused++) count();
    vi.advanceTimersByTime(9_999);
    expect(logged()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(logged()).toEqual(["3"]);
    vi.advanceTimersByTime(60_000);
    count();
    vi.advanceTimersByTime(10_000);
    expect(logged()).toEqual(["3", "1"]);
  });
});

describe("a request", () => {
  it("of 10 MiB is served, and a larger one is refused with 413 and not handled", async () => {
    const largest = Buffer.alloc(10 * MIB, "x");
    const headers = { authorization };
    expect((await fetch(`${url}/runs`, { method: "POST", headers, body: largest })).status).toBe(200);
    expect(await sendPieces([largest])).toBe(200);
    expect(bodies.map(({ length }) => length)).toEqual([10 * MIB, 10 * MIB]);
    const refused = await fetch(`${url}/runs`, { method: "POST", headers, body: Buffer.alloc(10 * MIB + 1) });
    expect([refused.status, await refused.json()]).toEqual([413, { message: "Request Entity Too Large" }]);
    expect(await sendPieces([largest, Buffer.from("x")])).toBe(413);
    expect(bodies).toHaveLength(2);
  });

  it("gets 408 and frees its place if its body does not arrive in time", async () => {
    setBodyTime(200);
    const stalled = Array.from({ length: 64 }, () => stall("/runs"));
    for (const response of await Promise.all(stalled)) {
      expect(response).toMatch(/^HTTP\/1\.1 408 .*\r\nconnection: close\r\n.*"error_code":"invalid_request"/s);
      expect(response).toContain('"detail":"the body did not arrive within 0.2 seconds"');
    }
    expect([(await fetch(`${url}/runs`)).status, bodies]).toEqual([200, [""]]);
  });

  it("is served while the bodies of others do not arrive, however large they are", async () => {
    const stalled = Array.from({ length: 300 }, (_, index) => stall("/runs", `Bearer ${index}`));
    const more = Array.from({ length: 1_100 }, () => stall("/harness-support/heartbeat"));
    const waiting = Array.from({ length: 520 }, () => stall("/runs?wait=25"));
    await expect.poll(() => begun).toBe(1_920);
    for (const at of ["/runs", "/harness-support/heartbeat", "/runs?wait=25"]) {
      const sent = { method: "POST", headers: { authorization }, body: Buffer.alloc(10 * MIB) };
      expect((await fetch(`${url}${at}`, sent)).status).toBe(200);
    }
    server.closeAllConnections();
    await Promise.allSettled([...stalled, ...more, ...waiting]);
  });

  it("with a body above 64 KiB is refused before the rest arrives, unless its caller has a valid key", async () => {
    const body = "x".repeat(64 * 1024);
    const small = { method: "POST", body };
    expect((await fetch(`${url}/runs`, small)).status).toBe(200);
    const refusals = [stall("/runs", "Bearer wrong", `${body}x`), stall("/runs", "", `${body}x`)];
    await expect.poll(() => begun).toBe(3);
    const large = { method: "POST", body: `${body}x` };
    const refused = await fetch(`${url}/runs`, large);
    expect([refused.status, await refused.json()]).toEqual([
      401,
      expect.objectContaining({ error_code: "authentication_required", instance: "/runs" }),
    ]);
    server.closeAllConnections();
    for (const response of await Promise.all(refusals)) expect(response).toMatch(/^HTTP\/1\.1 401 /);
    who = ["public"];
    const tooLarge = await fetch(`${url}/runs`, large);
    expect([tooLarge.status, await tooLarge.json()]).toEqual([
      413,
      expect.objectContaining({
        detail: "body: has more than 65536 bytes, the limit of requests that need no API key",
      }),
    ]);
    expect((await fetch(`${url}/runs`, small)).status).toBe(200);
    expect(bodies).toEqual([body, body]);
  });

  it("is received whole without an API key where it is an event of a trigger, which is verified by its body", async () => {
    who = ["public"];
    const event = { method: "POST", body: "x".repeat(65_537) };
    expect((await fetch(`${url}/hooks/{triggerUid}`, event)).status).toBe(200);
    expect(bodies).toEqual([event.body]);
  });

  it("gets the status, the headers and the length of its response", async () => {
    respond = () => ok({ statusCode: 201, headers: { "x-one": "1" }, body: "é" });
    const response = await fetch(`${url}/runs`);
    expect([response.status, response.headers.get("x-one"), response.headers.get("content-length")]).toEqual([
      ...[201, "1", "2"],
    ]);
    expect(await response.text()).toBe("é");
    respond = () => ok({ statusCode: 204, body: "" });
    const empty = await fetch(`${url}/runs`);
    expect([empty.status, empty.headers.get("content-length")]).toEqual([204, null]);
  });

  it("gets a long response compressed if it accepts that", async () => {
    const body = JSON.stringify({ runs: Array.from({ length: 400 }, () => "the same") });
    respond = () => ok({ statusCode: 200, headers: { "content-type": "application/json" }, body });
    const plain = await fetch(`${url}/runs`, { headers: { "accept-encoding": "identity" } });
    expect([plain.headers.get("content-encoding"), plain.headers.get("content-length")]).toEqual([
      null,
      String(body.length),
    ]);
    const compressed = await fetch(`${url}/runs`, { headers: { "accept-encoding": "gzip" } });
    expect([compressed.headers.get("content-encoding"), compressed.headers.get("vary")]).toEqual([
      "gzip",
      "accept-encoding",
    ]);
    expect(Number(compressed.headers.get("content-length"))).toBeLessThan(body.length / 5);
    expect(await compressed.text()).toBe(body);
  });

  it("gets a problem if its response exceeds the limit of a Lambda function, or its endpoint fails", async () => {
    respond = () => ok({ body: "x".repeat(6_291_556) });
    expect((await fetch(`${url}/runs`)).status).toBe(200);
    const failures: (() => HttpResponse)[] = [
      () => ok({ body: "x".repeat(6_291_557) }),
      () => {
        throw new Error("no");
      },
    ];
    for (const failure of failures) {
      respond = failure;
      const response = await fetch(`${url}/runs`);
      expect([response.status, await response.json()]).toEqual([
        500,
        expect.objectContaining({
          ...{ error_code: "internal_error", retryable: true, title: "Something went wrong on our side" },
          type: `${installation.ports.baseUrl}/docs/errors/internal-error`,
        }),
      ]);
      expect(response.headers.get("retry-after")).toBe("1");
    }
  });

  it("frees its place for the next one, however it ended", async () => {
    const held = holdResponses();
    const places = Array.from({ length: 64 }, () => fetch(`${url}/runs`));
    await expect.poll(() => held.length).toBe(64);
    const refused = await fetch(`${url}/runs`);
    expect([refused.status, await refused.json()]).toEqual([
      503,
      expect.objectContaining({
        ...{ error_code: "resource_unavailable" },
        type: `${installation.ports.baseUrl}/docs/errors/resource-unavailable`,
      }),
    ]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    // Another caller, and an execution of the same one, have their own places.
    respond = ok;
    const status = async (at: string, credential?: string) =>
      (await fetch(`${url}${at}`, { headers: credential === undefined ? {} : { authorization: credential } })).status;
    expect(await status("/runs", "Bearer b")).toBe(200);
    expect(await status("/harness-support/heartbeat")).toBe(200);
    expect(await status("/agent/runs/1/client-events")).toBe(200);
    for (const end of held) end();
    await Promise.all(places);
    respond = () => {
      throw new Error("no");
    };
    for (let count = 0; count < 65; count++) expect(await status("/runs")).toBe(500);
    respond = ok;
    expect(await status("/runs")).toBe(200);
  });

  it("that waits for events needs no place, but at most 512 wait at the same time", async () => {
    const held = holdResponses();
    const waiting = Array.from({ length: 512 }, () => fetch(`${url}/runs?wait=30`));
    await expect.poll(() => held.length).toBe(512);
    const refused = await fetch(`${url}/runs?a=b&wait=30`);
    expect(refused.status).toBe(503);
    respond = ok;
    expect((await fetch(`${url}/runs`)).status).toBe(200);
    for (const end of held) end();
    await Promise.all(waiting);
    for (let count = 0; count < 3; count++) expect((await fetch(`${url}/runs?wait=30`)).status).toBe(200);
  });
});

describe("the wait of a request", () => {
  /** What each wait ended with: nothing, or an error. */
  const ended: unknown[] = [];
  let waiting = 0;
  beforeEach(() => {
    ended.length = 0;
    waiting = 0;
    respond = async () => {
      const subscription = signals.subscribe("run");
      const wait = subscription.next(60_000);
      waiting++;
      ended.push(await wait.then(() => "signal").catch((error: unknown) => error));
      subscription.close();
      return ok();
    };
  });

  it("ends when its client leaves", async () => {
    const client = new AbortController();
    const left = fetch(`${url}/runs?wait=25`, { signal: client.signal }).catch(() => "left");
    await expect.poll(() => waiting).toBe(1);
    client.abort();
    expect(await left).toBe("left");
    await expect.poll(() => ended, { timeout: 10_000 }).toMatchObject([{ status: 499 }]);
  });

  it("ends with a change of the run while its client is there", async () => {
    const response = fetch(`${url}/runs?wait=25`);
    await expect.poll(() => waiting).toBe(1);
    installation.adapters.signals.notify("run");
    expect((await response).status).toBe(200);
    expect(ended).toEqual(["signal"]);
  });
});

describe("a stream", () => {
  const readAll = text;
  const headers = { accept: "text/event-stream" };
  const streaming = (text: AsyncGenerator<string, void>) => () =>
    ok({ headers: { "content-type": "text/event-stream" }, stream: text });

  it("is sent piece by piece", async () => {
    const first = Promise.withResolvers<void>();
    async function* text() {
      yield "one\n";
      await first.promise;
      yield "two\n";
    }
    respond = streaming(text());
    const response = await fetch(`${url}/runs/1/events`, { headers });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect(await reader?.read()).toEqual({ done: false, value: "one\n" });
    first.resolve();
    expect(await reader?.read()).toEqual({ done: false, value: "two\n" });
    expect((await reader?.read())?.done).toBe(true);
  });

  it("is compressed for clients that accept it, and each piece is sent at once", async () => {
    const read = Promise.withResolvers<void>();
    async function* text() {
      yield "data: one\n".repeat(2000);
      await read.promise;
      yield "data: two\n";
    }
    respond = streaming(text());
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
    request(`${url}/runs/1/events`, { headers: { ...headers, "accept-encoding": "gzip, br" } }, resolve).end();
    const response = await promise;
    expect([response.headers["content-encoding"], response.headers.vary]).toEqual(["gzip", "accept-encoding"]);
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const content = readAll(response.pipe(createGunzip()).on("data", () => read.resolve()));
    expect(await content).toBe(`${"data: one\n".repeat(2000)}data: two\n`);
    expect(bytes).toBeLessThan(1000);
  });

  it("is not compressed for other clients", async () => {
    async function* text() {
      yield "one\n";
    }
    respond = streaming(text());
    const response = await fetch(`${url}/runs/1/events`, { headers: { ...headers, "accept-encoding": "identity" } });
    expect([response.headers.get("content-encoding"), await response.text()]).toEqual([null, "one\n"]);
  });

  it("is opened at most 512 times, and again after another one has ended or failed", async () => {
    const end = Promise.withResolvers<void>();
    async function* open() {
      yield "one\n";
      await end.promise;
    }
    respond = () => streaming(open())();
    const opened = await Promise.all(Array.from({ length: 512 }, () => fetch(`${url}/runs/1/events`, { headers })));
    expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
    const refused = await fetch(`${url}/runs/1/events`, { headers });
    expect([refused.status, Number(refused.headers.get("retry-after"))]).toEqual([503, expect.toSatisfy((s) => s > 0)]);
    end.resolve();
    await Promise.all(opened.map((response) => response.text()));
    async function* failing() {
      yield "one\n";
      throw new Error("no");
    }
    respond = () => streaming(failing())();
    for (let count = 0; count < 2; count++) {
      const broken = await fetch(`${url}/runs/1/events`, { headers });
      await expect(broken.text()).rejects.toThrow();
    }
    expect(printed.mock.calls.join("\n")).toContain("a stream was ended");
    respond = () => streaming(open())();
    expect((await fetch(`${url}/runs/1/events`, { headers })).status).toBe(200);
  });
});

describe("identifyCaller", () => {
  const incoming = (headers: IncomingMessage["headers"], remoteAddress = "192.0.2.1") => {
    const message = { headers, socket: { remoteAddress } };
    return identifyCaller(Object.assign(Object.create(null), message));
  };

  it("distinguishes callers by credential, or otherwise by address, and reveals no credential", () => {
    const callers = [
      incoming({ authorization: "Bearer a" }),
      incoming({ authorization: "Bearer b" }),
      incoming({ cookie: "session=a" }),
      incoming({ cookie: "session=b" }),
      incoming({}),
      incoming({}, "192.0.2.2"),
    ];
    expect(new Set(callers).size).toBe(callers.length);
    expect(incoming({ authorization: "Bearer a", cookie: "x" }, "192.0.2.3")).toBe(callers[0]);
    expect(callers.join()).not.toContain("Bearer");
  });

  it("takes a caller for one, however it writes its credential and whatever else it sends", () => {
    const headers = [
      { authorization: "Bearer a" },
      { authorization: "bearer   a" },
      { authorization: "Bearer a", "x-api-key": "b" },
    ];
    expect(new Set(headers.map((some) => incoming(some))).size).toBe(1);
  });
});
