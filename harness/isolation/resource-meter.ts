import type { Limits } from "./limits.ts";
import {
  type FileLimits,
  listTrees,
  type Machine,
  measureFiles,
  measureMachine,
  measureTrees,
  measureUnnamed,
  type TreeUse,
} from "./machine.ts";
import { NO_UNNAMED_FILES } from "./unnamed-files.ts";

/** What a run may use, and how that is measured. */
export interface MeterOptions {
  readonly limits: Limits;
  /** Host path of the directory that contains all files of the run. */
  readonly folder: string;
  /** At how many bytes and files the run's files are over their limits, where their file system would be full at those. @default limits */
  readonly counted?: FileLimits;
  /** Counts the processes of commands that the kernel has killed for their memory. @default there are none */
  readonly countKills?: (() => number) | undefined;
  /** Stops the processes of the commands, whatever signals they get, until the returned function is called. @default only by SIGSTOP */
  readonly freeze?: (() => () => void) | undefined;
  /** Removes files of the run until the others are within the limits. @default they stay */
  readonly shrink?: () => Promise<void>;
  /** Measures the machine. @default measureMachine */
  readonly measure?: (folder: string) => Machine;
  /** Called again and again while commands are measured, which can take long. */
  readonly pause?: () => void;
}

/** Finds out whether the commands of an execution exceed its limits. */
export type Meter = ReturnType<typeof createMeter>;

/**
 * After this many measurements of the machine the commands are measured, even if the machine has lost nothing: others may have freed as much.
 * Commands that use more than this share of a limit are measured each time, and files that do are counted without a delay.
 */
const TREE_INTERVAL = 5;
const HIGH_SHARE = 0.5;
/** Share of the machine's memory that always stays free for others. */
const MIN_FREE_SHARE = 0.05;
/**
 * The delay before the commands are measured again: this many times as long as the last measurement took, with the files that they have
 * open; the same where the machine has lost so much memory that they may be the cause, and without their files.
 */
const TREE_FACTOR = 10;
const LOST_TREE_FACTOR = 3;
const QUICK_TREE_FACTOR = 1;
/** How often files are removed after a command, at most: others may write meanwhile. */
const MAX_SHRINKS = 3;
/** The share of what the run had left at the last count that the disk may lose before the next one: the run grows until it is stopped. */
const NEAR_SHARE = 0.97;
const REMOVED = "; what changed last was removed";
const MIB = 1024 * 1024;

export function createMeter(options: MeterOptions) {
  const { limits, folder, countKills = () => 0, freeze = () => () => {}, measure = measureMachine, pause } = options;
  const machine = createMachineMeter(() => measure(folder));
  const messages = describeLimits(limits);
  let kills = countKills();
  /** Whether the kernel has killed a process since this was last asked: the first to ask is the command that it belonged to. */
  const takeKills = (): string | undefined => {
    const before = kills;
    kills = countKills();
    return kills > before ? messages.memory : undefined;
  };

  /** The commands that are watched, by their processes, and what is called with the reason when they exceed a limit. */
  const watched = new Map<number, (why: string) => void>();
  let isHigh = false;
  const measureEach = (files: Parameters<typeof measureTrees>[3]) =>
    new Map(
      [...watched.keys()].map((pid) => [pid, measureTrees([pid], limits.processes, enoughMemory(), files, pause)]),
    );
  /** Their sum is to be exact where it is above the limit. */
  const enoughMemory = () => limits.memoryBytes / watched.size;
  const measureQuickly = createTreeMeter(watched, () => measureEach("none"));
  const measureWithFiles = createTreeMeter(watched, (hasLost) => measureEach(hasLost ? "threads" : "processes"));
  /** The one that uses most exceeds a limit. */
  const explain = (pid: number, uses: Uses): string | undefined => {
    const exceeds = (resource: Resource, limit: number) => {
      const all = list(uses, resource);
      const own = uses.get(pid)?.[resource] ?? 0;
      return sum(all) > limit && own === Math.max(...all);
    };
    if (exceeds("tasks", limits.processes)) return messages.processes;
    if (exceeds("memoryBytes", limits.memoryBytes)) return messages.memory;
    return exceeds("unnamedBytes", limits.diskBytes) ? messages.disk : undefined;
  };
  const hasLostMemory = (now: Machine) => machine.findLoss(now).memoryBytes > limits.memoryBytes;
  const findExcess = (pid: number, now: Machine): string | undefined => {
    const hasLost = hasLostMemory(now);
    // Memory that the kernel holds for a command belongs to no process. End the command before the machine runs out of memory.
    if (hasLost && now.availableBytes < now.memoryBytes * MIN_FREE_SHARE) return messages.memory;
    const quick = measureQuickly(hasLost, QUICK_TREE_FACTOR);
    const why = explain(pid, quick);
    if (why !== undefined) return why;
    const whole = measureWithFiles(hasLost, hasLost ? LOST_TREE_FACTOR : TREE_FACTOR);
    isHigh = [quick, whole].some(
      (uses) => usesMuch(uses, "memoryBytes", limits.memoryBytes) || usesMuch(uses, "tasks", limits.processes),
    );
    return explain(pid, whole);
  };

  return {
    ...{ watched, takeKills, findExcess, freeze },
    /** Lists the processes of the commands. */
    listProcesses: () => listTrees([...watched.keys()], limits.processes).processes,
    measureNow: machine.measureNow,
    latest: machine.latest,
    ...createFileMeter(options, machine, (enough) => measureUnnamed([...watched.keys()], limits.processes, enough)),
    /** Whether the machine has lost so much that the commands may be the cause. */
    hasLost: (now: Machine) => hasLostMemory(now) || machine.findLoss(now).tasks > limits.processes,
    /** @param measurements how often the machine was measured */
    isDue: (measurements: number) => measurements % TREE_INTERVAL === 0 || isHigh,
  };
}

