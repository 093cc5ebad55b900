import { once } from "node:events";
import { PassThrough, type Writable } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { streamed } from "#shared/http/streamed.ts";
import { httpEvent } from "../../support/control-plane.ts";

afterEach(() => vi.unstubAllGlobals());

/** Creates a stand-in for the streaming API of the Lambda runtime. */
function createLambdaRuntime() {
  const metadata: unknown[] = [];
  vi.stubGlobal("awslambda", {
    streamifyResponse: (handler: unknown) => handler,
    HttpResponseStream: {
      from(stream: Writable, given: unknown) {
        metadata.push(given);
        return stream;
      },
    },
  });
  return metadata;
}

/** Continues until it is stopped. */
async function* endless(onStop: () => void = () => undefined) {
  try {
    for (;;) {
      yield new TextEncoder().encode("more ");
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  } finally {
    onStop();
  }
}

const event = httpEvent({ method: "POST", rawPath: "/x", query: "a=1", body: { hello: 1 }, headers: { "x-b": "2" } });

describe("a streamed function", () => {
  it("passes its request on unchanged, and the response as it grows", async () => {
    const metadata = createLambdaRuntime();
    const seen: unknown[] = [];
    const { promise: second, resolve: goOn } = Promise.withResolvers<void>();
    async function* body() {
      yield new TextEncoder().encode("one ");
      await second;
      yield new TextEncoder().encode("two");
    }
    const definition = streamed(() => async (request) => {
      seen.push(request.method, request.url, request.headers.get("x-b"), await request.json());
      return new Response(ReadableStream.from(body()), { status: 201, headers: { "x-c": "3" } });
    });
    const handler: unknown = definition.lambda(() => undefined);
    if (typeof handler !== "function") throw new TypeError("no handler");
    const out = new PassThrough();
    const done = handler(event, out);
    const [first] = await once(out, "data");
    expect(String(first)).toBe("one ");
    goOn();
    const rest: string[] = [];
    out.on("data", (chunk) => rest.push(String(chunk)));
    await done;
    expect(rest.join("")).toBe("two");
    expect(seen).toEqual(["POST", "https://runyard.test/x?a=1", "2", { hello: 1 }]);
    expect(metadata).toEqual([{ statusCode: 201, headers: { "x-c": "3" } }]);
  });

  it("ends a response without a body after its status and headers", async () => {
    const metadata = createLambdaRuntime();
    const handler: unknown = streamed(() => async () => new Response(null, { status: 204 })).lambda(() => undefined);
    if (typeof handler !== "function") throw new TypeError("no handler");
    const out = new PassThrough();
    const written: string[] = [];
    out.on("data", (chunk) => written.push(String(chunk)));
    await handler(event, out);
    expect([metadata, written.join(""), out.writableFinished]).toEqual([[{ statusCode: 204, headers: {} }], "", true]);
  });

  it("stops generating a response whose caller has disconnected", async () => {
    createLambdaRuntime();
    let stopped = false;
    const body = () =>
      endless(() => {
        stopped = true;
      });
    const definition = streamed(() => async () => new Response(ReadableStream.from(body())));
    const handler: unknown = definition.lambda(() => undefined);
    if (typeof handler !== "function") throw new TypeError("no handler");
    const out = new PassThrough();
    const done = Promise.resolve(handler(event, out));
    await once(out, "data");
    out.destroy(new Error("gone"));
    await expect(done).rejects.toThrow();
    expect(stopped).toBe(true);
  });

  it("continues until the named work is done, although its caller has disconnected", async () => {
    createLambdaRuntime();
    const { promise: work, resolve: finish } = Promise.withResolvers<void>();
    const definition = streamed(() => async (_, waitUntil) => {
      waitUntil(work);
      return new Response(ReadableStream.from(endless()));
    });
    const handler: unknown = definition.lambda(() => undefined);
    if (typeof handler !== "function") throw new TypeError("no handler");
    const out = new PassThrough();
    let isOver = false;
    const done = Promise.resolve(handler(event, out)).finally(() => {
      isOver = true;
    });
    void done.catch(() => undefined);
    await once(out, "data");
    out.destroy(new Error("gone"));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isOver).toBe(false);
    finish();
    await expect(done).rejects.toThrow();
  });

  it("returns the whole response if nothing streams", async () => {
    const definition = streamed(() => async () => Response.json({ ok: true }, { status: 202 }));
    const response = await definition.handle(event, undefined);
    expect(response).toMatchObject({ statusCode: 202, body: '{"ok":true}' });
  });
});
