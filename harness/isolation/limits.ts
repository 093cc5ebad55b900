import { writeFileSync } from "node:fs";
import { totalmem } from "node:os";

/** What the commands of a run may use of their machine, where a sandbox has to share it. */
export interface Limits {
  /** Bytes of memory of all processes of one command together. */
  readonly memoryBytes: number;
  /** Processes and threads of one command. */
  readonly processes: number;
  /** Bytes of all files of the run together, and of one file. */
  readonly diskBytes: number;
  /** Files and directories of the run. */
  readonly files: number;
  /** Descriptors of one process. */
  readonly descriptors: number;
}

const MIB = 1024 * 1024;
const MAX_MEMORY_MIB = 8_192;
/** Of the machine's memory, where that is less. */
const SHARE_OF_MEMORY = 0.5;
const MAX_PROCESSES = 1_024;
const MAX_DISK_MIB = 10_240;
const MAX_FILES = 1_000_000;
const MAX_DESCRIPTORS = 8_192;

/** Variables of the harness that change a limit; each is a whole number above 0. */
type Setting =
  | "RUNYARD_COMMAND_MEMORY_MIB"
  | "RUNYARD_COMMAND_PROCESSES"
  | "RUNYARD_RUN_DISK_MIB"
  | "RUNYARD_RUN_FILES";

/** The limits of this machine, and what its settings make of them. @throws where a setting is no number */
export function readLimits(settings: Readonly<Record<string, string | undefined>> = process.env): Limits {
  const set = (name: Setting, preset: number) => {
    const value = settings[name];
    if (value === undefined || value === "") return preset;
    if (/^[1-9]\d{0,11}$/.test(value)) return Number(value);
    throw new Error(`${name} must be a whole number above 0`);
  };
  const memory = Math.min(MAX_MEMORY_MIB, Math.floor((readMachineMemory() / MIB) * SHARE_OF_MEMORY));
  return {
    memoryBytes: set("RUNYARD_COMMAND_MEMORY_MIB", memory) * MIB,
    processes: set("RUNYARD_COMMAND_PROCESSES", MAX_PROCESSES),
    diskBytes: set("RUNYARD_RUN_DISK_MIB", MAX_DISK_MIB) * MIB,
    files: set("RUNYARD_RUN_FILES", MAX_FILES),
    descriptors: MAX_DESCRIPTORS,
  };
}

/** What a container allows counts, where this is one. */
function readMachineMemory(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/**
 * Shell words that lower the limits of the shell which reads them, for good. No program is started for it. The kernel counts
 * processes by user, and root's not at all.
 */
export function formatUlimits({ processes, diskBytes, descriptors }: Limits): string {
  const lowered = [`c 0`, `u ${processes}`, `f ${Math.floor(diskBytes / 1024)}`, `n ${descriptors}`];
  return `{ ${lowered.map((limit) => `ulimit -${limit}; `).join("")}} 2>/dev/null || :;`;
}

/** Makes the kernel end a process, and all that it starts from now on, before any other when memory runs out. */
export function preferForOomKill(pid: number | undefined): void {
  try {
    if (pid !== undefined) writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
  } catch {
    // It has ended already, or this kernel does not let anybody say so.
  }
}
