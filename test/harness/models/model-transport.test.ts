import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { BrokenResponse } from "#harness/agent/dialects/events.ts";
import { createTransport } from "#harness/agent/transport.ts";

const servers: AsyncDisposable[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server[Symbol.asyncDispose]();
});

interface SeenRequest {
  readonly method: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A gateway that responds like this, and the requests that it received. */
async function startGateway(result: (response: ServerResponse) => void) {
  const requests: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    requests.push({ method: request.method, headers: request.headers, body: await text(request) });
    result(response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  servers.push(server);
  const address = server.address();
  return { requests, url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1/chat/completions` };
}

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const createDelta = (content: string) => event({ choices: [{ delta: { content }, finish_reason: null }] });
const END = event({ choices: [{ delta: {}, finish_reason: "stop" }] });
const { signal } = new AbortController();

describe("createTransport", () => {
  it("sends the body of a request with the run's key, and drops everything that the SDK adds", async () => {
    const { requests, url } = await startGateway((response) => response.end(`${createDelta("Hello.")}${END}`));
    const transport = createTransport({ api: "chat", key: "ryr_key", signal });
    const headers = { authorization: "Bearer of-the-host", "x-api-key": "of-the-host", "user-agent": "sdk" };
    const response = await transport(url, { method: "PUT", headers, body: '{"a":1}' });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(await response.text()).toContain("Hello.");
    await transport(new URL(url), { body: new Uint8Array([1]) });
    await transport(new Request(url));
    expect(requests.map(({ method, body }) => [method, body])).toEqual([
      ["POST", '{"a":1}'],
      ["POST", ""],
      ["POST", ""],
    ]);
    expect(requests[0]?.headers).toMatchObject({
      authorization: "Bearer ryr_key",
      accept: "text/event-stream, application/json",
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
    });
    expect(JSON.stringify(requests)).not.toContain("of-the-host");
  });

  it("passes on the text of a response while it arrives, and none of an error", async () => {
    const pieces: string[] = [];
    const onText = (piece: string) => void pieces.push(piece);
    const { url } = await startGateway((response) => response.end(`${createDelta("He")}${createDelta("llo.")}${END}`));
    await createTransport({ api: "chat", key: "k", signal, onText })(url);
    expect(pieces.join("")).toBe("Hello.");
    const failing = await startGateway((response) => response.writeHead(500).end(createDelta("Hello.")));
    await createTransport({ api: "chat", key: "k", signal, onText })(failing.url);
    expect(pieces.join("")).toBe("Hello.");
  });

  it.each([
    [
      { "retry-after": "7", "x-of-gateway": "1" },
      { "content-type": "application/json", "retry-after": "7" },
    ],
    [{}, { "content-type": "application/json" }],
  ])("passes on an error with the time to wait, of the headers %j", async (headers, expected) => {
    const { url } = await startGateway((response) => response.writeHead(429, headers).end('{"error":"slow"}'));
    const response = await createTransport({ api: "chat", key: "k", signal })(url);
    expect([response.status, await response.text()]).toEqual([429, '{"error":"slow"}']);
    expect(Object.fromEntries(response.headers)).toEqual(expected);
  });

  it("ends with the reason of its signal, and with its own for a response that takes too long", async () => {
    const { url } = await startGateway((response) => response.write(createDelta("Half")));
    const stop = new AbortController();
    const stopped = createTransport({
      api: "chat",
      key: "k",
      signal: stop.signal,
      onText: () => stop.abort(new Error("over")),
    });
    await expect(stopped(url)).rejects.toThrow("over");
    for (const limits of [{ callMs: 30 }, { idleMs: 30 }])
      await expect(createTransport({ api: "chat", key: "k", signal, limits })(url)).rejects.toThrow(
        "the model took too long to respond",
      );
  });

  describe("with a gateway in the process", () => {
    const URL_OF_MODEL = "http://127.0.0.1:1/v1/chat/completions";
    const DONE = '{"choices":[{"message":{"content":"Hello."},"finish_reason":"stop"}]}';

    /** Calls a gateway that responds with this body. */
    function call(body: ReadableStream | string | null, init: ResponseInit = {}, onText?: (text: string) => void) {
      const fetched = vi.fn<typeof fetch>(async () => new Response(body, init));
      vi.stubGlobal("fetch", fetched);
      const transport = createTransport({ api: "chat", key: "k", signal, ...(onText === undefined ? {} : { onText }) });
      return { fetched, response: transport(URL_OF_MODEL, { body: "{}" }) };
    }
    const stream = (chunks: readonly Uint8Array[]) =>
      new ReadableStream({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(chunk);
          controller.close();
        },
      });

    afterEach(() => {
      vi.useRealTimers();
      vi.restoreAllMocks();
      vi.unstubAllGlobals();
    });

    it("follows no redirect, and allows 15 minutes", async () => {
      const timeout = vi.spyOn(AbortSignal, "timeout");
      const { fetched, response } = call(`\n ${DONE}`);
      expect(await (await response).text()).toContain('"content":"Hello."');
      expect(fetched.mock.calls).toEqual([
        [
          URL_OF_MODEL,
          {
            method: "POST",
            headers: expect.any(Object),
            body: "{}",
            redirect: "error",
            signal: expect.any(AbortSignal),
          },
        ],
      ]);
      expect(timeout.mock.calls).toEqual([[15 * 60_000]]);
    });

    it("fails after 4 minutes without data, and not before", async () => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const writer = writable.getWriter();
      const { fetched, response } = call(readable);
      const ended = () => fetched.mock.calls[0]?.[1]?.signal?.aborted;
      for (let minutes = 0; minutes < 12; minutes += 3) {
        await vi.advanceTimersByTimeAsync(3 * 60_000);
        await writer.write(Buffer.from(" "));
        await vi.advanceTimersByTimeAsync(0);
      }
      await vi.advanceTimersByTimeAsync(4 * 60_000 - 1);
      expect(ended()).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(ended()).toBe(true);
      const failed = expect(response).rejects.toThrow("the model took too long to respond");
      await writer.abort(new Error("aborted"));
      await failed;
    });

    it("leaves no timer behind", async () => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      await call(DONE).response;
      await expect(call("{broken").response).rejects.toThrow(new BrokenResponse("the response is not JSON"));
      expect(vi.getTimerCount()).toBe(0);
    });

    it("reads characters that arrive in parts, and none that never arrives", async () => {
      const bytes = Buffer.from(`data: {"choices":[{"delta":{"content":"ä€😀"},"finish_reason":"stop"}]}\n\n`);
      const pieces: string[] = [];
      const parts = Array.from(bytes, (byte) => Uint8Array.of(byte));
      const { response } = call(stream(parts), {}, (text) => void pieces.push(text));
      expect(await (await response).text()).toContain('"content":"ä€😀"');
      expect(pieces).toEqual(["ä€😀"]);
      const cut = call(stream([Buffer.from("ä").subarray(0, 1)]), { status: 500 });
      expect(await (await cut.response).text()).toBe("\u{fffd}");
      expect(await (await call(null, { status: 500 }).response).text()).toBe("");
    });

    it("passes on up to 32 MiB", async () => {
      const most = Array.from({ length: 32 }, () => Buffer.alloc(1024 * 1024, " "));
      const { response } = call(stream(most), { status: 500 });
      expect((await (await response).text()).length).toBe(32 * 1024 * 1024);
      await expect(call(stream([...most, Buffer.from(" ")]), { status: 500 }).response).rejects.toThrow(
        new BrokenResponse("the response has more than 33554432 bytes"),
      );
    });

    it("reports a failed connection with the API's own error", async () => {
      const error = new TypeError("fetch failed");
      vi.stubGlobal("fetch", () => Promise.reject(error));
      await expect(createTransport({ api: "chat", key: "k", signal })(URL_OF_MODEL)).rejects.toBe(error);
    });
  });
});
