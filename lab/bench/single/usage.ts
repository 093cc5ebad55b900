import { readFile } from "node:fs/promises";
import { listProcessTree } from "../memory.ts";

/** Milliseconds of processor time, including ended processes. Available on Linux only. */
export interface Usage {
  readonly serverMs: number;
  /** Of harnesses, boundaries and commands. */
  readonly executionsMs: number;
}

/** Linux counts a hundred ticks a second. */
const TICK_MS = 10;

/** Reads what a server and the processes below it have used. */
export async function readUsage(server: number): Promise<Usage> {
  let serverMs = 0;
  let executionsMs = 0;
  for (const pid of await listProcessTree(server)) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    const [user = 0, system = 0, usersOfEnded = 0, systemsOfEnded = 0] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 15)
      .map(Number);
    const ended = usersOfEnded + systemsOfEnded;
    if (pid === server) serverMs += (user + system) * TICK_MS;
    executionsMs += (pid === server ? ended : user + system + ended) * TICK_MS;
  }
  return { serverMs, executionsMs };
}

/** The difference of two readings, for each of `runs`. */
export const usagePerRun = (before: Usage, after: Usage, runs: number): Usage => ({
  serverMs: (after.serverMs - before.serverMs) / runs,
  executionsMs: (after.executionsMs - before.executionsMs) / runs,
});
