import type { RunSignals } from "./live-tails.ts";

/** Signals within one process. */
export interface MemorySignals extends RunSignals {
  /** Wakes the readers of a run. */
  notify(runId: string): void;
}

export function memorySignals(): MemorySignals {
  const listeners = new Map<string, Set<() => void>>();
  return {
    notify(runId) {
      for (const listener of listeners.get(runId) ?? []) listener();
    },
    subscribe(runId) {
      const own = listeners.get(runId) ?? new Set();
      listeners.set(runId, own);
      let isChanged = false;
      let wake = (): void => {};
      const listener = (): void => {
        isChanged = true;
        wake();
      };
      own.add(listener);
      return {
        async next(milliseconds) {
          if (!isChanged && milliseconds > 0) {
            const { promise, resolve } = Promise.withResolvers<void>();
            const timer = setTimeout(resolve, milliseconds);
            wake = resolve;
            await promise;
            clearTimeout(timer);
          }
          isChanged = false;
        },
        close() {
          own.delete(listener);
          if (own.size === 0 && listeners.get(runId) === own) listeners.delete(runId);
          wake();
        },
      };
    },
  };
}
