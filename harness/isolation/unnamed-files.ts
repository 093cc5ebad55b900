import { readlinkSync, type Stats, statSync } from "node:fs";
import { listProcEntries, readProcFile } from "./proc-files.ts";

/** The size of a block in file statistics, on every system. */
export const BLOCK_BYTES = 512;

/** Files without a name, which exist as long as a process has a descriptor or a mapping of them. */
export interface UnnamedFiles {
  /** Bytes of those in memory. */
  readonly memoryBytes: number;
  /** Bytes and number of those on a disk. */
  readonly unnamedBytes: number;
  readonly unnamedFiles: number;
  /**
   * Whether there may be more of them that nobody can measure: descriptors that wait in the queue of a socket, mappings of files that only
   * root may examine, or more descriptors than are examined.
   */
  readonly isHidden: boolean;
}

export const NO_UNNAMED_FILES: UnnamedFiles = { memoryBytes: 0, unnamedBytes: 0, unnamedFiles: 0, isHidden: false };

/** More descriptors and mappings than this are not examined: all are examined between two measurements of the machine. */
const MAX_EXAMINED = 20_000;

/**
 * Measures the files without a name that processes have open or mapped. The kernel's limit on the size of a file applies to each of them.
 * @param processes one living thread of each process
 * @param threads the threads whose descriptors are examined
 * @param enough what it stops after. @default all are measured
 * @param pause called again and again, because thousands of descriptors take long
 */
export function measureUnnamedFiles(
  processes: readonly string[],
  threads: readonly string[],
  enough?: Pick<UnnamedFiles, "unnamedBytes" | "unnamedFiles">,
  pause: () => void = () => {},
): UnnamedFiles {
  const use = { ...NO_UNNAMED_FILES };
  const seen = new Set<string>();
  let examined = 0;
  const add = ({ dev, ino, blocks }: Stats, isInMemory: () => boolean) => {
    if (seen.size === seen.add(`${dev}:${ino}`).size) return;
    if (isInMemory()) use.memoryBytes += blocks * BLOCK_BYTES;
    else {
      use.unnamedBytes += blocks * BLOCK_BYTES;
      use.unnamedFiles++;
    }
  };
  const isEnough = () =>
    enough !== undefined && (use.unnamedBytes > enough.unnamedBytes || use.unnamedFiles > enough.unnamedFiles);
  for (const thread of threads) {
    for (const descriptor of listProcEntries(`/proc/${thread}/fd`)) {
      if (++examined > MAX_EXAMINED) return { ...use, isHidden: true };
      if (isEnough()) return use;
      pause();
      const path = `/proc/${thread}/fd/${descriptor}`;
      const stats = readStats(path);
      if (stats?.isSocket()) use.isHidden ||= hasQueuedDescriptors(thread, descriptor);
      else if (stats?.nlink === 0) add(stats, () => IN_MEMORY.test(readTarget(path)));
    }
  }
  for (const process of processes) {
    for (const [, range = "", target = ""] of readProcFile(`/proc/${process}/maps`).matchAll(UNNAMED_MAPPING)) {
      if (++examined > MAX_EXAMINED) return { ...use, isHidden: true };
      if (isEnough()) return use;
      pause();
      const isInMemory = IN_MEMORY.test(target);
      try {
        const stats = statSync(`/proc/${process}/map_files/${range.replaceAll(LEADING_ZEROS, "")}`);
        if (stats.nlink === 0) add(stats, () => isInMemory);
      } catch (error) {
        // Only root may examine it. Memory that is mapped belongs to its process.
        if (!isInMemory && isForbidden(error)) use.isHidden = true;
      }
    }
  }
  return use;
}

/** What the kernel calls files that lie in memory. */
const IN_MEMORY = /^\/(?:memfd:|SYSV|dev\/zero\b)/;
/** A line of /proc/PID/maps: its range of addresses and its file, which is gone. */
const UNNAMED_MAPPING = /^([\da-f]+-[\da-f]+) (?:\S+ +){4}(\/.*) \(deleted\)$/gm;
/** Addresses have eight digits at least there, and as many as they need in /proc/PID/map_files. */
const LEADING_ZEROS = /\b0+(?=[\da-f])/g;

function readStats(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    // The file was closed in the meantime.
    return undefined;
  }
}

/** The name of a file is longer than a path where its directories are deeper: such a file is on a disk. */
function readTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

const isForbidden = (error: unknown): boolean =>
  error instanceof Error && "code" in error && ["EPERM", "EACCES"].includes(String(error.code));

/** Whether descriptors that were sent to a socket wait there (unix(7)): those that no process may have otherwise. */
const hasQueuedDescriptors = (thread: string, descriptor: string): boolean =>
  /^scm_fds:\s*[1-9]/m.test(readProcFile(`/proc/${thread}/fdinfo/${descriptor}`));
