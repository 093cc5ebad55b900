import { createHash, type Hash, randomUUID } from "node:crypto";
import { constants, existsSync, mkdirSync, renameSync } from "node:fs";
import { access, copyFile, type FileHandle, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import path from "node:path";
import { syncPath } from "../disk/sync-path.ts";
import { keyToPath, prefixToPath, toDirectoryName } from "./key-path.ts";

/** A file that is open for reading. */
export interface OpenFile {
  readonly handle: FileHandle;
  readonly size: number;
  readonly modifiedAt: number;
}

/** What limits the size of all files. */
export interface FileBudget {
  /** Says why there is no room for a file of a size; undefined if there is room. */
  findShortage(bytes?: number): string | undefined;
  add(bytes: number): void;
}

const UNLIMITED: FileBudget = { findShortage: () => undefined, add: () => undefined };

/** Files in a directory. Writes are atomic: a file is visible under its key only when it is complete and on the disk. */
export class DiskFiles {
  readonly #objects: string;
  readonly #temporary: string;
  readonly budget: FileBudget;

  private constructor(directory: string, budget: FileBudget) {
    this.budget = budget;
    this.#objects = path.join(directory, "objects");
    this.#temporary = path.join(directory, "incomplete");
  }

  /** Opens or creates a directory that only the owner can access. Deletes the incomplete files of a previous process. */
  static async open(directory: string, budget = UNLIMITED): Promise<DiskFiles> {
    const files = new DiskFiles(directory, budget);
    await rm(files.#temporary, { recursive: true, force: true });
    await mkdir(files.#objects, { recursive: true, mode: 0o700 });
    await mkdir(files.#temporary, { recursive: true, mode: 0o700 });
    await syncPath(directory);
    return files;
  }

  /** Returns the path of a key's file. */
  toPath = (key: string): string => path.join(this.#objects, keyToPath(key));

  /** @throws if files can no longer be read and written */
  async checkAccess(): Promise<void> {
    await access(this.#objects, constants.R_OK | constants.W_OK | constants.X_OK);
  }

  /** Returns the directory of the keys with a prefix that ends with `/`. */
  toDirectory = (prefix: string): string => path.join(this.#objects, prefixToPath(prefix));

  async size(key: string): Promise<number | undefined> {
    return (await orMissing(stat(this.toPath(key))))?.size;
  }

  read = (key: string): Promise<Uint8Array | undefined> => orMissing(readFile(this.toPath(key)));

  /** Opens a file for reading; the caller closes the handle. */
  async openFile(key: string): Promise<OpenFile | undefined> {
    const handle = await orMissing(open(this.toPath(key), constants.O_RDONLY | constants.O_NOFOLLOW));
    if (handle === undefined) return undefined;
    const { size, mtimeMs } = await handle.stat();
    return { handle, size, modifiedAt: mtimeMs };
  }

  /** Creates a temporary file; the caller keeps or discards it. */
  async begin(): Promise<IncompleteFile> {
    const file = this.#newTemporary();
    return new IncompleteFile(file, await open(file, "wx", 0o600), this);
  }

  /** Copies a file, replacing an existing one. */
  async copy(from: string, to: string): Promise<void> {
    const file = this.#newTemporary();
    try {
      await copyFile(this.toPath(from), file, constants.COPYFILE_FICLONE);
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

  /** Moves a complete file to its key. Returns false if the key exists and `replaces` is false. */
  async place(file: string, key: string, { replaces }: { replaces: boolean }): Promise<boolean> {
    const target = this.toPath(key);
    const directory = path.dirname(target);
    // Synchronous calls, so that no other write and no deletion of a directory can happen in between.
    const firstNew = mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (!replaces && existsSync(target)) return false;
    renameSync(file, target);
    await syncUpTo(directory, firstNew === undefined ? directory : path.dirname(firstNew));
    return true;
  }

  remove = (key: string): Promise<void> => rm(this.toPath(key), { force: true });

  removeAll = (prefix: string, kept: readonly string[] = []): Promise<void> =>
    removeExcept(this.toDirectory(prefix), new Set(kept.map(toDirectoryName)));

  #newTemporary = (): string => path.join(this.#temporary, randomUUID());
}

/** Deletes a directory and what is in it, except directories with one of these names. */
async function removeExcept(directory: string, names: ReadonlySet<string>): Promise<void> {
  if (names.size === 0) return rm(directory, { recursive: true, force: true });
  for (const entry of (await orMissing(readdir(directory, { withFileTypes: true }))) ?? []) {
    if (entry.isDirectory() && names.has(entry.name)) continue;
    const inside = path.join(directory, entry.name);
    await (entry.isDirectory() ? removeExcept(inside, names) : rm(inside, { force: true }));
  }
}

/** A temporary file that is being written, with its digest. */
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

  /** Returns the SHA-256 of the content in Base64. Can be called once. */
  digest = (): string => this.#hash.digest("base64");

  /** Moves the file to its key. Returns false, and deletes the file, if the key exists and `replaces` is false. */
  async keep(key: string, how: { replaces: boolean }): Promise<boolean> {
    try {
      await this.#handle.sync();
      const isKept = await this.#files.place(this.#path, key, how);
      if (isKept) this.#files.budget.add(this.#bytes);
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

/** Resolves with undefined if the file does not exist. */
async function orMissing<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return undefined;
    throw error;
  }
}

/** Syncs a directory and its parents up to `last`. */
async function syncUpTo(directory: string, last: string): Promise<void> {
  await syncPath(directory);
  if (directory !== last && directory !== path.dirname(directory)) await syncUpTo(path.dirname(directory), last);
}
