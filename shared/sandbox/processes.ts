import { readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Scratch directories have this prefix, followed by the id of the process that created them. */
const SCRATCH = "runyard-sandbox-";

/** The prefix of the scratch directories of this process. */
export const scratchPrefix = (): string => join(tmpdir(), `${SCRATCH}${process.pid}-`);

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

/**
 * Removes the scratch directories of killed processes like this one, such as on a laptop. A harness of theirs may still be
 * running for a moment: its directory stays, since without it a command would fail, and a run that would otherwise
 * continue would fail too.
 */
export async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, pid] = /^runyard-sandbox-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const folder = join(tmpdir(), name);
    if ((await findMarked(new Set([`TMPDIR=${folder}`]))).length > 0) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Removes everything from the temporary directory, the only one that is writable in a Lambda function. */
export async function emptyTemporaryDirectory(): Promise<void> {
  const names = await readdir(tmpdir());
  await Promise.all(names.map((name) => rm(join(tmpdir(), name), { recursive: true, force: true })));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** Finds the processes that have one of these variables, with its value, in their environment. */
async function findMarked(variables: ReadonlySet<string>): Promise<number[]> {
  const processes = await readdir("/proc").catch(() => []);
  const pids = processes.map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid);
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, "latin1").catch(() => "")));
  return pids.filter((_, index) => environments[index]?.split("\0").some((variable) => variables.has(variable)));
}
