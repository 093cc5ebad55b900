import type { Limits } from "./limits.ts";
import { type Machine, measureFiles, measureMachine, measureTree } from "./machine.ts";

/** Ends commands that use more of their machine than a run may. */
export interface Watch {
  /**
   * Watches one command until the function that it gives back is called.
   * @param onExceeded called once, with what goes into the command's result: "it used more than 100 MiB of memory"
   */
  command(pid: number, onExceeded: (why: string) => void): () => void;
}

export interface WatchOptions {
  readonly limits: Limits;
  /** Host path of the directory with all files of the run. */
  readonly folder: string;
  /** Milliseconds between two looks. @default 100 */
  readonly everyMs?: number;
}

/** Looks after which the command itself is looked at, though the machine has lost nothing. */
const LOOKS = 20;
/** Share of the machine's memory that is left for others, whoever uses it. */
const MIN_FREE_SHARE = 0.05;
const MIB = 1024 * 1024;

/**
 * Without cgroups, which only who administers a machine can hand out, nothing in the kernel holds the memory of many processes or the files
 * of a directory to a sum. So this looks: ten times a second at the whole machine, which costs next to nothing, and at the command's processes and
 * the run's files where the machine has lost so much since the run began that this run may be the cause. What grows faster than that is over its
 * limit for a moment.
 */
export function createWatch({ limits, folder, everyMs = 100 }: WatchOptions): Watch {
  let best = measureMachine(folder);
  const note = (now: Machine) => {
    best = {
      ...now,
      availableBytes: Math.max(best.availableBytes, now.availableBytes),
      tasks: Math.min(best.tasks, now.tasks),
      diskBytes: Math.max(best.diskBytes, now.diskBytes),
      files: Math.max(best.files, now.files),
    };
  };
  const messages = {
    memory: `it used more than ${Math.round(limits.memoryBytes / MIB)} MiB of memory`,
    processes: `it had more than ${limits.processes} processes and threads`,
    disk: `the run's files took more than ${Math.round(limits.diskBytes / MIB)} MiB`,
    files: `the run had more than ${limits.files} files`,
  };

  const findExcess = (pid: number, now: Machine): string | undefined => {
    const lost = best.availableBytes - now.availableBytes;
    // What the kernel itself holds for a command is in no process; before it takes the machine down, the command goes.
    if (lost > limits.memoryBytes && now.availableBytes < now.memoryBytes * MIN_FREE_SHARE) return messages.memory;
    const { tasks, memoryBytes, unnamedBytes } = measureTree(pid, limits.processes, limits.memoryBytes);
    if (tasks > limits.processes) return messages.processes;
    if (memoryBytes > limits.memoryBytes) return messages.memory;
    return unnamedBytes > limits.diskBytes ? messages.disk : undefined;
  };
  const findFileExcess = async (pid: number): Promise<string | undefined> => {
    const { bytes, files } = await measureFiles(folder, limits.files);
    if (files > limits.files) return messages.files;
    const { unnamedBytes } = measureTree(pid, limits.processes, limits.memoryBytes);
    return bytes + unnamedBytes > limits.diskBytes ? messages.disk : undefined;
  };

  return {
    command(pid, onExceeded) {
      let looks = 0;
      let countAgainAt = 0;
      let isOver = false;
      const exceeded = (why: string | undefined) => {
        if (why === undefined || isOver) return;
        stop();
        onExceeded(why);
      };
      const count = async () => {
        const startedAt = performance.now();
        countAgainAt = Number.POSITIVE_INFINITY;
        const why = await findFileExcess(pid);
        // Where another uses up the disk this counts for nothing, so it must not take the harness's time.
        countAgainAt = performance.now() + 1_000 + 10 * (performance.now() - startedAt);
        exceeded(why);
      };
      const look = () => {
        const now = measureMachine(folder);
        note(now);
        const hasLost =
          best.availableBytes - now.availableBytes > limits.memoryBytes || now.tasks - best.tasks > limits.processes;
        if (hasLost || ++looks % LOOKS === 0) exceeded(findExcess(pid, now));
        const isFull = best.diskBytes - now.diskBytes > limits.diskBytes || best.files - now.files > limits.files;
        if (isFull && performance.now() > countAgainAt) void count();
      };
      const timer = setInterval(look, everyMs);
      const stop = () => {
        isOver = true;
        clearInterval(timer);
      };
      return stop;
    },
  };
}
