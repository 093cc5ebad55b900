import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { removeTree } from "./remove-tree.ts";

/** The environment variable by which all processes of an execution are found again. */
export const executionMarker = (executionId: string): Record<string, string> => ({ RUNYARD_EXECUTION: executionId });

/** Kills the processes that executions have left running. Without /proc (macOS) none is found. */
export async function killMarked(...executionIds: readonly string[]): Promise<void> {
  const variables = new Set(executionIds.map((id) => `RUNYARD_EXECUTION=${id}`));
  for (let look = 0; look < 20; look++) {
    const found = await findMarked(variables);
    if (found.length === 0) return;
    for (const pid of found) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It is gone already.
      }
    }
    await sleep(5);
  }
}

/** Removes everything from the temporary directory, the only one that is writable in a Lambda function. */
export async function emptyTemporaryDirectory(): Promise<void> {
  const names = await readdir(tmpdir());
  await Promise.all(names.map((name) => removeTree(join(tmpdir(), name))));
}

/** Finds the processes that have one of these variables, with its value, in their environment. */
export async function findMarked(variables: ReadonlySet<string>): Promise<number[]> {
  const processes = await readdir("/proc").catch(() => []);
  const pids = processes.map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, "latin1").catch(() => "")));
  return pids.filter((_, index) => environments[index]?.split("\0").some((variable) => variables.has(variable)));
}
