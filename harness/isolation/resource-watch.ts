import { dirname } from "node:path";
import type { Limits } from "./limits.ts";
import { type Machine, measureFiles, measureMachine, measureTrees } from "./machine.ts";
import type { Sandbox, WorkspacePaths } from "./sandbox.ts";
import { createShrinking } from "./shrink-files.ts";

/** Detects that commands exceed the limits of a run. */
export interface Watch {
  /**
   * Watches one command until the returned function is called. Commands that are watched at once share the limits: the one that uses most
   * exceeds them. Each exceeds a limit of the run's files, which belong to no command.
   * @param onExceeded called once with the reason for the command's result: "it used more than 100 MiB of memory"
   * @returns stops watching, and resolves when the run's files are within their limits again
   */
  command(pid: number, onExceeded: (why: string) => void): () => Promise<void>;
}

export interface WatchOptions {
  readonly limits: Limits;
  /** Host path of the directory that contains all files of the run. */
  readonly folder: string;
  /** Milliseconds between two measurements. @default 100 */
  readonly everyMs?: number;
  /** Counts the processes of commands that the kernel has killed for their memory. @default there are none */
  readonly countKills?: (() => number) | undefined;
  /** Removes files of the run until the others are within the limits. @default they stay */
  readonly shrink?: () => Promise<void>;
  /** Measures the machine. @default measureMachine */
  readonly measure?: (folder: string) => Machine;
}

/**
 * After this many measurements of the machine the commands are measured, even if the machine has lost nothing: others may have freed as much.
 * Commands that use more than this share of a limit are measured each time.
 */
const TREE_INTERVAL = 5;
const HIGH_SHARE = 0.5;
/** Share of the machine's memory that always stays free for others. */
const MIN_FREE_SHARE = 0.05;
/** The delay before the run's files are counted again: this, and this many times as long as the last count took. */
const COUNT_MS = 1_000;
const COUNT_FACTOR = 10;
/** The same where the disk has lost too little for the run to be the cause, unless others have freed as much. */
const SURE_COUNT_MS = 60_000;
const SURE_COUNT_FACTOR = 30;
/** The least delay, in the same way, once the disk has lost more than the run had left at the last count. */
const URGENT_COUNT_FACTOR = 2;
/** The delay before the second count where files may be hidden. */
const DOUBT_MS = 300;
/** How often files are removed after a command, at most: others may write meanwhile. */
const MAX_SHRINKS = 3;
const REMOVED = "; what changed last was removed";
const MEASURE_MS = 100;
const MIB = 1024 * 1024;

/**
 * Without cgroups, which need an administrator, the kernel limits neither the total memory of several processes nor the total size of a
 * directory. So the watch measures the machine ten times a second, which costs almost nothing, and measures the command's processes and the
 * run's files when the machine has lost so many resources since the start of the run that this run may be the cause. A command that grows
 * faster exceeds its limit for a moment.
 */
export function createWatch(options: WatchOptions): Watch {
  const meter = createMeter(options);
  const { everyMs = MEASURE_MS } = options;
  return { command: (pid, onExceeded) => watchCommand(pid, onExceeded, meter, everyMs) };
}

