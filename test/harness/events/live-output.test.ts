import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { listEncodings } from "#harness/redaction/encodings.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { createLiveOutput } from "#harness/reporting/live-output.ts";
import { createLiveStream } from "#harness/reporting/live-stream.ts";
import type { LiveFrame } from "#shared/wire/event.ts";

/** A generator of numbers from 0 to 1, the same in each run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** 200 secrets of ten kinds. */
function makeSecrets(): string[] {
  const random = createRandom(7);
  const word = (length: number, letters = LETTERS) =>
    Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join("");
  const kinds = [
    () => `ghp_${word(36)}`,
    () => `sk-ant-api03-${word(60)}`,
    () => `AKIA${word(16)}`,
    () => `${word(40)}+/${word(10)}=`,
    () => `xoxb-${word(12, "0123456789")}-${word(24)}`,
    () => `eyJ${word(30)}.${word(60)}.${word(40)}`,
    () => `postgres://user:${word(20)}%&?@db.example.com/shop`,
    () => `-----BEGIN PRIVATE KEY-----\n${word(64)}\n${word(64)}\n${word(40)}\n-----END PRIVATE KEY-----`,
    () => `pass word "${word(12)}" <${word(6)}> ü${word(4)}`,
    () => word(64, "0123456789abcdef"),
  ];
  return Array.from({ length: 20 }, () => kinds.map((make) => make())).flat();
}

/** The secret as commands print it: plain, in base64, and in a URL. */
const printed = (secret: string): string[] => [
  secret,
  Buffer.from(secret).toString("base64"),
  Buffer.from(`user:${secret}`).toString("base64"),
  encodeURIComponent(secret),
];

/** Expects a text to contain no secret and no encoding of one, ignoring white space. */
function expectNoSecret(text: string, secrets: readonly string[]): void {
  const shown = text.replace(/\s+/g, "");
  for (const secret of secrets) {
    for (const encoding of listEncodings(secret)) {
      const compact = encoding.replace(/\s+/g, "");
      if (compact.length >= 8) expect(shown.includes(compact), `${encoding} is visible`).toBe(false);
    }
  }
}

