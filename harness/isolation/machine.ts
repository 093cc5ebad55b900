import { constants, lstatSync, opendirSync, readFileSync, statfsSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { listProcEntries, readProcFile } from "./proc-files.ts";
import { BLOCK_BYTES, measureUnnamedFiles, NO_UNNAMED_FILES, type UnnamedFiles } from "./unnamed-files.ts";

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

/** How much a run's files may take. */
export interface FileLimits {
  readonly diskBytes: number;
  readonly files: number;
}

type MeasureDisk = (folder: string) => Readonly<Record<"blocks" | "bsize" | "files" | "bfree" | "bavail", number>>;

/** By how much the kernel may let the files of a run exceed a limit, which the harness then still measures. */
const TOLERANCE = 1.1;

/**
 * Finds which limits of a run's files the kernel holds: those that the whole file system of its directory does not exceed by more than a
 * tenth, because the operator of the machine has made it so small.
 */
export function findLimitedFiles(
  folder: string,
  limits: FileLimits,
  measure: (folder: string) => Pick<ReturnType<MeasureDisk>, "blocks" | "bsize" | "files"> = statfsSync,
): ("disk" | "files")[] {
  const { blocks, bsize, files } = measure(folder);
  return [
    ...(blocks * bsize <= limits.diskBytes * TOLERANCE ? (["disk"] as const) : []),
    // Some file systems do not limit the number of files, and have none in total.
    ...(files > 0 && files <= limits.files * TOLERANCE ? (["files"] as const) : []),
  ];
}

/** The share of a file system at which it counts as full: the file system needs some for itself, and the harness for what it writes. */
const FULL_SHARE = 0.95;

/** Finds at how many bytes and files the files of a run exceed their limits, or their file system is full, in which nobody could go on. */
export function limitToDisk(folder: string, limits: FileLimits, measure: MeasureDisk = statfsSync): FileLimits {
  const { blocks, bfree, bavail, bsize, files } = measure(folder);
  // Free blocks that are not available are the file system's own.
  const usable = (blocks - bfree + bavail) * bsize;
  return {
    diskBytes: Math.min(limits.diskBytes, Math.floor(usable * FULL_SHARE)),
    files: files > 0 ? Math.min(limits.files, Math.floor(files * FULL_SHARE)) : limits.files,
  };
}

/** The resources that a process tree uses. */
export interface TreeUse extends Pick<UnnamedFiles, "unnamedBytes" | "unnamedFiles" | "isHidden"> {
  /** Processes and threads. */
  readonly tasks: number;
  readonly memoryBytes: number;
}

/**
 * Measures processes and their descendants. Memory that forked processes share counts once. Stops at more than `maxTasks` tasks.
 * @param roots the roots of the trees
 * @param files whose descriptors are read: those of threads may differ from those of their process. Reading thousands takes much longer than
 * all else
 * @param pause called again and again meanwhile
 */
export function measureTrees(
  roots: readonly number[],
  maxTasks: number,
  enoughMemory: number,
  files: "none" | "processes" | "threads" = "processes",
  pause: () => void = () => {},
): TreeUse {
  const { threads, tasks } = listTrees(roots, maxTasks);
  if (tasks > maxTasks) return { tasks, ...NO_UNNAMED_FILES };
  const processes = threads.map(chooseThread);
  // This sum counts shared pages several times. If it is small it is enough; the exact sum is slow.
  const resident = processes.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
  const alive = processes.map(({ id }) => id);
  const unnamed =
    files === "none"
      ? NO_UNNAMED_FILES
      : measureUnnamedFiles(alive, files === "threads" ? threads.flat() : alive, undefined, pause);
  if (resident + unnamed.memoryBytes <= enoughMemory)
    return { ...unnamed, tasks, memoryBytes: Math.max(resident, unnamed.memoryBytes) };
  const shares = alive.map((id) => {
    pause();
    return readProcFile(`/proc/${id}/smaps_rollup`);
  });
  const add = (name: string) => shares.reduce((sum, share) => sum + parseKibibytes(share, name), 0);
  const shared = add("Pss_Shmem");
  // Files in memory that are mapped are among both.
  return { ...unnamed, tasks, memoryBytes: add("Pss") - shared + Math.max(shared, unnamed.memoryBytes) };
}

/**
 * Measures the files without a name that processes and their descendants have, of each thread. Stops at more than `maxTasks` tasks, which
 * have none then, and at more than `enough`.
 */
export function measureUnnamed(
  roots: readonly number[],
  maxTasks: number,
  enough: Pick<UnnamedFiles, "unnamedBytes" | "unnamedFiles">,
): UnnamedFiles {
  const { threads, tasks } = listTrees(roots, maxTasks);
  if (tasks > maxTasks) return NO_UNNAMED_FILES;
  const alive = threads.map((own) => chooseThread(own).id);
  return measureUnnamedFiles(alive, threads.flat(), enough);
}

/** Lists processes and their descendants, parents first, and counts their threads. Stops at more than `maxTasks` threads. */
export function listTrees(roots: readonly number[], maxTasks = Number.POSITIVE_INFINITY) {
  const processes: number[] = [];
  const threads: (readonly string[])[] = [];
  const waiting = [...roots];
  let tasks = 0;
  for (let next = waiting.pop(); next !== undefined && tasks <= maxTasks; next = waiting.pop()) {
    processes.push(next);
    const own = listProcEntries(`/proc/${next}/task`);
    threads.push(own);
    tasks += own.length;
    for (const thread of own) {
      const children = readProcFile(`/proc/${next}/task/${thread}/children`).trim();
      if (children !== "") waiting.push(...children.split(" ").map(Number));
    }
  }
  return { processes, threads, tasks };
}

const PAGE_BYTES = 4096;

/** Chooses the thread that shows what its process uses: where the first one has ended and others go on, the kernel shows nothing for it. */
function chooseThread(threads: readonly string[]): { id: string; residentBytes: number } {
  for (const id of threads) {
    const residentBytes = Number(readProcFile(`/proc/${id}/statm`).split(" ")[1] ?? 0) * PAGE_BYTES;
    if (residentBytes > 0) return { id, residentBytes };
  }
  return { id: threads[0] ?? "", residentBytes: 0 };
}

/**
 * Paths with more names than this below a directory are measured from a descriptor of their directory: the kernel looks up each name of a
 * path, in the deepest directories a thousand for each file. Names have 255 bytes at most, so that no path becomes too long.
 */
const LONG_PATH = 14;
/** Synchronous calls are several times as fast as others. They are made for so long at once. */
const SLICE_MS = 10;
/** How many such descriptors lie below each other at most. */
const MAX_DESCRIPTORS = 250;

interface Directory {
  readonly path: string;
  /** How many names its path has below the descriptor, or the directory that is measured. */
  readonly names: number;
}

/**
 * Measures the disk usage and the number of files below a directory, however deep its directories are. Stops at more than `maxFiles`; trees
 * of 3,700 levels, which cannot be measured, count as more. `isHidden` says that a directory could not be read.
 */
export async function measureFiles(folder: string, maxFiles: number) {
  const total = { bytes: 0, files: 0, isHidden: false };
  const linked = new Set<number>();
  /** What is gone uses nothing. A command can remove the permission to read what is there. */
  const noteHidden = (error: unknown): undefined => {
    if (!isMissing(error)) total.isHidden = true;
  };
  let sliceEndsAt = performance.now() + SLICE_MS;
  const measureBelow = async (root: string, depth: number): Promise<void> => {
    const waiting: Directory[] = [{ path: root, names: 0 }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (next.names > LONG_PATH) {
        if (depth === MAX_DESCRIPTORS) total.files = maxFiles + 1;
        else await measureFromDescriptor(next.path, depth + 1);
      } else {
        await measureDirectory(next, waiting);
      }
      if (total.files > maxFiles) return;
    }
  };
  const measureFromDescriptor = async (path: string, depth: number): Promise<void> => {
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    await using directory = await open(toBytes(path), flags).catch(noteHidden);
    if (directory !== undefined) await measureBelow(`/proc/self/fd/${directory.fd}/`, depth);
  };
  /** @param waiting gets the directories in it */
  const measureDirectory = async ({ path, names }: Directory, waiting: Directory[]): Promise<void> => {
    try {
      using directory = opendirSync(toBytes(path), { encoding: "latin1" });
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
        if (++total.files > maxFiles) return;
        const below = join(path, entry.name);
        if (entry.isDirectory()) waiting.push({ path: below, names: names + 1 });
        addFile(below, entry.isDirectory());
        if (performance.now() < sliceEndsAt) continue;
        await setImmediate();
        sliceEndsAt = performance.now() + SLICE_MS;
      }
    } catch (error) {
      noteHidden(error);
    }
  };
  const addFile = (path: string, isDirectory: boolean): void => {
    try {
      const { blocks, nlink, ino } = lstatSync(toBytes(path));
      if (nlink > 1 && !isDirectory && linked.size === linked.add(ino).size) return;
      total.bytes += blocks * BLOCK_BYTES;
    } catch (error) {
      noteHidden(error);
    }
  };
  await measureBelow(Buffer.from(folder).toString("latin1"), 0);
  return total;
}

/** Whether a file is gone, or was exchanged for one of another kind. */
const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["ENOENT", "ENOTDIR", "ELOOP"].includes(String(error.code));

/** File names are bytes, which need not be UTF-8: each character of such a path is one of them. */
const toBytes = (path: string): Buffer => Buffer.from(path, "latin1");

function parseKibibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1] ?? 0) * 1024;
}