/** Finds out whether the commands of an execution exceed its limits. */
function createMeter({ limits, folder, countKills = () => 0, shrink, measure = measureMachine }: WatchOptions) {
  let best = measure(folder);
  let kills = countKills();
  /** Whether the kernel has killed a process since this was last asked: the first to ask is the command that it belonged to. */
  const takeKills = (): string | undefined => {
    const before = kills;
    kills = countKills();
    return kills > before ? messages.memory : undefined;
  };
  const measureNow = (): Machine => {
    const now = measure(folder);
    best = {
      ...now,
      availableBytes: Math.max(best.availableBytes, now.availableBytes),
      tasks: Math.min(best.tasks, now.tasks),
      diskBytes: Math.max(best.diskBytes, now.diskBytes),
      files: Math.max(best.files, now.files),
    };
    return now;
  };
  const messages = {
    memory: `it used more than ${Math.round(limits.memoryBytes / MIB)} MiB of memory`,
    processes: `it had more than ${limits.processes} processes and threads`,
    disk: `the run's files took more than ${Math.round(limits.diskBytes / MIB)} MiB`,
    files: `the run had more than ${limits.files} files`,
  };

  const watched = new Set<number>();
  /** Files are removed once at a time for all commands. */
  let shrinking: Promise<void> | undefined;
  /** What the disk has when the run may be at its limits, as of the last count of its files. */
  let fullAt: Pick<Machine, "diskBytes" | "files"> = { diskBytes: 0, files: 0 };
  let measureAgainAt = 0;
  let isHigh = false;
  const measureUse = (roots: Iterable<number>, everyThread = false) =>
    measureTrees([...roots], limits.processes, limits.memoryBytes, everyThread);
  const usesMost = (pid: number, resource: "tasks" | "memoryBytes" | "unnamedBytes"): boolean => {
    if (watched.size === 1) return true;
    const own = measureUse([pid])[resource];
    return [...watched].every((other) => other === pid || measureUse([other])[resource] <= own);
  };
  const hasLostDisk = (now: Machine) => best.diskBytes - now.diskBytes > limits.diskBytes;
  const hasLostFiles = (now: Machine) => best.files - now.files > limits.files;
  const hasLostMemory = (now: Machine) => best.availableBytes - now.availableBytes > limits.memoryBytes;
  const findExcess = (pid: number, now: Machine): string | undefined => {
    const hasLost = hasLostMemory(now);
    // Memory that the kernel holds for a command belongs to no process. End the command before the machine runs out of memory.
    if (hasLost && now.availableBytes < now.memoryBytes * MIN_FREE_SHARE) return messages.memory;
    const startedAt = performance.now();
    const { tasks, memoryBytes, unnamedBytes } = measureUse(watched, hasLost);
    // Measuring thousands of processes must not take much of the harness's time.
    measureAgainAt = performance.now() + COUNT_FACTOR * (performance.now() - startedAt);
    isHigh = memoryBytes > limits.memoryBytes * HIGH_SHARE || tasks > limits.processes * HIGH_SHARE;
    if (tasks > limits.processes && usesMost(pid, "tasks")) return messages.processes;
    if (memoryBytes > limits.memoryBytes && usesMost(pid, "memoryBytes")) return messages.memory;
    return unnamedBytes > limits.diskBytes && usesMost(pid, "unnamedBytes") ? messages.disk : undefined;
  };
  /**
   * @param isDoubtful whether descriptors may have been hidden at the last count too: programs send them to each other all the time, but
   * they rarely make directories unreadable
   */
  /**
   * @param isDoubtful whether descriptors may have been hidden at the last count too: programs send them to each other all the time, but
   * they rarely make directories unreadable
   */
  const findFileExcess = async (isDoubtful: boolean): Promise<{ why?: string; isHidden: boolean }> => {
    const before = measure(folder);
    const named = await measureFiles(folder, limits.files);
    const unnamed = measureUse(watched, true);
    const isHidden = named.isHidden || unnamed.isHidden;
    const use = { diskBytes: named.bytes + unnamed.unnamedBytes, files: named.files + unnamed.unnamedFiles };
    // When the disk has lost what was left, the run may have exceeded its limit again.
    fullAt = {
      diskBytes: before.diskBytes - Math.max(0, limits.diskBytes - use.diskBytes),
      files: before.files - Math.max(0, limits.files - use.files),
    };
    const removed = shrink === undefined || fits(named) ? "" : REMOVED;
    if (use.files > limits.files) return { why: `${messages.files}${removed}`, isHidden };
    if (use.diskBytes > limits.diskBytes) return { why: `${messages.disk}${removed}`, isHidden };
    if (!named.isHidden && !(isHidden && isDoubtful)) return { isHidden };
    // What the disk has lost lies where nobody can count it.
    const now = measure(folder);
    if (hasLostDisk(now)) return { why: messages.disk, isHidden };
    return hasLostFiles(now) ? { why: messages.files, isHidden } : { isHidden };
  };
  const fits = ({ bytes, files }: { bytes: number; files: number }) =>
    bytes <= limits.diskBytes && files <= limits.files;
  /** Removes files until the others are within the limits, also those in directories that only commands may make readable. */
  const shrinkFiles = async (): Promise<void> => {
    for (let tries = 0; shrink !== undefined && tries < MAX_SHRINKS; tries++) {
      shrinking ??= shrink().finally(() => {
        shrinking = undefined;
      });
      await shrinking;
      if (fits(await measureFiles(folder, limits.files))) return;
    }
  };

  return {
    ...{ watched, takeKills, measureNow, findExcess, findFileExcess, shrinkFiles },
    /** Whether the machine has lost so much that the commands may be the cause. */
    hasLost: (now: Machine) => hasLostMemory(now) || now.tasks - best.tasks > limits.processes,
    isFull: (now: Machine) => hasLostDisk(now) || hasLostFiles(now),
    /** Whether the run may have exceeded its limits since its files were counted. */
    isFullAgain: (now: Machine) => now.diskBytes < fullAt.diskBytes || now.files < fullAt.files,
    /** @param measurements how often the machine was measured */
    isDue: (measurements: number) =>
      (measurements % TREE_INTERVAL === 0 || isHigh) && performance.now() >= measureAgainAt,
  };
}

