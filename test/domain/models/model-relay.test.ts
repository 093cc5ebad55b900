import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { messages } from "#shared/model-gateway/messages-dialect.ts";
import { relay } from "#shared/model-gateway/relay.ts";

// A stream that does not end fails the test early.
vi.setConfig({ testTimeout: 20_000 });

const encoder = new TextEncoder();
const STOP = 'data: {"type":"message_stop"}\n\n';
const MEBIBYTE = 1024 * 1024;

/** Relays a provider's stream, whose pieces the test sends. */
function startRelay({ silenceMs, settle }: { silenceMs?: number; settle?: () => Promise<void> } = {}) {
  const done: string[] = [];
  const { promise: opened, resolve: open } = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const upstream = new ReadableStream<Uint8Array>({
    start: (controller) => open(controller),
    cancel: () => void done.push("hung up"),
  });
  const givenUp = new AbortController();
  const relayed = relay(upstream, {
    dialect: messages,
    provider: "anthropic",
    meter: messages.meter({ model: "m" }),
    givenUp: givenUp.signal,
    settle: async () => {
      done.push("settled");
      await settle?.();
    },
    silenceMs,
  });
  const send = async (text: string) => (await opened).enqueue(encoder.encode(text));
  const close = async () => (await opened).close();
  const fail = async (error: unknown) => (await opened).error(error);
  return { ...relayed, done, giveUp: () => givenUp.abort(), send, close, fail };
}

const REMEDY = "The provider has a problem. Continue the run later, or choose another model.";
const brokenBy = (why: string) =>
  `${messages.errorEvent(`anthropic returned 200 and did not finish its response: ${why}. ${REMEDY}`)}\n\n`;

describe("relay", () => {
  it("passes whole events on, and ends after the call is settled", async () => {
    const { promise: written, resolve: write } = Promise.withResolvers<void>();
    const { stream, settled, done, send, close } = startRelay({ settle: () => written });
    const text = new Response(stream).text().then((read) => {
      done.push("read");
      return read;
    });
    await send(': ping\r\n\r\ndata: {"type":"content');
    await send(`_block_stop"}\n\n${STOP}`);
    await close();
    await wait(20);
    expect(done).toEqual(["settled"]);
    write();
    expect(await text).toBe(`: ping\n\ndata: {"type":"content_block_stop"}\n\n${STOP}`);
    await settled;
    expect(done).toEqual(["settled", "read"]);
  });

  it("withholds events that the caller did not request", async () => {
    const upstream = new Response(`data: 1\n\ndata: 2\n\n${STOP}`).body ?? new ReadableStream();
    const own = messages.meter({ model: "m" });
    const { stream } = relay(upstream, {
      dialect: messages,
      provider: "anthropic",
      meter: { ...own, see: (data) => own.see(data) && data !== "1" },
      givenUp: new AbortController().signal,
      settle: async () => undefined,
    });
    expect(await new Response(stream).text()).toBe(`data: 2\n\n${STOP}`);
  });

  it("ends a response that broke off, failed or stalled with an error, and settles it", async () => {
    const cut = startRelay();
    await cut.send("data: 1\n\n");
    await cut.close();
    expect(await new Response(cut.stream).text()).toBe(`data: 1\n\n${brokenBy("the response broke off")}`);
    expect(cut.done).toEqual(["settled"]);

    const failed = [startRelay(), startRelay()];
    await failed[0]?.fail(new Error("reset"));
    await failed[1]?.fail("a text");
    const texts = await Promise.all(failed.map(({ stream }) => new Response(stream).text()));
    expect(texts).toEqual([brokenBy("reset"), brokenBy("a text")]);

    const silent = startRelay({ silenceMs: 20 });
    expect(await new Response(silent.stream).text()).toBe(brokenBy("nothing came for 0.02 seconds"));
    expect(silent.done, "stops reading").toEqual(["hung up", "settled"]);
  });

  it("ends the stream for a caller whose call was given up, and reads the response to its end", async () => {
    const { stream, settled, done, giveUp, send, close } = startRelay();
    await send("data: 1\n\n");
    const reader = stream.getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await read()).toBe("data: 1\n\n");
    giveUp();
    expect(await read()).toBe(brokenBy("the call was given up"));
    expect((await reader.read()).done).toBe(true);
    await send(STOP);
    expect(done).toEqual([]);
    await close();
    await settled;
    expect(done).toEqual(["settled"]);
  });

  it("sends nothing but an error for a call that was given up before", async () => {
    const upstream = new Response(STOP).body ?? new ReadableStream();
    const { stream } = relay(upstream, {
      dialect: messages,
      provider: "anthropic",
      meter: messages.meter({ model: "m" }),
      givenUp: AbortSignal.abort(),
      settle: async () => undefined,
    });
    expect(await new Response(stream).text()).toBe(brokenBy("the call was given up"));
  });

  it("reads on for a caller that hung up", async () => {
    const { stream, settled, done, send, close } = startRelay();
    await stream.cancel();
    await send("data: 1\n\n");
    await send(STOP);
    expect(done).toEqual([]);
    await close();
    await settled;
    expect(done).toEqual(["settled"]);
  });

  it("keeps less than 16 MiB for a caller that does not read", async () => {
    const fill = async (bytes: number) => {
      const relayed = startRelay();
      for (let left = bytes - STOP.length; left > 0; left -= MEBIBYTE) {
        await relayed.send(`data: ${"x".repeat(Math.min(left, MEBIBYTE) - 8)}\n\n`);
      }
      await relayed.send(STOP);
      await relayed.close();
      await relayed.settled;
      return new Response(relayed.stream).text();
    };
    expect(await fill(16 * MEBIBYTE - 1)).toHaveLength(16 * MEBIBYTE - 1);
    await expect(fill(16 * MEBIBYTE)).rejects.toThrow("the response is not read");
  });

  it("ends the stream even if the call cannot be settled, and rejects `settled`", async () => {
    const { stream, settled, send, close } = startRelay({ settle: () => Promise.reject(new Error("no table")) });
    await send(STOP);
    await close();
    const outcome = expect(settled).rejects.toThrow("no table");
    expect(await new Response(stream).text()).toBe(STOP);
    await outcome;
  });
});
