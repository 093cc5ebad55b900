import { vi } from "vitest";

/** Milliseconds; Vitest waits for one second by default, which a loaded machine may exceed. */
const PATIENCE_MS = 30_000;

/** Repeats a check until it passes. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: PATIENCE_MS });
