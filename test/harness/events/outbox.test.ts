import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ControlPlane } from "#harness/control-plane/control-plane.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { createOutbox } from "#harness/reporting/outbox.ts";
import type { Message } from "#shared/wire/conversation.ts";
import type { ClientEvent } from "#shared/wire/event.ts";

const say = (text: string): Message => ({ role: "assistant", content: [{ type: "text", text }] });

interface FakePlane extends Pick<ControlPlane, "sendEvent" | "sendMessages"> {
  failure: Error | undefined;
}

function recorder() {
  const sent: string[] = [];
  const plane: FakePlane = {
    failure: undefined,
    async sendEvent(event: ClientEvent) {
      await sleep(2);
      if (plane.failure) throw plane.failure;
      sent.push(event.event_name);
    },
    async sendMessages(first: number, messages: readonly Message[]) {
      await sleep(2);
      if (plane.failure) throw plane.failure;
      const texts = messages
        .flatMap((message) => message.content)
        .map((block) => (block.type === "text" ? block.text.slice(0, 10) : ""));
      sent.push(`${first}: ${texts.join(",")}`);
      return first + messages.length;
    },
  };
  const failures: unknown[] = [];
  const options = {
    plane,
    redactor: createRedactor(["a-known-secret"]),
    nextSequence: 5,
    onFailure: (error: unknown) => failures.push(error),
  };
  return { sent, plane, failures, options };
}

describe("outbox", () => {
  it("sends in order, with messages together", async () => {
    const { sent, options } = recorder();
    const outbox = createOutbox(options);
    outbox.event("setup_repo_clone");
    outbox.message(say("a"));
    outbox.message(say("b"));
    outbox.event("agent_started");
    outbox.message(say("c"));
    await outbox.flush();
    expect(sent).toEqual(["setup_repo_clone", "5: a,b", "agent_started", "7: c"]);
  });

  it("holds messages to join others, up to its time limit", async () => {
    const { sent, options } = recorder();
    const outbox = createOutbox({ ...options, holdMs: 40 });
    outbox.message(say("a"));
    await sleep(10);
    outbox.message(say("b"));
    expect(sent).toEqual([]);
    await expect.poll(() => sent, { interval: 5 }).toEqual(["5: a,b"]);
  });

  it("sends a full batch at once, and an oversized one separately", async () => {
    const { sent, options } = recorder();
    const outbox = createOutbox({ ...options, holdMs: 60_000 });
    outbox.message(say("small"));
    outbox.message(say("L".repeat(40_000)));
    outbox.message(say("small too"));
    await expect.poll(() => sent, { interval: 5 }).toEqual(["5: small", "6: LLLLLLLLLL"]);
    await outbox.flush();
    expect(sent.at(-1)).toBe("7: small too");
  });

  it("reports when a message is stored, and redacts it", async () => {
    const { sent, options } = recorder();
    const outbox = createOutbox(options);
    let stored = false;
    outbox.message(say("a-known-secret"), () => {
      stored = true;
    });
    expect(stored).toBe(false);
    await outbox.flush();
    expect(stored).toBe(true);
    expect(sent).toEqual(["5: ***"]);
  });

  it("stops at a failure, reports it once, and fails every flush", async () => {
    const { sent, plane, failures, options } = recorder();
    const outbox = createOutbox(options);
    plane.failure = new Error("gone");
    outbox.message(say("a"));
    await expect(outbox.flush()).rejects.toThrow("gone");
    outbox.message(say("b"));
    await expect(outbox.flush()).rejects.toThrow("gone");
    expect(failures).toEqual([plane.failure]);
    expect(sent).toEqual([]);
  });

  it("returns the unsent messages once, to a request that stores them", async () => {
    const { sent, options } = recorder();
    const outbox = createOutbox({ ...options, holdMs: 60_000 });
    const stored: string[] = [];
    outbox.message({ timestamp: "2030-01-01T00:00:00.000Z", ...say("a") }, () => stored.push("a"));
    outbox.message(say("a-known-secret"), () => stored.push("b"));
    const unsent = await outbox.takeUnsent();
    expect(unsent).toMatchObject({
      first_sequence: 5,
      messages: [
        { ...say("a"), timestamp: "2030-01-01T00:00:00.000Z" },
        { ...say("***"), timestamp: expect.any(String) },
      ],
    });
    expect([stored, sent]).toEqual([[], []]);
    unsent?.onStored();
    expect(stored).toEqual(["a", "b"]);
    expect(await outbox.takeUnsent()).toBeUndefined();
    outbox.message(say("c"));
    await outbox.flush();
    expect(sent).toEqual(["7: c"]);
  });

  it("sends everything itself if an event or another batch is among what is not sent yet", async () => {
    const { sent, options } = recorder();
    const outbox = createOutbox({ ...options, holdMs: 60_000 });
    outbox.message(say("a"));
    outbox.event("agent_started");
    expect(await outbox.takeUnsent()).toBeUndefined();
    expect(sent).toEqual(["5: a", "agent_started"]);
    for (let count = 0; count < 101; count++) outbox.message(say("x"));
    expect(await outbox.takeUnsent()).toBeUndefined();
    expect(sent.slice(2).map((line) => [line.slice(0, 4), line.split(",").length])).toEqual([
      ["6: x", 100],
      ["106:", 1],
    ]);
    for (let count = 0; count < 100; count++) outbox.message(say("y"));
    expect((await outbox.takeUnsent())?.messages).toHaveLength(100);
  });

  it("does not return the messages that a request is sending", async () => {
    const { sent, plane, options } = recorder();
    const { sendMessages } = plane;
    const stored = Promise.withResolvers<void>();
    plane.sendMessages = async (first, messages) => {
      await stored.promise;
      return await sendMessages(first, messages);
    };
    const outbox = createOutbox({ ...options, holdMs: 0 });
    outbox.message(say("a"));
    await sleep(10);
    const unsent = outbox.takeUnsent();
    outbox.message(say("b"));
    stored.resolve();
    const { first_sequence, messages } = (await unsent) ?? {};
    expect([first_sequence, messages?.length, sent]).toEqual([6, 1, ["5: a"]]);
  });

  it("throws a failure instead of returning messages", async () => {
    const { plane, options } = recorder();
    const outbox = createOutbox(options);
    plane.failure = new Error("gone");
    outbox.event("agent_started");
    await expect(outbox.takeUnsent()).rejects.toThrow("gone");
  });

  it("sends messages of 32 KiB together, and more in another batch", async () => {
    const { sent, options } = recorder();
    const outbox = createOutbox({ ...options, holdMs: 60_000 });
    const timed = (text: string): Message => ({ timestamp: "2030-01-01T00:00:00.000Z", ...say(text) });
    const own = Buffer.byteLength(JSON.stringify(timed("")));
    const half = 16 * 1_024 - own;
    outbox.message(timed("a".repeat(half)));
    outbox.message(timed("b".repeat(half)));
    await outbox.flush();
    outbox.message(timed("c".repeat(half)));
    outbox.message(timed("d".repeat(half + 1)));
    await outbox.flush();
    expect(sent).toEqual(["5: aaaaaaaaaa,bbbbbbbbbb", "7: cccccccccc", "8: dddddddddd"]);
  });

  it("redacts and truncates the texts of events, and gives each its own id", async () => {
    const events: ClientEvent[] = [];
    const { options } = recorder();
    const plane = { ...options.plane, sendEvent: async (event: ClientEvent) => void events.push(event) };
    const outbox = createOutbox({ ...options, plane });
    const long = `a-known-secret ${"x".repeat(5_000)}`;
    outbox.event("model_retry", { attempt: 1, detail: long, reason: long });
    outbox.event("model_retry", { attempt: 2 });
    outbox.event("agent_started");
    await outbox.flush();
    const [first, second, third] = events;
    expect(first?.payload).toEqual({
      attempt: 1,
      detail: `*** ${"x".repeat(3_996)}`,
      reason: `*** ${"x".repeat(996)}`,
    });
    expect([second?.payload, third]).toEqual([
      { attempt: 2 },
      { event_uuid: expect.any(String), event_name: "agent_started", timestamp: expect.any(String) },
    ]);
    expect(new Set(events.map(({ event_uuid }) => event_uuid)).size).toBe(3);
  });
});

