import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ConcurrencyLimiter } from "../../local/concurrency-limiter.ts";

describe("limiter", () => {
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

  test("let so many of a kind through, and the others in their order as they leave", () => {
    const { begun, leave } = entered(new ConcurrencyLimiter(2), "a", "a", "a", "a", "b");
    expect(begun).toEqual(["a0", "a1", "b4"]);
    leave[1]?.();
    expect(begun).toEqual(["a0", "a1", "b4", "a2"]);
    leave[0]?.();
    leave[2]?.();
    expect(begun).toEqual(["a0", "a1", "b4", "a2", "a3"]);
  });

  test("count one that leaves twice once", () => {
    const { begun, leave } = entered(new ConcurrencyLimiter(1), "a", "a", "a");
    leave[0]?.();
    leave[0]?.();
    expect(begun).toEqual(["a0", "a1"]);
  });

  test("let one more through every two seconds, after five, behind one that never leaves", () => {
    const { begun, leave } = entered(new ConcurrencyLimiter(1), "a", "a", "a");
    vi.advanceTimersByTime(5_000);
    expect(begun).toEqual(["a0", "a1"]);
    vi.advanceTimersByTime(2_000);
    expect(begun).toEqual(["a0", "a1", "a2"]);
    for (const done of leave) done();
    const later = new ConcurrencyLimiter(1);
    expect(entered(later, "a").begun).toEqual(["a0"]);
  });

  test("let nobody push past a lane that moves, until it stands still for two seconds", () => {
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

  test("are narrow again once those that were too many have left", () => {
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

  test("refuse after fifteen seconds whoever's turn did not come, and never have more than four times their width", () => {
    const { begun, refused } = entered(new ConcurrencyLimiter(1), ...Array.from({ length: 7 }, () => "a"));
    vi.advanceTimersByTime(15_000);
    expect(begun).toEqual(["a0", "a1", "a2", "a3"]);
    expect(refused).toEqual(["a4", "a5", "a6"]);
  });

  test("have a width in all, and give each kind its turn", () => {
    const { begun, leave } = entered(new ConcurrencyLimiter(2, 2), "a", "a", "a", "a", "b", "c");
    expect(begun).toEqual(["a0", "a1"]);
    for (const index of [0, 1, 2]) leave[index]?.();
    expect(begun).toEqual(["a0", "a1", "a2", "b4", "c5"]);
  });

  test("refuse nobody who has left the queue for work", () => {
    const { begun, refused, leave } = entered(new ConcurrencyLimiter(1), "a", "a");
    leave[0]?.();
    vi.advanceTimersByTime(60_000);
    expect([begun, refused]).toEqual([["a0", "a1"], []]);
  });
});
