import { readdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { removeTree } from "#shared/sandbox/remove-tree.ts";
import { measureFiles } from "../disk/disk-budget.ts";

/** Where executions keep mirrors of repositories, below the data directory. */
export const mirrorsPath = (directory: string): string => path.join(directory, "mirrors");

/** A mirror without a clone for this time is removed. */
const UNUSED_MS = 14 * 24 * 3_600_000;
const MAX_MIRRORS = 100;
const MAX_MIRROR_BYTES = 20 * 1024 * 1024 * 1024;

/** A mirror: a bare repository, and the file whose time is that of its last clone. */
export interface Mirror {
  readonly name: string;
  readonly usedAt: number;
  readonly bytes: number;
}

interface MirrorLimits {
  readonly count?: number;
  readonly bytes?: number;
}

/** Lists the mirrors in a directory, the last used one first. */
export async function listMirrors(directory: string): Promise<Mirror[]> {
  const names = (await readdir(directory).catch(() => [])).flatMap((name) => /^(\w+)\.git$/.exec(name)?.[1] ?? []);
  const mirrors = names.map(async (name) => {
    const marker = await stat(path.join(directory, `${name}.used`)).catch(() => undefined);
    // The packs are almost all of a mirror.
    const bytes = await measureFiles(path.join(directory, `${name}.git`, "objects", "pack"));
    return { name, usedAt: marker?.mtimeMs ?? 0, bytes };
  });
  return (await Promise.all(mirrors)).toSorted((a, b) => b.usedAt - a.usedAt);
}

/**
 * Removes the mirrors that were not used for long, and the least recently used ones above the limits. A clone that reads one of them is
 * repeated from its server. Resolves with the number of removed mirrors.
 */
export async function expireMirrors(
  directory: string,
  now: number,
  { count = MAX_MIRRORS, bytes = MAX_MIRROR_BYTES }: MirrorLimits = {},
): Promise<number> {
  let total = 0;
  const removed = (await listMirrors(directory)).filter((mirror, index) => {
    total += mirror.bytes;
    return index >= count || total > bytes || mirror.usedAt < now - UNUSED_MS;
  });
  for (const { name } of removed) await removeMirror(directory, name);
  return removed.length;
}

/** Renames the mirror before deleting it, so that no execution finds it incomplete. */
async function removeMirror(directory: string, name: string): Promise<void> {
  const place = path.join(directory, `${name}.removed`);
  await removeTree(place);
  await rename(path.join(directory, `${name}.git`), place);
  await removeTree(place);
  for (const file of ["used", "lock"]) await rm(path.join(directory, `${name}.${file}`), { force: true });
}
