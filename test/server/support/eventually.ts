import { vi } from "vitest";

/** Repeats a check until it passes; the time-out allows for a busy machine. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 120_000, interval: 10 });
