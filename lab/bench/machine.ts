import { availableParallelism, cpus, loadavg, totalmem } from "node:os";

/** Where and when figures were measured. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly node: string;
  readonly date: string;
  /** The load average of one minute, before and after: other load affects times, but not counts. */
  readonly load: { readonly before: string; readonly after: string };
}

export const load = (): string => (loadavg()[0] ?? 0).toFixed(2);

export function describeMachine(before: string): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown processor",
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    date: new Date().toISOString().slice(0, 10),
    load: { before, after: load() },
  };
}
