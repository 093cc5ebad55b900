import { constants } from "node:fs";
import { copyFile, mkdir, open, opendir } from "node:fs/promises";
import path from "node:path";

/** The files below a directory, as paths relative to it; none if it does not exist. */
export async function* listFiles(directory: string, below = ""): AsyncGenerator<string> {
  const entries = await opendir(path.join(directory, below)).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  for await (const entry of entries ?? []) {
    const file = path.join(below, entry.name);
    if (entry.isDirectory()) yield* listFiles(directory, file);
    else if (entry.isFile()) yield file;
  }
}

/** Copies the files below a directory, readable by their owner only, and syncs them. Resolves with their number and size. */
export async function copyTree(from: string, to: string): Promise<{ readonly files: number; readonly bytes: number }> {
  let [files, bytes] = [0, 0];
  await mkdir(to, { recursive: true, mode: 0o700 });
  for await (const file of listFiles(from)) {
    const size = await copySynced(path.join(from, file), path.join(to, file));
    // A file that expired meanwhile is not copied.
    if (size === undefined) continue;
    files++;
    bytes += size;
  }
  return { files, bytes };
}

/** Copies a file and syncs it. Resolves with its size; undefined if it does not exist. */
export async function copySynced(from: string, to: string): Promise<number | undefined> {
  await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  const handle = await open(to, "r+");
  try {
    await handle.chmod(0o600);
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";
