import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { liveTailStore } from "#shared/live/live-tail-store.ts";
import { memoryLiveTails } from "#shared/live/memory-live-tails.ts";
import { memorySignals } from "#shared/live/memory-signals.ts";
import { appendFrames, cutBefore, getEnd, streamKey, withoutStreams } from "#shared/live/run-tail.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { LIVE_TAIL_BYTES } from "#shared/wire/event.ts";

const MINUTE = 60_000;
const frame = (offset: number, text: string, action_id = "a") =>
  ({ action_id, stream: "stdout", offset, text }) as const;
const said = (offset: number, text: string) => ({ message_id: "m", stream: "text", offset, text }) as const;
const start = Date.parse("2026-05-18T19:00:00.000Z");

describe("a frame", () => {
  it("ends after the bytes of its text, and belongs to the stream of its action or message", () => {
    expect([getEnd(frame(3, "né")), getEnd(frame(0, ""))]).toEqual([6, 0]);
    const streams = [frame(0, "x"), frame(9, "y"), frame(0, "x", "b"), said(0, "x")].map(streamKey);
    expect(streams[0]).toBe(streams[1]);
    expect(new Set(streams).size).toBe(3);
    expect(new Set([streamKey(said(0, "x")), streamKey({ ...frame(0, "x"), stream: "stderr" })]).size).toBe(2);
    const bare = { stream: "text", offset: 0, text: "x" } as const;
    expect(streamKey({ ...bare, action_id: "i" })).not.toBe(streamKey({ ...bare, message_id: "i" }));
  });

  it("is cut at a position, or at the end of the character there", () => {
    const cut = (position: number) => {
      const rest = cutBefore(frame(10, "aéb"), position);
      return rest && [rest.offset, rest.text];
    };
    expect([9, 10, 11, 12, 13, 14, 15].map(cut)).toEqual([
      [10, "aéb"],
      [10, "aéb"],
      [11, "éb"],
      [13, "b"],
      [13, "b"],
      undefined,
      undefined,
    ]);
    expect(cutBefore(frame(10, "aé"), 12), "within the last character").toBeUndefined();
    expect(cutBefore(said(0, "ab"), 1)).toEqual(said(1, "b"));
  });
});

describe("a tail", () => {
  const tail = (...frames: Parameters<typeof appendFrames>[2]) => appendFrames(undefined, "e", frames);

  it("continues a stream by the bytes that it does not have, and starts again after a gap", () => {
    expect(appendFrames(tail(frame(0, "abc")), "e", [frame(3, "d")]).streams).toEqual([frame(0, "abcd")]);
    expect(appendFrames(tail(frame(0, "abc")), "e", [frame(1, "bcd")]).streams).toEqual([frame(0, "abcd")]);
    expect(appendFrames(tail(frame(0, "abc")), "e", [frame(1, "bc")]).streams).toEqual([frame(0, "abc")]);
    expect(appendFrames(tail(frame(0, "abc")), "e", [frame(4, "e")]).streams).toEqual([frame(4, "e")]);
    expect(appendFrames(tail(frame(0, "abc")), "other", [frame(3, "d")])).toEqual({
      execution_id: "other",
      streams: [frame(3, "d")],
    });
  });

  it("has the stream with the latest output last, and at most eight", () => {
    expect(appendFrames(tail(frame(0, "x"), frame(0, "x", "b")), "e", [frame(1, "y")]).streams).toEqual([
      frame(0, "x", "b"),
      frame(0, "xy"),
    ]);
    const ids = Array.from({ length: 9 }, (_, index) => String(index));
    expect(tail(...ids.map((id) => frame(0, "x", id))).streams.map(({ action_id }) => action_id)).toEqual(ids.slice(1));
  });

  it("keeps the last bytes of each stream", () => {
    const whole = "x".repeat(LIVE_TAIL_BYTES);
    expect(tail(frame(5, whole)).streams).toEqual([frame(5, whole)]);
    expect(tail(frame(5, `y${whole}`)).streams).toEqual([frame(6, whole)]);
    expect(appendFrames(tail(frame(5, whole)), "e", [frame(5 + LIVE_TAIL_BYTES, "z")]).streams).toEqual([
      frame(6, `${whole.slice(1)}z`),
    ]);
  });

  it("drops the streams of completed actions and messages, and is unchanged if it has none", () => {
    const all = tail(frame(0, "x"), frame(0, "x", "b"), said(0, "x"));
    expect(withoutStreams(all, ["b", "m"])).toEqual({ execution_id: "e", streams: [frame(0, "x")] });
    expect(withoutStreams(all, ["other", ""])).toBe(all);
  });
});

describe.each([
  ["in a table", (now: () => number) => liveTailStore(memoryTable(), now)],
  ["in memory", (now: () => number) => memoryLiveTails(now)],
])("live tails %s", (_, create) => {
  let clock: number;
  beforeEach(() => {
    clock = start;
  });
  const texts = async (tails: ReturnType<typeof create>, run = "r") =>
    (await tails.read(run))?.streams.map(({ text }) => text) ?? [];

  it("are kept by run until their streams are complete or the run is cleared", async () => {
    const tails = create(() => clock);
    expect(await tails.read("r")).toBeUndefined();
    await tails.append("r", "e", [frame(0, "one"), frame(0, "two", "b")]);
    await tails.append("other", "e", [frame(0, "three")]);
    await tails.append("r", "e", [frame(3, "!")]);
    expect(await tails.read("r")).toEqual({ execution_id: "e", streams: [frame(0, "two", "b"), frame(0, "one!")] });
    await tails.finish("r", ["b", "none"]);
    expect([await texts(tails), await texts(tails, "other")]).toEqual([["one!"], ["three"]]);
    await tails.finish("unknown", ["a"]);
    expect(await tails.read("unknown")).toBeUndefined();
    await tails.clear("r");
    expect([await tails.read("r"), await texts(tails, "other")]).toEqual([undefined, ["three"]]);
  });

  it("expire 15 minutes after the last output", async () => {
    const tails = create(() => clock);
    await tails.append("r", "e", [frame(0, "one")]);
    clock += 14 * MINUTE;
    await tails.append("r", "e", [frame(3, "two")]);
    clock += 15 * MINUTE - 1;
    expect(await texts(tails)).toEqual(["onetwo"]);
    clock += 1;
    expect(await texts(tails)).toEqual([]);
    await tails.append("r", "e", [frame(6, "three")]);
    expect(await texts(tails)).toEqual(["three"]);
  });
});

