import { setTimeout as sleep } from "node:timers/promises";
import type { RunSignals } from "./live-tails.ts";

const POLL_MS = 40;
const MAX_POLL_MS = 400;

/** Signals for processes that no other process can notify: readers look again after a pause, which grows. */
export const polledSignals: RunSignals = {
  subscribe(_runId, { maxPauseMs = MAX_POLL_MS } = {}) {
    let pause = POLL_MS;
    return {
      async next(milliseconds) {
        await sleep(Math.max(0, Math.min(pause, milliseconds)));
        pause = Math.min(pause * 1.5, maxPauseMs);
      },
      close() {},
    };
  },
};
