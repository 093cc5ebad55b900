import { closeSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** The environment variable that identifies the processes of an execution. */
const MARKER_NAME = "RUNYARD_EXECUTION";
/** Names the background command that a process belongs to. */
const BACKGROUND_NAME = "RUNYARD_BACKGROUND";
const MAX_SEARCHES = 20;

export const createMarker = (executionId: string): Record<string, string> => ({ [MARKER_NAME]: executionId });

/** Identifies the processes of a background command, besides the marker of their execution. */
export const createBackgroundMarker = (id: string): Record<string, string> => ({ [BACKGROUND_NAME]: id });

/** Selects the processes that belong to no background command. */
export const FOREGROUND = "";

/**
 * Kills a command's process group and then every process with the execution's marker, including detached processes: setsid or a double
 * fork leaves the group but keeps the environment.
 *
 * Known limitations: macOS has no /proc, so only the group is killed; and a detached process with a changed environment is not found. Where
 * that matters, bubblewrap is the isolation boundary, or the machine runs only this execution.
 * @param background only processes of this background command, or of none (`FOREGROUND`). @default all of the execution
 */
export async function killTree(
  pid: number | undefined,
  executionId: string | undefined,
  background?: string,
): Promise<void> {
  if (pid !== undefined) kill(-pid);
  if (executionId === undefined) return;
  // A process may fork between two searches, so search until none is found.
  for (let search = 0; search < MAX_SEARCHES; search++) {
    const found = findMarkedProcesses(executionId, background);
    if (found.length === 0) return;
    for (const marked of found) kill(marked);
    await sleep(5);
  }
}

/**
 * Closes the descriptors that the harness inherited besides its standard streams: commands would inherit them too. Descriptors that Node
 * opens are marked to be closed in children.
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
    // This was the descriptor of the directory listing.
    return true;
  }
}

/** Finds the processes with the marker of this execution. Works on Linux only. */
export function findMarkedProcesses(executionId: string, background?: string): number[] {
  if (process.platform !== "linux") return [];
  const marker = `${MARKER_NAME}=${executionId}`;
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      if (!Number.isInteger(pid) || pid === process.pid) return false;
      const environment = readEnvironment(pid);
      if (!environment.includes(marker)) return false;
      const own = environment.find((variable) => variable.startsWith(`${BACKGROUND_NAME}=`)) ?? `${BACKGROUND_NAME}=`;
      return background === undefined || own === `${BACKGROUND_NAME}=${background}`;
    });
}

function readEnvironment(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch {
    // The process has ended, or belongs to another user.
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}
