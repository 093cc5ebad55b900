import { constants, readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from "node:fs";
import { lstat, open, opendir } from "node:fs/promises";
import { join } from "node:path";
import { readProcFile } from "./proc-files.ts";

/** The resources of the whole machine. Measuring them takes microseconds. */
export interface Machine {
  /** Bytes of memory in total and available. */
  readonly memoryBytes: number;
  readonly availableBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
  /** Free bytes and files on the disk of the run. */
  readonly diskBytes: number;
  readonly files: number;
}

/** @param folder a directory on the disk to measure */
export function measureMachine(folder: string): Machine {
  const memory = readFileSync("/proc/meminfo", "latin1");
  const { bavail, bsize, ffree } = statfsSync(folder);
  return {
    memoryBytes: parseKibibytes(memory, "MemTotal"),
    availableBytes: parseKibibytes(memory, "MemAvailable"),
    tasks: Number(/\/(\d+)/.exec(readFileSync("/proc/loadavg", "latin1"))?.[1] ?? 0),
    diskBytes: bavail * bsize,
    files: ffree,
  };
}

/** The resources that a process tree uses. */
export interface TreeUse {
  /** Processes and threads. */
  readonly tasks: number;
  readonly memoryBytes: number;
  /** Bytes of deleted files that are still open. */
  readonly unnamedBytes: number;
}

/**
 * Measures processes and their descendants. Memory that forked processes share counts once. Stops at more than `maxTasks` tasks.
 * @param roots the roots of the trees
 */
export function measureTrees(roots: readonly number[], maxTasks: number, enoughMemory: number): TreeUse {
  const { processes, tasks } = listTrees(roots, maxTasks);
  if (tasks > maxTasks) return { tasks, memoryBytes: 0, unnamedBytes: 0 };
  // This sum counts shared pages several times. If it is small it is enough; the exact sum is slow.
  const resident = processes.reduce((sum, process) => sum + residentBytes(process), 0);
  const unnamed = measureUnnamedFiles(processes);
  const memoryBytes =
    resident + unnamed.memory <= enoughMemory
      ? resident
      : processes.reduce(
          (sum, process) => sum + parseKibibytes(readProcFile(`/proc/${process}/smaps_rollup`), "Pss"),
          0,
        );
  return { tasks, memoryBytes: Math.max(memoryBytes, unnamed.memory), unnamedBytes: unnamed.disk };
}

/** Lists processes and their descendants, parents first, and counts their threads. Stops at more than `maxTasks` threads. */
export function listTrees(roots: readonly number[], maxTasks = Number.POSITIVE_INFINITY) {
  const processes: number[] = [];
  const waiting = [...roots];
  let tasks = 0;
  for (let next = waiting.pop(); next !== undefined && tasks <= maxTasks; next = waiting.pop()) {
    processes.push(next);
    const threads = listEntries(`/proc/${next}/task`);
    tasks += threads.length;
    for (const thread of threads) {
      const children = readProcFile(`/proc/${next}/task/${thread}/children`).trim();
      if (children !== "") waiting.push(...children.split(" ").map(Number));
    }
  }
  return { processes, tasks };
}

const PAGE_BYTES = 4096;
/** The size of a block in file statistics, on every system. */
const BLOCK_BYTES = 512;
const residentBytes = (pid: number): number =>
  Number(readProcFile(`/proc/${pid}/statm`).split(" ")[1] ?? 0) * PAGE_BYTES;

/** Measures the deleted files that these processes have open, in memory and on disk. */
function measureUnnamedFiles(processes: readonly number[]): { memory: number; disk: number } {
  const seen = new Set<string>();
  const bytes = { memory: 0, disk: 0 };
  for (const pid of processes) {
    for (const descriptor of listEntries(`/proc/${pid}/fd`)) {
      const path = `/proc/${pid}/fd/${descriptor}`;
      try {
        const target = readlinkSync(path);
        if (!target.endsWith(" (deleted)")) continue;
        const { dev, ino, blocks, nlink } = statSync(path);
        if (nlink > 0 || seen.has(`${dev}:${ino}`)) continue;
        seen.add(`${dev}:${ino}`);
        bytes[target.startsWith("/memfd:") ? "memory" : "disk"] += blocks * BLOCK_BYTES;
      } catch {
        // The file was closed in the meantime.
      }
    }
  }
  return bytes;
}

/** Paths below a directory that are longer than this, in bytes, are measured from a descriptor of their directory. */
const LONG_PATH = 2_000;
/** How many such descriptors lie below each other at most. */
const MAX_DESCRIPTORS = 250;

/**
 * Measures the disk usage and the number of files below a directory, however deep its directories are. Stops at more than `maxFiles`; paths
 * of half a megabyte, which cannot be measured, count as more.
 */
export async function measureFiles(folder: string, maxFiles: number): Promise<{ bytes: number; files: number }> {
  const total = { bytes: 0, files: 0 };
  const linked = new Set<number>();
  const measureBelow = async (root: string, depth: number): Promise<void> => {
    const waiting = [root];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (next.length > root.length + LONG_PATH) {
        if (depth === MAX_DESCRIPTORS) total.files = maxFiles + 1;
        else await measureFromDescriptor(next, depth + 1);
      } else {
        waiting.push(...(await measureDirectory(next)));
      }
      if (total.files > maxFiles) return;
    }
  };
  const measureFromDescriptor = async (path: string, depth: number): Promise<void> => {
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    await using directory = await open(toBytes(path), flags).catch(() => undefined);
    if (directory !== undefined) await measureBelow(`/proc/self/fd/${directory.fd}/`, depth);
  };
  /** Returns the directories in it. */
  const measureDirectory = async (path: string): Promise<string[]> => {
    const directories: string[] = [];
    try {
      for await (const entry of await opendir(toBytes(path), { encoding: "latin1" })) {
        if (++total.files > maxFiles) return [];
        const below = join(path, entry.name);
        if (entry.isDirectory()) directories.push(below);
        const stats = await lstat(toBytes(below)).catch(() => undefined);
        // It was removed in the meantime.
        if (stats === undefined) continue;
        const { blocks, nlink, ino } = stats;
        if (nlink > 1 && !entry.isDirectory() && linked.size === linked.add(ino).size) continue;
        total.bytes += blocks * BLOCK_BYTES;
      }
    } catch {
      // The directory is gone, or a command removed its read permission. The measures of the machine still include it.
    }
    return directories;
  };
  await measureBelow(Buffer.from(folder).toString("latin1"), 0);
  return total;
}

/** File names are bytes, which need not be UTF-8: each character of such a path is one of them. */
const toBytes = (path: string): Buffer => Buffer.from(path, "latin1");

function parseKibibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1] ?? 0) * 1024;
}

function listEntries(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
