import type { Scheduler, Timer } from "./scheduler.ts";

/** Creates a scheduler in memory, for tests. */
export function memoryScheduler(): Scheduler & { readonly timers: Map<string, Timer> } {
  const timers = new Map<string, Timer>();
  return {
    timers,
    put: async (timer) => void timers.set(timer.id, timer),
    remove: async (id) => void timers.delete(id),
  };
}