describe("createLiveStream", () => {
  it("contains none of 200 secrets, wherever frames split them", () => {
    const secrets = makeSecrets();
    const redactor = createRedactor(secrets);
    const random = createRandom(11);
    for (const form of [0, 1, 2, 3]) {
      const stream = createLiveStream(redactor);
      let shown = "";
      const take = () => {
        shown += stream.take()?.text ?? "";
      };
      for (const [index, secret] of secrets.entries()) {
        const bytes = Buffer.from(`before ${index} ${printed(secret)[form]} after ${index}.\n`);
        const cut = Math.floor(random() * bytes.length);
        stream.push(bytes.subarray(0, cut));
        take();
        // A second frame without output shows what a pause may show.
        take();
        stream.push(bytes.subarray(cut));
        if (random() < 0.7) take();
      }
      take();
      take();
      expectNoSecret(shown, secrets);
      for (const index of secrets.keys()) expect(shown).toContain(`after ${index}.\n`);
    }
  });

  it("contains no rest of a secret whose beginning was skipped", () => {
    const secrets = makeSecrets();
    const redactor = createRedactor(secrets);
    const random = createRandom(13);
    for (let round = 0; round < 20; round++) {
      const stream = createLiveStream(redactor);
      stream.push(Buffer.from("first line\n"));
      stream.take();
      const lines = Array.from({ length: 3_000 }, (_, index) => `${printed(secrets[index % 200] ?? "")[round % 4]}\n`);
      const bytes = Buffer.from(lines.join(""));
      const start = Math.floor(random() * 10_000);
      for (let at = start; at < bytes.length; at += 65_536) stream.push(bytes.subarray(at, at + 65_536));
      const piece = stream.take();
      expect(piece?.text.length ?? 0).toBeLessThanOrEqual(16_384);
      expect((piece?.text ?? "").replace(/\*\*\*|\s|[\w+/=-]{0,12}:?/g, "").slice(0, 40)).toBe("");
    }
  });

  it("sends a line whole once output pauses, although its end may begin a secret", () => {
    const stream = createLiveStream(createRedactor(["2\nabcdefgh", "12345678"]));
    stream.push(Buffer.from("line 12\n"));
    const first = stream.take();
    expect(first).toEqual({ offset: 0, text: "line " });
    expect(stream.isHolding()).toBe(true);
    expect(stream.take()).toEqual({ offset: 5, text: "12\n" });
    stream.push(Buffer.from("345678 and more"));
    expect(stream.take()?.text, "the rest of a secret that had begun").toBe(" and more");
  });

  it("keeps the end of large output, and counts what it skips", () => {
    const stream = createLiveStream(createRedactor(["a-secret-of-the-run"]));
    const chunk = Buffer.from(`${"x".repeat(1_023)}\n`);
    for (let count = 0; count < 10_000; count++) stream.push(chunk);
    stream.push(Buffer.from("the end\n"));
    const piece = stream.take();
    expect(piece?.text).toMatch(/the end\n$/);
    expect(Buffer.byteLength(piece?.text ?? "")).toBe(16_384);
    expect((piece?.offset ?? 0) + 16_384).toBe(10_000 * 1_024 + 8);
    expect(stream.repeat()).toEqual(piece);
  });

  it("shows nothing of a secret whose beginning is missing from output that was skipped elsewhere", () => {
    const secret = "a-secret-of-the-run-that-is-long";
    const stream = createLiveStream(createRedactor([secret]));
    stream.push(Buffer.from("first line\n"));
    expect(stream.take()).toEqual({ offset: 0, text: "first line\n" });
    const [dropped, rest] = ["dropped by the gap\n", `${secret.slice(9)}\n${"x".repeat(1_000)}\nthe end\n`];
    stream.push(Buffer.from(dropped));
    stream.skip(1_000);
    stream.push(Buffer.from(rest));
    const piece = stream.take();
    expect(piece?.text).toMatch(/^x+\nthe end\n$/);
    expect((piece?.offset ?? 0) + (piece?.text.length ?? 0)).toBe(11 + dropped.length + 1_000 + rest.length);
  });

  it("counts what it skips of large output after a gap and before it", () => {
    const stream = createLiveStream(createRedactor([]));
    const [before, after] = ["x".repeat(150_000), `${"y".repeat(150_000)}\n`];
    stream.push(Buffer.from(before));
    stream.skip(10);
    stream.push(Buffer.from(after));
    const piece = stream.take();
    expect((piece?.offset ?? 0) + (piece?.text.length ?? 0)).toBe(before.length + 10 + after.length);
  });

  it.each([1, 1_000])("continues %i bytes later after as many were skipped", (missing) => {
    const stream = createLiveStream(createRedactor([]));
    stream.push(Buffer.from("first\n"));
    expect(stream.take()).toEqual({ offset: 0, text: "first\n" });
    stream.skip(missing);
    stream.push(Buffer.from("last\n"));
    expect(stream.take()).toEqual({ offset: 6 + missing, text: "last\n" });
    expect(stream.repeat(), "what came before the gap is not shown again").toEqual({
      offset: 6 + missing,
      text: "last\n",
    });
  });

  it("keeps characters whole that a frame splits", () => {
    const stream = createLiveStream(createRedactor([]));
    const bytes = Buffer.from("äöü\n");
    let shown = "";
    for (const byte of bytes) {
      stream.push(Buffer.from([byte]));
      shown += stream.take()?.text ?? "";
    }
    expect(shown).toBe("äöü\n");
  });
});