describe("live tails in a table", () => {
  it("are one item of a run with a version and the second of their expiry", async () => {
    const table = memoryTable();
    const tails = liveTailStore(table, () => start + 1);
    for (const text of ["one", "two"]) await tails.append("r", "e", [frame(text === "one" ? 0 : 3, text)]);
    await tails.finish("r", ["other"]);
    expect(await table.get(keys.liveTail("r"))).toEqual({
      ...keys.liveTail("r"),
      version: 2,
      execution_id: "e",
      streams: [frame(0, "onetwo")],
      expires_at: start / 1000 + 15 * 60 + 1,
    });
  });

  it.each([
    [3, ["both", "mine"]],
    [4, ["both"]],
  ])("are updated after %i concurrent changes, in at most four attempts", async (others, expected) => {
    const table = memoryTable();
    const rival = liveTailStore(table, () => start);
    let left = others;
    const write: typeof table.write = async (one) => {
      if (left-- > 0) await rival.append("r", "e", [frame(0, "both", "b")]);
      await table.write(one);
    };
    await liveTailStore({ ...table, write }, () => start).append("r", "e", [frame(0, "mine")]);
    const read = await rival.read("r");
    expect(read?.streams.map(({ text }) => text)).toEqual(expected);
  });

  it("fail with the error of the table", async () => {
    const table = { ...memoryTable(), write: () => Promise.reject(new Error("no table")) };
    const append = liveTailStore(table, () => start).append("r", "e", [frame(0, "x")]);
    await expect(append).rejects.toThrow("no table");
  });
});

describe("live tails in memory", () => {
  it("are kept for at most 256 runs, those with the latest output", async () => {
    const tails = memoryLiveTails(() => start);
    for (const run of ["r0", "r1"]) await tails.append(run, "e", [frame(0, "x")]);
    await tails.append("r0", "e", [frame(1, "y")]);
    for (let index = 2; index < 256; index++) await tails.append(`r${index}`, "e", [frame(0, "x")]);
    expect(await tails.read("r1")).toBeDefined();
    await tails.append("new", "e", [frame(0, "x")]);
    const kept = await Promise.all(["r0", "r1", "r2", "new"].map((run) => tails.read(run)));
    expect(kept.map((tail) => tail !== undefined)).toEqual([true, false, true, true]);
  });

  it("report which run has new output", async () => {
    const changed: string[] = [];
    const tails = memoryLiveTails(
      () => start,
      (run) => void changed.push(run),
    );
    await tails.append("r", "e", [frame(0, "x")]);
    await tails.finish("r", ["a"]);
    expect(changed).toEqual(["r"]);
  });
});

describe("signals in memory", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const track = (promise: Promise<void>) => {
    const state = { woken: false };
    void promise.then(() => {
      state.woken = true;
    });
    return state;
  };
  const settle = () => vi.advanceTimersByTimeAsync(0);

  it("wake each reader of the run at a change, and no other", async () => {
    const signals = memorySignals();
    const readers = ["r", "r", "other"].map((run) => signals.subscribe(run));
    const waiting = readers.map((reader) => track(reader.next(1_000)));
    await settle();
    expect(waiting.map(({ woken }) => woken)).toEqual([false, false, false]);
    signals.notify("r");
    signals.notify("unknown");
    await settle();
    expect(waiting.map(({ woken }) => woken)).toEqual([true, true, false]);
    expect(vi.getTimerCount(), "of the one that still waits").toBe(1);
    await vi.advanceTimersByTimeAsync(999);
    expect(waiting[2]).toEqual({ woken: false });
    await vi.advanceTimersByTimeAsync(1);
    expect(waiting[2]).toEqual({ woken: true });
  });

  it("wake a reader at once for a change since its last call, and once for it", async () => {
    const signals = memorySignals();
    const reader = signals.subscribe("r");
    signals.notify("r");
    await reader.next(1_000);
    const second = track(reader.next(1_000));
    await settle();
    expect(second.woken).toBe(false);
    signals.notify("r");
    await settle();
    expect(second.woken).toBe(true);
    await reader.next(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("wake a reader that is closed, and then no more", async () => {
    const signals = memorySignals();
    const [one, other] = [signals.subscribe("r"), signals.subscribe("r")];
    const waiting = track(one.next(1_000));
    one.close();
    await settle();
    expect(waiting.woken).toBe(true);
    one.close();
    const after = track(other.next(1_000));
    signals.notify("r");
    await settle();
    expect(after.woken, "the other one is still subscribed").toBe(true);
    other.close();
    const again = signals.subscribe("r");
    other.close();
    const woken = track(again.next(1_000));
    signals.notify("r");
    await settle();
    expect(woken.woken).toBe(true);
  });
});
