import { constants, type Dirent } from "node:fs";
import { type FileHandle, open, readdir, readlink, realpath } from "node:fs/promises";
import { sep } from "node:path";

/** An open file, which stays the same even if its name is replaced. */
export interface InsideFile extends AsyncDisposable {
  /** A path that is valid while the file is open. */
  readonly path: string;
  readonly sizeBytes: number;
}

/**
 * Opens a regular file below a directory that commands can write. A program of the run could replace the name by a link to a file of the
 * host between a check and the opening, so the location of the opened file is checked.
 * @param root a directory that commands cannot replace
 * @throws when it is not a regular file, or not below `root`
 */
export async function openInside(root: string, path: string): Promise<InsideFile> {
  // Without O_NONBLOCK, opening a pipe blocks until it has a writer.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
    await requireInside(root, path, handle);
    return {
      path: process.platform === "linux" ? toDescriptorPath(handle) : path,
      sizeBytes: stats.size,
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Lists a directory below one that commands can write, as `openInside` opens a file.
 * @throws when it is not a directory, or not below `root`
 */
export async function listInside(root: string, path: string): Promise<Dirent[]> {
  await using handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_DIRECTORY);
  await requireInside(root, path, handle);
  return await readdir(process.platform === "linux" ? toDescriptorPath(handle) : path, { withFileTypes: true });
}

async function requireInside(root: string, path: string, handle: FileHandle): Promise<void> {
  const place = await locate(handle, path);
  if (!place.startsWith((await realpath(root)) + sep)) throw new Error(`${path} leads out of its directory`);
}

const toDescriptorPath = (handle: FileHandle): string => `/proc/self/fd/${handle.fd}`;

/** Systems other than Linux have no bubblewrap, so commands can read every file that the harness can. */
const locate = (handle: FileHandle, path: string): Promise<string> =>
  process.platform === "linux" ? readlink(toDescriptorPath(handle)) : realpath(path);
