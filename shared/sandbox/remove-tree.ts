import { constants } from "node:fs";
import { chmod, type FileHandle, open, readdir, rename, rm, rmdir, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";

/** Opens a name without reading what it names; Node has no constant for it. */
const O_PATH = 0o10000000;
const OPEN_FLAGS = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** The most directories that are open at the same time; those below are moved up first. */
const MAX_DEPTH = 32;
/** Entries of a directory that are removed at the same time. */
const BATCH = 64;
/** How often a directory is emptied, to which a program may still add names. */
const MAX_TRIES = 5;

/**
 * Removes a file or a directory tree, even if commands removed its permissions, while programs of a run may still change it: each entry
 * is reached by the descriptor of its directory and one name, and no link is followed. So no path can become too long, and nobody can
 * direct the removal to other files by exchanging a directory for a link.
 * @param path its parent directory must be one that commands cannot replace. Nothing happens if there is no such path
 * @throws when something is left
 */
export async function removeTree(path: string): Promise<void> {
  // Other systems have no /proc, and no isolation boundary either.
  if (process.platform !== "linux") return await rm(path, { recursive: true, force: true });
  await using parent = await open(dirname(path), O_PATH | constants.O_DIRECTORY).catch(ignoreMissing);
  if (parent === undefined) return;
  for (let tries = 1; !(await removeEntry(parent, basename(path))); tries++) {
    if (tries === MAX_TRIES) throw new Error(`${path} could not be removed: programs still add files to it`);
  }
}

/** Returns false if the directory is not empty, since something was added to it in the meantime. */
async function removeEntry(parent: FileHandle, name: string): Promise<boolean> {
  if (await removeFile(parent, name)) return true;
  await using root = await openDirectory(parent, name);
  // It was replaced by a file or a link in the meantime.
  if (root === undefined) return false;
  const waiting = await empty(root, root, 0);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (await removeFile(root, next)) continue;
    await using directory = await openDirectory(root, next);
    if (directory === undefined) continue;
    waiting.push(...(await empty(directory, root, 0)));
    await removeDirectory(root, next);
  }
  return await removeDirectory(parent, name);
}

/** Empties a directory. Returns the names below `root` to which it has moved directories that were too deep. */
async function empty(directory: FileHandle, root: FileHandle, depth: number): Promise<string[]> {
  const names = await readdir(toPath(directory), { encoding: "buffer" });
  const directories: Buffer[] = [];
  for (let start = 0; start < names.length; start += BATCH) {
    const batch = names.slice(start, start + BATCH);
    // All of them have to end before the descriptor is closed, since its number may then be that of another directory.
    const removed = await Promise.allSettled(
      batch.map(async (name) => {
        if (!(await removeFile(directory, name))) directories.push(name);
      }),
    );
    for (const result of removed) if (result.status === "rejected") throw result.reason;
  }
  const moved: string[] = [];
  for (const name of directories) {
    await using below = await openDirectory(directory, name);
    if (below === undefined) continue;
    if (depth === MAX_DEPTH) {
      // Loading node:crypto takes milliseconds, and few trees are that deep.
      const flat = `.runyard-${process.getBuiltinModule("node:crypto").randomUUID()}`;
      await rename(toEntry(directory, name), toEntry(root, flat)).then(() => moved.push(flat), ignoreMissing);
    } else {
      moved.push(...(await empty(below, root, depth + 1)));
      await removeDirectory(directory, name);
    }
  }
  return moved;
}

/** Returns false if it is a directory. */
async function removeFile(directory: FileHandle, name: Name): Promise<boolean> {
  try {
    await unlink(toEntry(directory, name));
    return true;
  } catch (error) {
    const code = getErrorCode(error);
    if (code === "EISDIR") return false;
    if (code === "ENOENT") return true;
    throw error;
  }
}

/** Returns false if it is not empty, or no directory any longer. */
async function removeDirectory(directory: FileHandle, name: Name): Promise<boolean> {
  try {
    await rmdir(toEntry(directory, name));
    return true;
  } catch (error) {
    const code = getErrorCode(error);
    if (code === "ENOTEMPTY" || code === "ENOTDIR") return false;
    if (code === "ENOENT") return true;
    throw error;
  }
}

/** Opens a directory and makes it readable and writable for its owner. Returns undefined if it is none. */
async function openDirectory(directory: FileHandle, name: Name): Promise<FileHandle | undefined> {
  const opened = await open(toEntry(directory, name), OPEN_FLAGS).catch(ignoreMissing);
  if (opened === undefined) return undefined;
  try {
    const { mode } = await opened.stat();
    if ((mode & 0o700) !== 0o700) await chmod(toPath(opened), 0o700);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

type Name = string | Buffer;

/** The kernel resolves this path to the open directory itself, wherever it is now. */
const toPath = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

/** File names are bytes, which need not be UTF-8. */
const toEntry = (directory: FileHandle, name: Name): Buffer =>
  Buffer.concat([Buffer.from(`${toPath(directory)}/`), Buffer.from(name)]);

function ignoreMissing(error: unknown): undefined {
  const code = getErrorCode(error);
  if (code !== "ENOENT" && code !== "ENOTDIR" && code !== "ELOOP") throw error;
}

const getErrorCode = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);