type Resource = "tasks" | "memoryBytes" | "unnamedBytes";
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** What each command uses. */
type Uses = ReadonlyMap<number, TreeUse>;
const list = (uses: Uses, resource: Resource): number[] => [...uses.values()].map((use) => use[resource]);
const usesMuch = (uses: Uses, resource: Resource, limit: number): boolean =>
  sum(list(uses, resource)) > limit * HIGH_SHARE;
interface Measured {
  readonly uses: Uses;
  /** The commands that were measured. */
  readonly commands: string;
  readonly at: number;
  readonly took: number;
}

/**
 * Measures commands for all of their watches, no more often than the harness has time for: measuring thousands of processes and descriptors
 * takes as long as the rest of its work.
 */
function createTreeMeter(watched: ReadonlyMap<number, unknown>, measure: (hasLost: boolean) => Uses) {
  let last: Measured | undefined;
  return (hasLost: boolean, factor: number): Uses => {
    const startedAt = performance.now();
    const commands = [...watched.keys()].join();
    // What another command has used says nothing about the others.
    if (last?.commands === commands && startedAt <= last.at + last.took * factor) return last.uses;
    const uses = measure(hasLost);
    const at = performance.now();
    last = { uses, commands, at, took: at - startedAt };
    return uses;
  };
}

const describeLimits = (limits: Limits) => ({
  memory: `it used more than ${Math.round(limits.memoryBytes / MIB)} MiB of memory`,
  processes: `it had more than ${limits.processes} processes and threads`,
  disk: `the run's files took more than ${Math.round(limits.diskBytes / MIB)} MiB`,
  files: `the run had more than ${limits.files} files`,
});

/** Measures the machine, and what it has lost since it had most. */
function createMachineMeter(measure: () => Machine) {
  let best = measure();
  let latest = best;
  return {
    measure,
    /** The machine when it was last measured, if that was not during a count. */
    latest: () => latest,
    /** Measures the machine, and remembers where it has more than ever. */
    measureNow(): Machine {
      const now = measure();
      latest = now;
      best = {
        ...now,
        availableBytes: Math.max(best.availableBytes, now.availableBytes),
        tasks: Math.min(best.tasks, now.tasks),
        diskBytes: Math.max(best.diskBytes, now.diskBytes),
        files: Math.max(best.files, now.files),
      };
      return now;
    },
    findLoss: (now: Machine) => ({
      memoryBytes: best.availableBytes - now.availableBytes,
      tasks: now.tasks - best.tasks,
      diskBytes: best.diskBytes - now.diskBytes,
      files: best.files - now.files,
    }),
  };
}

