import { createHash, type Hash, randomUUID } from "node:crypto";
import { constants, existsSync, mkdirSync, renameSync } from "node:fs";
import { copyFile, type FileHandle, mkdir, open, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { keyToPath, prefixToPath } from "./key-path.ts";

/** A file that is open for reading. */
export interface OpenFile {
  readonly handle: FileHandle;
  readonly size: number;
  readonly modifiedAt: number;
}

/** The files of runs in a directory. A file appears under its key complete and on the disk, or not at all. */
export class DiskFiles {
  readonly #objects: string;
  readonly #temporary: string;

  private constructor(directory: string) {
    this.#objects = path.join(directory, "objects");
    this.#temporary = path.join(directory, "incomplete");
  }

  /** Opens a directory, or makes it for its owner alone. What was incomplete when the process before ended is deleted. */
  static async open(directory: string): Promise<DiskFiles> {
    const files = new DiskFiles(directory);
    await rm(files.#temporary, { recursive: true, force: true });
    await mkdir(files.#objects, { recursive: true, mode: 0o700 });
    await mkdir(files.#temporary, { recursive: true, mode: 0o700 });
    await syncDirectory(directory);
    return files;
  }

  /** Where a key's file is, or would be. */
  pathOf = (key: string): string => path.join(this.#objects, keyToPath(key));

  /** The directory of the files whose keys begin with `prefix`, which ends with `/`. */
  directoryOf = (prefix: string): string => path.join(this.#objects, prefixToPath(prefix));

  async size(key: string): Promise<number | undefined> {
    return (await orMissing(stat(this.pathOf(key))))?.size;
  }

  read = (key: string): Promise<Uint8Array | undefined> => orMissing(readFile(this.pathOf(key)));

  /** Whoever opens a file closes it. */
  async openFile(key: string): Promise<OpenFile | undefined> {
    const handle = await orMissing(open(this.pathOf(key), constants.O_RDONLY | constants.O_NOFOLLOW));
    if (handle === undefined) return undefined;
    const { size, mtimeMs } = await handle.stat();
    return { handle, size, modifiedAt: mtimeMs };
  }

  /** Begins a file that has no key yet. Whoever begins one keeps or discards it. */
  async begin(): Promise<IncompleteFile> {
    const file = this.#newTemporary();
    return new IncompleteFile(file, await open(file, "wx", 0o600), this);
  }

  /** Makes a second file of one that is there, in the place of what may be there. */
  async copy(from: string, to: string): Promise<void> {
    const file = this.#newTemporary();
    try {
      await copyFile(this.pathOf(from), file, constants.COPYFILE_FICLONE);
      const handle = await open(file, "r+");
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
      await this.place(file, to, { replaces: true });
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    }
  }

  /** Gives a complete file its key. False where there is a file already, unless it `replaces` that. */
  async place(file: string, key: string, { replaces }: { replaces: boolean }): Promise<boolean> {
    const target = this.pathOf(key);
    const directory = path.dirname(target);
    // Nothing comes between these calls: this process alone writes here, and deletes directories by calls like them.
    const made = mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (!replaces && existsSync(target)) return false;
    renameSync(file, target);
    await syncUpTo(directory, made === undefined ? directory : path.dirname(made));
    return true;
  }

  #newTemporary = (): string => path.join(this.#temporary, randomUUID());
}

/** A file that is being written, with the digest of what was written. */
class IncompleteFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #files: DiskFiles;
  readonly #hash: Hash = createHash("sha256");
  #bytes = 0;

  constructor(file: string, handle: FileHandle, files: DiskFiles) {
    this.#path = file;
    this.#handle = handle;
    this.#files = files;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#bytes += chunk.length;
    this.#hash.update(chunk);
    await this.#handle.writeFile(chunk);
  }

  /** The SHA-256 of all that was written, in Base64. To be asked once. */
  digest = (): string => this.#hash.digest("base64");

  /** Gives the file its key. False, and the file is gone, where there is one already that it does not replace. */
  async keep(key: string, how: { replaces: boolean }): Promise<boolean> {
    try {
      await this.#handle.sync();
      const isKept = await this.#files.place(this.#path, key, how);
      await this.#handle.close();
      if (!isKept) await rm(this.#path, { force: true });
      return isKept;
    } catch (error) {
      await this.discard();
      throw error;
    }
  }

  async discard(): Promise<void> {
    await this.#handle.close();
    await rm(this.#path, { force: true });
  }
}

export type { IncompleteFile };

/** What a promise resolves with, or undefined where there is no such file. */
async function orMissing<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return undefined;
    throw error;
  }
}

/** Brings the entries of a directory to the disk, and those of its parents up to `last`. */
async function syncUpTo(directory: string, last: string): Promise<void> {
  await syncDirectory(directory);
  if (directory !== last && directory !== path.dirname(directory)) await syncUpTo(path.dirname(directory), last);
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
