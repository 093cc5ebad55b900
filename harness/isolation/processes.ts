import { closeSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The environment variable by which the processes of an execution are found again. */
const MARKER_NAME = "RUNYARD_EXECUTION";

export const createMarker = (executionId: string): Record<string, string> => ({ [MARKER_NAME]: executionId });

/**
 * Kills a command's process group and then whatever else carries the execution's marker: children that called setsid
 * or were forked twice leave the group, but not their environment behind.
 *
 * The limits: macOS has no /proc, there only the group is killed; and a process that runs with a changed environment
 * and a session of its own is not found. Where that matters bubblewrap is the wall, or the machine is thrown away.
 */
export async function killTree(pid: number | undefined, executionId: string | undefined): Promise<void> {
  if (pid !== undefined) kill(-pid);
  if (executionId === undefined) return;
  // Between two looks a process may have forked, so this goes on until a look finds nobody.
  for (let look = 0; look < 20; look++) {
    const found = findMarkedProcesses(executionId);
    if (found.length === 0) return;
    for (const marked of found) kill(marked);
    await sleep(5);
  }
}

/**
 * Closes what the harness inherited besides its standard streams: whatever whoever started it left open would be open in
 * every command too. What node itself opens is marked to be closed in children.
 */
export function closeInherited(): void {
  if (process.platform !== "linux") return;
  for (const descriptor of readdirSync("/proc/self/fd").map(Number)) {
    if (descriptor > 2 && !isClosedInChildren(descriptor)) closeSync(descriptor);
  }
}

const O_CLOEXEC = 0o2000000;

function isClosedInChildren(descriptor: number): boolean {
  try {
    const [, flags] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1")) ?? [];
    return flags === undefined || (Number.parseInt(flags, 8) & O_CLOEXEC) !== 0;
  } catch {
    // It was the one that listed the others.
    return true;
  }
}

/** Process ids, on Linux, of all that runs with the marker of this execution. */
function findMarkedProcesses(executionId: string): number[] {
  if (process.platform !== "linux") return [];
  const marker = `${MARKER_NAME}=${executionId}`;
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && readEnvironment(pid).includes(marker));
}

function readEnvironment(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch {
    // It ended meanwhile, or it belongs to somebody else.
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}