function createSender(intervalMs = 20) {
  const requests: { readonly frames: readonly LiveFrame[]; readonly at: number }[] = [];
  const plane = {
    async sendLive(frames: readonly LiveFrame[]) {
      requests.push({ frames, at: performance.now() });
    },
  };
  const live = createLiveOutput({ plane, redactor: createRedactor([]), intervalMs });
  const until = async (isDone: () => boolean) => {
    while (!isDone()) await sleep(2);
  };
  return {
    live,
    requests,
    until,
    text: () => requests.flatMap(({ frames }) => frames.map(({ text }) => text)).join(""),
  };
}

describe("createLiveOutput", () => {
  it("sends nothing without a reader, and the end of earlier output to the first reader", async () => {
    const { live, requests, until, text } = createSender();
    const output = live.open("action-1");
    output.push(Buffer.from("line 1\n"));
    await sleep(60);
    expect(requests).toEqual([]);
    live.setWatched(true);
    await until(() => text() !== "");
    expect(requests[0]?.frames).toEqual([{ action_id: "action-1", stream: "stdout", offset: 0, text: "line 1\n" }]);
    live.setWatched(false);
    output.push(Buffer.from("line 2\n"));
    await sleep(60);
    expect(requests).toHaveLength(1);
    live.setWatched(true);
    await until(() => text().includes("line 2"));
    expect(text()).toBe("line 1\nline 1\nline 2\n");
    live.end();
  });

  it("sends at most one request per interval, however often output comes", async () => {
    const { live, requests, until, text } = createSender(100);
    live.setWatched(true);
    const output = live.open("action-1");
    for (let count = 1; count <= 60; count++) {
      output.push(Buffer.from(`${count}\n`));
      await sleep(5);
    }
    await until(() => text().includes("60\n"));
    expect(text()).toBe(Array.from({ length: 60 }, (_, index) => `${index + 1}\n`).join(""));
    const pauses = requests.slice(1).map(({ at }, index) => at - (requests[index]?.at ?? 0));
    // A timer may fire a little early.
    expect(Math.min(...pauses)).toBeGreaterThan(95);
    live.end();
  });

  it("gives the model's text an id of its own until its message is sent", async () => {
    const { live, requests, until, text } = createSender();
    live.setWatched(true);
    expect(live.endText()).toBeUndefined();
    live.text("I will ");
    live.text("look.");
    await until(() => text() === "I will look.");
    const [frame] = requests[0]?.frames ?? [];
    expect(frame).toMatchObject({ stream: "text", offset: 0 });
    expect(live.endText()).toBe(frame?.message_id);
    live.text("Then");
    await until(() => text().endsWith("Then"));
    expect(requests.at(-1)?.frames[0]?.message_id).not.toBe(frame?.message_id);
    live.end();
  });
});