/** Finds out whether the files of a run exceed its limits. */
function createFileMeter(
  { limits: stated, folder, shrink, counted: limits = stated }: MeterOptions,
  machine: ReturnType<typeof createMachineMeter>,
  measureCommands: (enough: Parameters<typeof measureUnnamed>[2]) => ReturnType<typeof measureUnnamed>,
) {
  const messages = describeLimits(stated);
  /** What the disk has when the run may be near its limits, as of the last count of its files. */
  let fullAt: Pick<Machine, "diskBytes" | "files"> | undefined;
  /** Whether the last count has found files that can be removed. */
  let isRemovable = false;
  const hasLostDisk = (now: Machine) => machine.findLoss(now).diskBytes > limits.diskBytes;
  const hasLostFiles = (now: Machine) => machine.findLoss(now).files > limits.files;
  /**
   * @param isDoubtful whether descriptors may have been hidden at the last count too: programs send them to each other all the time, but
   * they rarely make directories unreadable
   */
  const findFileExcess = async (isDoubtful: boolean): Promise<{ why?: string; isHidden: boolean; isHigh: boolean }> => {
    const before = machine.measure();
    const named = await measureFiles(folder, limits.files);
    const unnamed = fits(named)
      ? measureCommands({ unnamedBytes: limits.diskBytes - named.bytes, unnamedFiles: limits.files - named.files })
      : NO_UNNAMED_FILES;
    const isHidden = named.isHidden || unnamed.isHidden;
    const use = { diskBytes: named.bytes + unnamed.unnamedBytes, files: named.files + unnamed.unnamedFiles };
    // What lies in unreadable directories is counted by nobody: up to what the disk has lost.
    const loss = named.isHidden ? machine.findLoss(before) : use;
    fullAt = {
      diskBytes:
        before.diskBytes - NEAR_SHARE * Math.max(0, limits.diskBytes - Math.max(use.diskBytes, loss.diskBytes)),
      files: before.files - NEAR_SHARE * Math.max(0, limits.files - Math.max(use.files, loss.files)),
    };
    const isHigh = use.files > limits.files * HIGH_SHARE || use.diskBytes > limits.diskBytes * HIGH_SHARE;
    const found = { isHidden, isHigh };
    // What has no name goes with its processes.
    isRemovable = named.isHidden || !fits(named);
    const removed = shrink === undefined || fits(named) ? "" : REMOVED;
    if (use.files > limits.files) return { why: `${messages.files}${removed}`, ...found };
    if (use.diskBytes > limits.diskBytes) return { why: `${messages.disk}${removed}`, ...found };
    if (!named.isHidden && !(isHidden && isDoubtful)) return found;
    // What the disk has lost lies where nobody can count it.
    const now = machine.measure();
    if (hasLostDisk(now)) return { why: messages.disk, ...found };
    return hasLostFiles(now) ? { why: messages.files, ...found } : found;
  };
  const fits = ({ bytes, files }: { bytes: number; files: number }) =>
    bytes <= limits.diskBytes && files <= limits.files;
  /** Removes files until the others are within the limits, also those in directories that only commands may make readable. */
  const shrinkFiles = async (): Promise<void> => {
    // What ended commands have open is freed when the last of their processes is gone, so nobody knows how much is left.
    fullAt = undefined;
    for (let tries = 0; shrink !== undefined && isRemovable && tries < MAX_SHRINKS; tries++) {
      await shrink();
      if (fits(await measureFiles(folder, limits.files))) return;
    }
  };

  /** What the disk still has to lose until the run may be near its limits. */
  const findLeft = (now: Machine) => {
    const loss = machine.findLoss(now);
    return fullAt === undefined
      ? { diskBytes: NEAR_SHARE * limits.diskBytes - loss.diskBytes, files: NEAR_SHARE * limits.files - loss.files }
      : { diskBytes: now.diskBytes - fullAt.diskBytes, files: now.files - fullAt.files };
  };

  return {
    ...{ findFileExcess, shrinkFiles, findLeft },
    isFull: (now: Machine) => hasLostDisk(now) || hasLostFiles(now),
    /** Whether the run may be near its limits, or above them, since its files were counted. */
    isNearlyFull: (now: Machine) => Object.values(findLeft(now)).some((left) => left < 0),
  };
}
