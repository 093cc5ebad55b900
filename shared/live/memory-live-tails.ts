import { type LiveTails, TAIL_LIFETIME_MS } from "./live-tails.ts";
import { appendFrames, type RunTail, withoutStreams } from "./run-tail.ts";

/** Runs whose tails are kept in memory; the one without output for the longest time is dropped. */
const MAX_RUNS = 256;

interface Kept {
  readonly tail: RunTail;
  readonly expiresAt: number;
}

/**
 * Live tails in the memory of the process.
 * @param changed called with the id of a run whose tail has new output
 */
export function memoryLiveTails(now: () => number, changed: (runId: string) => void = () => {}): LiveTails {
  /** In the order of the latest output. */
  const entries = new Map<string, Kept>();
  const find = (runId: string): RunTail | undefined => {
    const found = entries.get(runId);
    return found !== undefined && found.expiresAt > now() ? found.tail : undefined;
  };
  const put = (runId: string, tail: RunTail): void => {
    entries.delete(runId);
    for (const [other, { expiresAt }] of entries) {
      if (entries.size < MAX_RUNS && expiresAt > now()) break;
      entries.delete(other);
    }
    entries.set(runId, { tail, expiresAt: now() + TAIL_LIFETIME_MS });
  };
  return {
    async append(runId, executionId, frames) {
      put(runId, appendFrames(find(runId), executionId, frames));
      changed(runId);
    },
    async finish(runId, ids) {
      const tail = find(runId);
      if (tail !== undefined) put(runId, withoutStreams(tail, ids));
    },
    async read(runId) {
      return find(runId);
    },
    async clear(runId) {
      entries.delete(runId);
    },
  };
}
