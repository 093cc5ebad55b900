import { stat, statfs } from "node:fs/promises";
import path from "node:path";
import { listFiles } from "../transfer/copy-tree.ts";
import { formatBytes } from "./format-bytes.ts";

/** The share of the disk that the data may use by default. */
const DEFAULT_SHARE = 0.8;
/** New work is refused while less than this is free, so that executing runs can end. */
const MIN_FREE_BYTES = 100 * 1024 ** 2;

/** An installation's use of its disk and its limit, in bytes. */
export interface DiskUse {
  readonly database: number;
  readonly files: number;
  readonly limit: number;
  /** Free space of the disk. */
  readonly free: number;
}

/** Measures a data directory. Its files may be many, so their size can be given. */
export async function measureDisk(
  directory: string,
  maxBytes: number | undefined,
  filesBytes?: number,
): Promise<DiskUse> {
  const { bavail, bsize, blocks } = await statfs(directory);
  const parts = await Promise.all(
    ["", "-wal"].map((suffix) => measureSize(path.join(directory, `runyard.db${suffix}`))),
  );
  return {
    database: parts.reduce((total, size) => total + size, 0),
    files: filesBytes ?? (await measureFiles(path.join(directory, "files"))),
    limit: maxBytes ?? Math.floor(DEFAULT_SHARE * blocks * bsize),
    free: bavail * bsize,
  };
}

/**
 * Limits what an installation uses of its disk. Only what starts new work is refused: executions that are under way may store their
 * results, so that nothing is lost when the limit is reached.
 */
export class DiskBudget {
  readonly #directory: string;
  readonly #maxBytes: number | undefined;
  #use: DiskUse | undefined;

  constructor(directory: string, maxBytes: number | undefined) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
  }

  /** Measures the database and the free space; and the size of all files, which is kept up to date by `add`. */
  async measureAll(): Promise<void> {
    this.#use = await measureDisk(this.#directory, this.#maxBytes);
  }

  /** Measures the database and the free space. */
  async measure(): Promise<void> {
    const measured = await measureDisk(this.#directory, this.#maxBytes, 0);
    this.#use = { ...measured, files: this.#use?.files ?? 0 };
  }

  /** Notes that a file was stored. */
  add(bytes: number): void {
    if (this.#use === undefined) return;
    const { files, free } = this.#use;
    this.#use = { ...this.#use, files: files + bytes, free: free - bytes };
  }

  /** Says why there is no room for new data of a size; undefined if there is room. */
  findShortage(bytes = 0): string | undefined {
    if (this.#use === undefined) return undefined;
    const { database, files, limit, free } = this.#use;
    if (database + files + bytes >= limit) {
      return `the data of the server has reached its limit of ${formatBytes(limit)}; its operator can raise --max-disk or free space`;
    }
    if (free - bytes < MIN_FREE_BYTES) return "the disk of the server is almost full; its operator has to free space";
    return undefined;
  }
}

const measureSize = (file: string): Promise<number> =>
  stat(file).then(
    ({ size }) => size,
    // A file that is missing or was deleted meanwhile.
    () => 0,
  );

/** Adds up the sizes of the files below a directory; 0 if it does not exist. */
export async function measureFiles(directory: string): Promise<number> {
  let bytes = 0;
  for await (const file of listFiles(directory)) bytes += await measureSize(path.join(directory, file));
  return bytes;
}