describe("createLiveOutput with fake timers", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: 1_000_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** An output whose requests take until `response` settles. */
  function start({ secrets = [], response = async () => {} }: Given = {}) {
    const requests: (readonly LiveFrame[])[] = [];
    const calls: string[] = [];
    const plane = {
      async sendLive(frames: readonly LiveFrame[]) {
        requests.push(frames);
        await response();
      },
    };
    const beforeFirst = async () => void calls.push(`before ${requests.length}`);
    const live = createLiveOutput({ plane, redactor: createRedactor(secrets), beforeFirst });
    const sentAfter = async (ms: number) => {
      await vi.advanceTimersByTimeAsync(ms);
      return requests.splice(0).map((frames) => frames.map(({ offset, text }) => [offset, text]));
    };
    return { live, requests, calls, sentAfter };
  }
  interface Given {
    readonly secrets?: readonly string[];
    readonly response?: () => Promise<void>;
  }
  const bytes = (text: string) => Buffer.from(text);

  it("sends 20 ms after the first output, then every 500 ms", async () => {
    const { live, sentAfter } = start();
    live.setWatched(true);
    const output = live.open("1");
    output.push(bytes("a\n"));
    expect([await sentAfter(19), await sentAfter(1)]).toEqual([[], [[[0, "a\n"]]]]);
    output.push(bytes("b\n"));
    output.push(bytes("c\n"));
    expect([await sentAfter(499), await sentAfter(1)]).toEqual([[], [[[2, "b\nc\n"]]]]);
    expect(await sentAfter(2_000)).toEqual([]);
    output.push(bytes("d\n"));
    expect([await sentAfter(19), await sentAfter(1)]).toEqual([[], [[[6, "d\n"]]]]);
    live.end();
  });

  it("sends the last 16 streams in one request", async () => {
    const { live, requests, sentAfter } = start();
    live.setWatched(true);
    for (let id = 1; id <= 17; id++) live.open(`action-${id}`).push(bytes("a\n"));
    await vi.advanceTimersByTimeAsync(20);
    expect(requests).toEqual([
      Array.from({ length: 16 }, (_, index) => ({
        ...{ action_id: `action-${index + 2}`, stream: "stdout", offset: 0, text: "a\n" },
      })),
    ]);
    await sentAfter(0);
    live.end();
  });

  it("waits for a request to end, and goes on after one that fails", async () => {
    let sending = Promise.withResolvers<void>();
    const { live, sentAfter } = start({ response: () => sending.promise });
    live.setWatched(true);
    const output = live.open("1");
    output.push(bytes("a\n"));
    expect(await sentAfter(20)).toHaveLength(1);
    output.push(bytes("b\n"));
    expect(await sentAfter(2_000)).toEqual([]);
    sending.reject(new Error("lost"));
    sending = Promise.withResolvers();
    expect(await sentAfter(20)).toEqual([[[2, "b\n"]]]);
    sending.resolve();
    live.end();
  });

  it("prepares each first output of a stream, and of a reader", async () => {
    const { live, calls, sentAfter } = start();
    live.setWatched(true);
    const output = live.open("1");
    output.push(bytes("a\n"));
    await sentAfter(500);
    output.push(bytes("b\n"));
    live.setWatched(true);
    expect(await sentAfter(500), "the same reader").toEqual([[[2, "b\n"]]]);
    expect(calls.splice(0)).toEqual(["before 0"]);
    live.open("2").push(bytes("c\n"));
    expect(await sentAfter(500)).toEqual([[[0, "c\n"]]]);
    expect(calls.splice(0)).toEqual(["before 0"]);
    live.setWatched(false);
    live.setWatched(true);
    expect(await sentAfter(500), "another reader").toEqual([
      [
        [0, "a\nb\n"],
        [0, "c\n"],
      ],
    ]);
    expect(calls).toEqual(["before 0"]);
    live.end();
  });

  it("sends the held-back end of a line once no output follows", async () => {
    const { live, sentAfter } = start({ secrets: ["2\nabcdefgh"] });
    live.setWatched(true);
    live.open("1").push(bytes("line 12\n"));
    expect([await sentAfter(20), await sentAfter(499), await sentAfter(1)]).toEqual([
      [[[0, "line 1"]]],
      [],
      [[[6, "2\n"]]],
    ]);
    live.open("2").push(bytes("2\n"));
    expect(await sentAfter(520)).toEqual([]);
    expect(await sentAfter(500)).toEqual([[[0, "2\n"]]]);
    expect([await sentAfter(500), vi.getTimerCount()]).toEqual([[], 0]);
    live.end();
  });

  it("sends nothing for an ended stream or text, during a pause, or after its own end", async () => {
    const { live, sentAfter } = start();
    live.setWatched(true);
    const output = live.open("1");
    output.push(bytes("a\n"));
    output.end();
    live.text("b");
    live.endText();
    expect(await sentAfter(1_000)).toEqual([]);
    const next = live.open("2");
    next.push(bytes("c\n"));
    live.setWatched(false);
    expect(await sentAfter(1_000)).toEqual([]);
    live.setWatched(true);
    next.skip(7);
    next.push(bytes("d\n"));
    expect(await sentAfter(1_000)).toEqual([[[9, "d\n"]]]);
    next.push(bytes("e\n"));
    expect(vi.getTimerCount()).toBe(1);
    live.end();
    expect(vi.getTimerCount()).toBe(0);
    next.push(bytes("f\n"));
    expect([await sentAfter(1_000), vi.getTimerCount()]).toEqual([[], 0]);
    const idle = start();
    idle.live.setWatched(true);
    idle.live.end();
    idle.live.open("3").push(bytes("g\n"));
    expect([await idle.sentAfter(1_000), vi.getTimerCount()]).toEqual([[], 0]);
  });

  it("reports to its listeners whether there is a reader, at once and on each change", () => {
    const { live } = start();
    const reported: boolean[] = [];
    const end = live.onWatched((isWatched) => void reported.push(isWatched));
    for (const isWatched of [false, true, true, false]) live.setWatched(isWatched);
    end();
    live.setWatched(true);
    expect(reported).toEqual([false, true, false]);
    live.onWatched((isWatched) => void reported.push(isWatched));
    expect(reported).toEqual([false, true, false, true]);
    live.end();
  });
});

