import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath } from "node:fs/promises";
import { sep } from "node:path";

/** A file that stays the one that it was when it was opened, whatever becomes of its name. */
export interface InsideFile extends AsyncDisposable {
  /** Leads to it as long as it is open. */
  readonly path: string;
  readonly sizeBytes: number;
}

/**
 * Opens a regular file below a directory in which commands can write. Programs of the run may be at work meanwhile, so its name
 * could be swapped for a link to the host's files between a look and an opening: what counts is where the opened file is.
 * @param root a directory that commands cannot replace
 * @throws where it is no regular file, or not below `root`
 */
export async function openInside(root: string, path: string): Promise<InsideFile> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  // A pipe without a writer would hold whoever opens it.
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error(`${path} is no file`);
    const place = await locate(handle, path);
    if (!place.startsWith((await realpath(root)) + sep)) throw new Error(`${path} is not where it seems to be`);
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

const toDescriptorPath = (handle: FileHandle): string => `/proc/self/fd/${handle.fd}`;

/** Other systems than Linux have no bubblewrap either: there, commands can read what the harness can. */
const locate = (handle: FileHandle, path: string): Promise<string> =>
  process.platform === "linux" ? readlink(toDescriptorPath(handle)) : realpath(path);