describe("outbox with fake timers", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.UTC(2030, 0, 1) });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** An outbox whose requests end at once. */
  function start() {
    const sent: unknown[] = [];
    const failures: unknown[] = [];
    const outbox = createOutbox({
      plane: {
        sendEvent: async ({ event_name, timestamp }) => void sent.push([event_name, timestamp]),
        async sendMessages(first, messages) {
          sent.push([first, messages]);
          return first + messages.length;
        },
      },
      redactor: createRedactor([]),
      nextSequence: 1,
      onFailure: (error) => void failures.push(error),
    });
    const sentAfter = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      return sent.splice(0);
    };
    return { outbox, sent, failures, sentAfter };
  }
  const at = (seconds: number) => `2030-01-01T00:00:0${seconds}.000Z`;

  it("holds messages for a second, with the time of each", async () => {
    const { outbox, sentAfter } = start();
    await outbox.flush();
    outbox.message(say("a"));
    expect(await sentAfter(999)).toEqual([]);
    outbox.message({ ...say("b"), timestamp: at(9) });
    expect(await sentAfter(1)).toEqual([
      [
        1,
        [
          { ...say("a"), timestamp: at(0) },
          { ...say("b"), timestamp: at(9) },
        ],
      ],
    ]);
    outbox.message(say("c"));
    expect([await sentAfter(999), await sentAfter(1)]).toEqual([[], [[3, [{ ...say("c"), timestamp: at(1) }]]]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("sends at once what it holds, before an event", async () => {
    const { outbox, sentAfter } = start();
    outbox.message(say("a"));
    expect(await sentAfter(500)).toEqual([]);
    outbox.event("agent_started");
    expect(await sentAfter(0)).toEqual([
      [1, [{ ...say("a"), timestamp: at(0) }]],
      ["agent_started", "2030-01-01T00:00:00.500Z"],
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("no longer holds messages that were taken", async () => {
    const { outbox, sentAfter } = start();
    outbox.message(say("a"));
    expect((await outbox.takeUnsent())?.first_sequence).toBe(1);
    expect([await sentAfter(2_000), vi.getTimerCount()]).toEqual([[], 0]);
    outbox.message(say("b"));
    expect([await sentAfter(999), await sentAfter(1)]).toEqual([[], [[2, [{ ...say("b"), timestamp: at(2) }]]]]);
  });

  it("holds messages again after a flush", async () => {
    const { outbox, sentAfter, failures } = start();
    outbox.message(say("a"));
    await outbox.flush();
    expect(await sentAfter(0)).toHaveLength(1);
    outbox.message(say("b"));
    expect([await sentAfter(999), (await sentAfter(1)).length, failures]).toEqual([[], 1, []]);
  });
});
