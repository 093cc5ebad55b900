import type { Hash } from "node:crypto";
import { readFileSync } from "node:fs";

// Loading node:crypto takes 5 ms of processor time, and most executions need no more of it than a few identifiers.

/** As `createHash` of node:crypto, which it loads. */
export const createHash = (algorithm: "sha256"): Hash => process.getBuiltinModule("node:crypto").createHash(algorithm);

/** A random UUID, which Linux creates. */
export function randomUUID(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/uuid", "latin1").trim();
  } catch {
    return process.getBuiltinModule("node:crypto").randomUUID();
  }
}
