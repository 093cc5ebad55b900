import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { callAt } from "#harness/support/timers.ts";

describe("callAt", () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }));
  afterEach(() => void vi.useRealTimers());

  it("calls at the time, once", () => {
    const call = vi.fn();
    callAt(1_000, call);
    vi.advanceTimersByTime(999);
    expect(call).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    vi.advanceTimersByTime(5_000);
    expect(call).toHaveBeenCalledTimes(1);
  });

  it("does not call before the time when a timer ends early", () => {
    const times: number[] = [];
    callAt(1_000, () => times.push(Date.now()));
    vi.setSystemTime(-1);
    vi.advanceTimersByTime(1_000);
    expect(times).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(times).toEqual([1_000]);
  });

  it("waits longer than the longest timer", () => {
    const call = vi.fn();
    const days = 24 * 3_600_000;
    callAt(60 * days, call);
    vi.advanceTimersByTime(59 * days);
    expect(call).not.toHaveBeenCalled();
    vi.advanceTimersByTime(days);
    expect(call).toHaveBeenCalledTimes(1);
  });

  it("does not call after it is cancelled, and never for a time without end", () => {
    const call = vi.fn();
    callAt(1_000, call)();
    callAt(Number.POSITIVE_INFINITY, call)();
    vi.advanceTimersByTime(10_000);
    expect(call).not.toHaveBeenCalled();
  });
});
