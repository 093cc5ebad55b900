import { lstat, mkdir, mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { syncPath } from "../disk/sync-path.ts";
import { lastLines, runCommand } from "../host/commands.ts";
import { Problem } from "../host/terminal.ts";

const TAR_SECONDS = 24 * 3600;
const isArchive = (file: string): boolean => /\.(tar|tar\.gz|tgz)$/.test(file);

/**
 * Lets `write` fill a new directory and then makes it visible under its name: as the directory, or as an archive if the name ends
 * in .tar, .tar.gz or .tgz. Nothing remains of a failed attempt.
 * @throws Problem if there is something with that name
 */
export async function writeDestination<T>(to: string, write: (directory: string) => Promise<T>): Promise<T> {
  const target = path.resolve(to);
  if ((await lstat(target).catch(() => undefined)) !== undefined) throw new Problem(`${to} exists already.`);
  const partial = `${target}.partial`;
  await mkdir(partial, { mode: 0o700 }).catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EEXIST") throw new Problem(`${partial} is left over from another attempt: remove it first.`);
    throw new Problem(`${partial} cannot be created: ${error instanceof Error ? error.message : String(error)}.`);
  });
  try {
    const result = await write(partial);
    if (isArchive(target)) await pack(partial, target);
    else await rename(partial, target);
    await syncPath(path.dirname(target));
    return result;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Calls `read` with a directory: `from` itself, or what the archive `from` contains. */
export async function readSource<T>(from: string, read: (directory: string) => Promise<T>): Promise<T> {
  const source = path.resolve(from);
  const found = await lstat(source).catch(() => undefined);
  if (found === undefined) throw new Problem(`${from} does not exist, or cannot be read.`);
  if (found.isDirectory()) return read(source);
  if (!found.isFile() || !isArchive(source)) throw new Problem(`${from} is neither a directory nor a tar archive.`);
  const scratch = await mkdtemp(path.join(tmpdir(), "runyard-"));
  try {
    await tar(["-xf", source, "-C", scratch]);
    return await read(scratch);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem(error.message.replaceAll(scratch, from), error.details);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Accepts an empty directory and one that does not exist. @throws Problem if it contains anything */
export async function throwIfNotEmpty(directory: string, remedy: string): Promise<void> {
  const [first] = await readdir(directory).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  });
  if (first !== undefined) throw new Problem(`${directory} is not empty: it contains ${first}.`, [remedy]);
}

async function pack(directory: string, target: string): Promise<void> {
  const draft = `${target}.partial.tar`;
  try {
    // The file has its rights before it has any content.
    await (await open(draft, "w", 0o600)).close();
    await tar([target.endsWith(".tar") ? "-cf" : "-czf", draft, "-C", directory, "."]);
    await syncPath(draft);
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
}

async function tar(args: string[]): Promise<void> {
  const { code, output } = await runCommand("tar", args, { timeoutSeconds: TAR_SECONDS });
  if (code !== 0) throw new Problem(`tar ${args.slice(0, 2).join(" ")} failed.`, lastLines(output, 5));
}