describe("the end of a live stream", () => {
  const bytes = (text: string) => Buffer.from(text);

  it("is the last 64 KiB and four secrets, once there is twice as much", () => {
    const redactor = createRedactor(["a-secret-of-the-run"]);
    const limit = 64 * 1024 + 4 * redactor.longest();
    const hidden = 2 * redactor.longest();
    const take = (text: string) => {
      const stream = createLiveStream(redactor);
      stream.push(bytes(text));
      return stream.take();
    };
    // White space after a gap is hidden until other characters have come.
    const spaces = (count: number) => " ".repeat(count);
    expect(take(spaces(2 * limit))).toEqual({ offset: 2 * limit - 16_384, text: spaces(16_384) });
    expect(take(spaces(2 * limit + 1))).toBeUndefined();
    const long = (left: number) => `${spaces(2 * limit)}${"x".repeat(hidden)}${spaces(left - hidden - 2)}z\n`;
    expect(take(long(limit))).toEqual({ offset: 3 * limit - 16_384, text: `${spaces(16_382)}z\n` });
    expect(take(long(limit + 1))).toEqual({ offset: 3 * limit, text: "\n" });
  });

  it("is held only after a line that something may follow", () => {
    const stream = createLiveStream(createRedactor([]));
    expect([stream.isHolding(), stream.take(), stream.repeat()]).toEqual([false, undefined, undefined]);
    stream.push(bytes("a\n"));
    expect(stream.isHolding()).toBe(false);
    stream.take();
    expect([stream.isHolding(), stream.take(), stream.isHolding()]).toEqual([true, undefined, false]);
    stream.push(bytes("b"));
    stream.take();
    expect(stream.isHolding()).toBe(false);
    expect(stream.repeat()).toEqual({ offset: 0, text: "a\nb" });
  });

  it("hides as many characters after a gap as two secrets have, without white space", () => {
    const redactor = createRedactor(["a-secret-of-the-run"]);
    const hidden = 2 * redactor.longest();
    const shown = (text: string) => {
      const stream = createLiveStream(redactor);
      stream.skip(100);
      stream.push(bytes(text));
      return stream.take();
    };
    expect(shown(`${"x ".repeat(hidden)}the end\n`)).toEqual({ offset: 100 + 2 * hidden - 1, text: " the end\n" });
    expect(shown(`${"x".repeat(hidden)}`)).toBeUndefined();
    const stream = createLiveStream(redactor);
    stream.skip(100);
    stream.push(bytes("x\n"));
    expect([stream.take(), stream.take()]).toEqual([undefined, undefined]);
    stream.push(bytes(`${"x".repeat(hidden - 1)}the end\n`));
    expect(stream.take()).toEqual({ offset: 102 + hidden - 1, text: "the end\n" });
  });
});
