import { lstat, mkdir, mkdtemp, readdir, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { logLine } from "#shared/log/log.ts";
import { findMarked } from "./processes.ts";
import { removeTree } from "./remove-tree.ts";

/** Scratch directories have this prefix, followed by the id of the process that created them. */
const SCRATCH = "runyard-sandbox-";
/** One that could not be removed has this prefix in addition, and is tried again. */
const LEFT = "left-";

/**
 * Creates the temporary directory of a harness, so that its files can be removed however it ends.
 * @param parent a directory that belongs to this user. @default the temporary directory
 */
export async function createScratch(parent: string = tmpdir()): Promise<string> {
  if (parent !== tmpdir()) await mkdir(parent, { recursive: true, mode: 0o700 });
  return await mkdtemp(join(parent, `${SCRATCH}${process.pid}-`));
}

/** Removes a scratch directory, and those that could not be removed earlier. */
export async function removeScratch(folder: string): Promise<void> {
  for (const item of [...(await listLeftScratch(dirname(folder))), folder]) await removeOrKeep(item);
}

/** Lists the scratch directories that could not be removed. */
export async function listLeftScratch(parent: string): Promise<string[]> {
  const names = await readdir(parent).catch(() => []);
  return await keepOwn(names.filter((name) => name.startsWith(`${LEFT}${SCRATCH}`)).map((name) => join(parent, name)));
}

/**
 * Removes the scratch directories of killed processes like this one, such as on a laptop, and what could not be removed earlier. A harness
 * of theirs may still be running for a moment: its directory stays, since without it a command would fail, and a run that would otherwise
 * continue would fail too.
 */
export async function removeAbandoned(parent: string = tmpdir()): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  const ended = names.filter((name) => {
    const [, pid] = /^(?:left-)?runyard-sandbox-(\d+)-/.exec(name) ?? [];
    return pid !== undefined && (name.startsWith(LEFT) || !isAlive(Number(pid)));
  });
  for (const folder of await keepOwn(ended.map((name) => join(parent, name)))) {
    if ((await findMarked(new Set([`TMPDIR=${folder}`]))).length === 0) await removeOrKeep(folder);
  }
}

/** Nobody depends on the removal, so a failure is only reported; the directory gets a name by which it is found. */
async function removeOrKeep(folder: string): Promise<void> {
  try {
    await removeTree(folder);
  } catch (error) {
    const name = basename(folder);
    const leftover = join(dirname(folder), name.startsWith(LEFT) ? name : `${LEFT}${name}`);
    logLine("error", "files of an execution could not be removed", { folder: leftover, error });
    await rename(folder, leftover).catch(() => undefined);
  }
}

/** Everybody may create names in a temporary directory, so only directories that other users cannot have made are kept. */
async function keepOwn(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(folders.map((folder) => lstat(folder).catch(() => undefined)));
  return folders.filter((_, index) => {
    const stats = found[index];
    return stats?.isDirectory() === true && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
