import { readdir, readFile } from "node:fs/promises";
import { vi } from "vitest";
import type { client } from "./api-client.ts";

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly args: readonly string[];
  readonly environment: string;
}

/** Returns the process id of the harness that executes an execution, which has started a command. */
export async function findHarness(executionId: string): Promise<number | undefined> {
  const entries = await readProcesses();
  const byPid = new Map(entries.map((entry) => [entry.pid, entry]));
  for (const entry of entries) {
    if (!entry.environment.split("\0").includes(`RUNYARD_EXECUTION=${executionId}`)) continue;
    for (let above: ProcessEntry | undefined = entry; above !== undefined; above = byPid.get(above.parent)) {
      if (above.args.some((arg) => /harness\/main\.ts$|harness-[0-9a-f]+\/main\.mjs$|harness\.mjs$/.test(arg)))
        return above.pid;
    }
  }
  return undefined;
}

/** Waits until the run executes a command. Returns the process id of its harness. */
export const waitForHarness = (api: ReturnType<typeof client>, runId: string): Promise<number> =>
  vi.waitFor(
    async () => {
      const execution = (await api.timeline(runId)).findLast(({ execution_id }) => execution_id !== undefined);
      const harness = await findHarness(execution?.execution_id);
      if (harness === undefined) throw new Error(`run ${runId} executes no command`);
      return harness;
    },
    { timeout: 60_000, interval: 100 },
  );

/** The number of processes named `name` that have `arg` among their arguments. */
export async function countProcesses(name: string, arg: string): Promise<number> {
  return (await readProcesses()).filter(({ args }) => args[0] === name && args.includes(arg)).length;
}

export async function isAlive(pid: number): Promise<boolean> {
  return (await readProcesses()).some((entry) => entry.pid === pid && entry.args.length > 0);
}

async function readProcesses(): Promise<ProcessEntry[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  return Promise.all(
    pids.map(async (pid) => {
      const read = (file: string) => readFile(`/proc/${pid}/${file}`, "latin1").catch(() => "");
      const [stat, commandLine, environment] = await Promise.all([read("stat"), read("cmdline"), read("environ")]);
      // The program's name is in parentheses and may itself contain spaces and parentheses.
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      const args = commandLine.split("\0").filter((arg) => arg !== "");
      return { pid: Number(pid), parent, args, environment };
    }),
  );
}
