import { writeFileSync } from "node:fs";
import { constants, getPriority, setPriority, totalmem } from "node:os";
import { DEFAULT_RUN_DISK_MIB, DEFAULT_RUN_FILES } from "#shared/wire/host-settings.ts";

/** How much of a shared machine the commands of a run may use. */
export interface Limits {
  /** Bytes of memory of all processes of the commands in total. */
  readonly memoryBytes: number;
  /** Processes and threads of the commands in total. */
  readonly processes: number;
  /** Bytes of all files of the run in total, and of one file. */
  readonly diskBytes: number;
  /** Files and directories of the run. */
  readonly files: number;
  /** Descriptors of one process. */
  readonly descriptors: number;
}

const MIB = 1024 * 1024;
const MAX_MEMORY_MIB = 8_192;
/** Share of the machine's memory, if that is less. */
const SHARE_OF_MEMORY = 0.5;
const MAX_PROCESSES = 1_024;
const MAX_DESCRIPTORS = 8_192;

/** Environment variables of the harness that set a limit; each is a positive integer. */
type Setting =
  | "RUNYARD_COMMAND_MEMORY_MIB"
  | "RUNYARD_COMMAND_PROCESSES"
  | "RUNYARD_RUN_DISK_MIB"
  | "RUNYARD_RUN_FILES";

/** Reads the limits from the settings, or derives them from the machine. @throws when a setting is not a number */
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
    diskBytes: set("RUNYARD_RUN_DISK_MIB", DEFAULT_RUN_DISK_MIB) * MIB,
    files: set("RUNYARD_RUN_FILES", DEFAULT_RUN_FILES),
    descriptors: MAX_DESCRIPTORS,
  };
}

/** The memory of the machine, or of the container. */
function readMachineMemory(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/**
 * Formats shell commands that lower the limits of the current shell permanently, without starting a program. The kernel counts processes
 * per user and does not limit those of root.
 */
export function formatUlimits({ processes, diskBytes, descriptors }: Limits): string {
  const lowered = [`c 0`, `u ${processes}`, `f ${Math.floor(diskBytes / 1024)}`, `n ${descriptors}`];
  return `{ ${lowered.map((limit) => `ulimit -${limit}; `).join("")}} 2>/dev/null || :;`;
}

/** How much less of a busy processor a command gets than the harness, which must end it in time; 10 is about a tenth. */
const NICENESS = 10;

/**
 * Makes the kernel prefer the harness to a process and its future descendants: they wait for a processor, and are killed first when memory
 * runs out.
 */
export function putBehindHarness(pid: number | undefined): void {
  try {
    if (pid === undefined) return;
    setPriority(pid, Math.min(getPriority() + NICENESS, constants.priority.PRIORITY_LOW));
    writeFileSync(`/proc/${pid}/oom_score_adj`, "1000");
  } catch {
    // The process has already ended, or the kernel does not allow it.
  }
}

/** Lets a process that is about to be killed end at once: it frees its files in its own time. Only root may do that. */
export function putBesideHarness(pid: number): void {
  try {
    setPriority(pid, getPriority());
  } catch {
    // The process has already ended, or the kernel does not allow it.
  }
}