/** Watches one command until the returned function is called. */
function watchCommand(
  pid: number,
  onExceeded: (why: string) => void,
  meter: ReturnType<typeof createMeter>,
  everyMs: number,
): () => Promise<void> {
  let measurements = 0;
  let countAgainAt = Number.NEGATIVE_INFINITY;
  let countUrgentlyAt = 0;
  let countSurelyAt = performance.now() + SURE_COUNT_MS;
  let isDoubtful = false;
  let isOver = false;
  let counting: Promise<void> | undefined;
  let shrinking: Promise<void> | undefined;
  meter.watched.add(pid);
  const exceeded = (why: string | undefined) => {
    if (why === undefined || isOver) return;
    stop();
    onExceeded(why);
  };
  const count = async () => {
    const startedAt = performance.now();
    const { why, isHidden } = await meter.findFileExcess(isDoubtful);
    // Another process may be filling the disk, so counting must not take much of the harness's time.
    const endedAt = performance.now();
    const took = endedAt - startedAt;
    countAgainAt = endedAt + (isHidden && !isDoubtful ? DOUBT_MS : COUNT_MS + COUNT_FACTOR * took);
    countUrgentlyAt = endedAt + URGENT_COUNT_FACTOR * took;
    countSurelyAt = endedAt + SURE_COUNT_MS + SURE_COUNT_FACTOR * took;
    isDoubtful = isHidden;
    if (why !== undefined) shrinking ??= meter.shrinkFiles();
    exceeded(why);
  };
  const isCountDue = (now: Machine): boolean => {
    const dueAt = meter.isFull(now) ? countAgainAt : Math.max(countAgainAt, countSurelyAt);
    return performance.now() > (meter.isFullAgain(now) ? Math.min(countUrgentlyAt, dueAt) : dueAt);
  };
  const startCount = (): Promise<void> => {
    counting ??= count().finally(() => {
      counting = undefined;
    });
    return counting;
  };
  const look = () => {
    exceeded(meter.takeKills());
    const now = meter.measureNow();
    measurements++;
    if (meter.hasLost(now) || meter.isDue(measurements)) exceeded(meter.findExcess(pid, now));
    if (!isOver && isCountDue(now)) void startCount();
  };
  const timer = setInterval(look, everyMs);
  const stop = () => {
    isOver = true;
    meter.watched.delete(pid);
    clearInterval(timer);
  };
  return async () => {
    if (!isOver) exceeded(meter.takeKills());
    // Its files stay, with nobody to count them until the next command.
    if (shrinking === undefined && isCountDue(meter.measureNow())) await startCount();
    stop();
    await shrinking;
  };
}

/** Watches the commands of an execution. @returns undefined if no other run shares the machine */
export function createSandboxWatch(sandbox: Sandbox, host: WorkspacePaths): Watch | undefined {
  const { limits, countKills } = sandbox;
  if (limits === undefined) return undefined;
  const shrink = createShrinking(sandbox, host, limits);
  return createWatch({ limits, folder: dirname(host.workspace), countKills, shrink });
}
