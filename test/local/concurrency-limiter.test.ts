import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ConcurrencyLimiter } from "../../emulator/concurrency-limiter.ts";

describe("the concurrency limiter", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function entered(limiter: ConcurrencyLimiter, ...kinds: readonly string[]) {
    const begun: string[] = [];
    const refused: string[] = [];
    const leave: (() => void)[] = [];
    for (const [index, kind] of kinds.entries()) {
      const work = (done: () => void) => {
        begun.push(`${kind}${index}`);
        leave[index] = done;
      };
      limiter.enter(kind, work, () => refused.push(`${kind}${index}`));
    }
    return { begun, refused, leave };
  }

  test("admits its limit of requests of a kind, and the others in order as requests end", () => {
    const { begun, leave } = entered(new ConcurrencyLimiter(2), "a", "a", "a", "a", "b");
    expect(begun).toEqual(["a0", "a1", "b4"]);
    leave[1]?.();
    expect(begun).toEqual(["a0", "a1", "b4", "a2"]);
    leave[0]?.();
    leave[2]?.();
    expect(begun).toEqual(["a0", "a1", "b4", "a2", "a3"]);
  });

  test("counts a request that ends twice once", () => {
    const { begun, leave } = entered(new ConcurrencyLimiter(1), "a", "a", "a");
    leave[0]?.();
    leave[0]?.();
    expect(begun).toEqual(["a0", "a1"]);
  });

  test("admits one more every two seconds, after five, if a request never ends", () => {
    const { begun, leave } = entered(new ConcurrencyLimiter(1), "a", "a", "a");
    vi.advanceTimersByTime(5_000);
    expect(begun).toEqual(["a0", "a1"]);
    vi.advanceTimersByTime(2_000);
    expect(begun).toEqual(["a0", "a1", "a2"]);
    for (const done of leave) done();
    const later = new ConcurrencyLimiter(1);
    expect(entered(later, "a").begun).toEqual(["a0"]);
  });

  test("admits nothing more while requests end, until none has ended for two seconds", () => {
    const { begun, leave } = entered(new ConcurrencyLimiter(1), ...Array.from({ length: 6 }, () => "a"));
    for (const first of [0, 1, 2]) {
      vi.advanceTimersByTime(1_900);
      leave[first]?.();
    }
    vi.advanceTimersByTime(1_900);
    expect(begun).toEqual(["a0", "a1", "a2", "a3"]);
    vi.advanceTimersByTime(200);
    expect(begun).toEqual(["a0", "a1", "a2", "a3", "a4"]);
  });

  test("returns to its limit once the additional requests have ended", () => {
    const limiter = new ConcurrencyLimiter(1);
    const first = entered(limiter, "a", "a", "a");
    vi.advanceTimersByTime(7_000);
    const second = entered(limiter, "b", "a");
    first.leave[0]?.();
    first.leave[1]?.();
    expect(second.begun).toEqual(["b0"]);
    first.leave[2]?.();
    expect(second.begun).toEqual(["b0", "a1"]);
  });

  test("rejects a request after fifteen seconds, and admits at most four times its limit", () => {
    const { begun, refused } = entered(new ConcurrencyLimiter(1), ...Array.from({ length: 7 }, () => "a"));
    vi.advanceTimersByTime(15_000);
    expect(begun).toEqual(["a0", "a1", "a2", "a3"]);
    expect(refused).toEqual(["a4", "a5", "a6"]);
  });

  test("has a total limit, and serves the kinds in turn", () => {
    const { begun, leave } = entered(new ConcurrencyLimiter(2, 2), "a", "a", "a", "a", "b", "c");
    expect(begun).toEqual(["a0", "a1"]);
    for (const index of [0, 1, 2]) leave[index]?.();
    expect(begun).toEqual(["a0", "a1", "a2", "b4", "c5"]);
  });

  test("rejects no request that has been admitted", () => {
    const { begun, refused, leave } = entered(new ConcurrencyLimiter(1), "a", "a");
    leave[0]?.();
    vi.advanceTimersByTime(60_000);
    expect([begun, refused]).toEqual([["a0", "a1"], []]);
  });
});
