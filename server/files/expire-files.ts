import { rmdirSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { DiskFiles } from "./disk-files.ts";

const DAY_MS = 24 * 3_600_000;

/** Retention by key prefix, as in the lifecycle rules of the bucket on AWS. */
const FILE_LIFETIMES = [
  { prefix: "skills/", days: 30 },
  { prefix: "attachments/", days: 2 },
  { prefix: "snapshots/", days: 30 },
  { prefix: "events/", days: 30 },
] as const;

/** Deletes expired files. Resolves with their number. */
export async function expireFiles(files: DiskFiles, now: number): Promise<number> {
  let count = 0;
  for (const { prefix, days } of FILE_LIFETIMES) {
    count += await expireIn(files.toDirectory(prefix), now - days * DAY_MS);
  }
  return count;
}

async function expireIn(directory: string, before: number): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  });
  let count = 0;
  for (const entry of entries) {
    const inside = path.join(directory, entry.name);
    if (entry.isDirectory()) count += await expireIn(inside, before);
    else if ((await stat(inside)).mtimeMs < before) {
      await rm(inside);
      count++;
    }
  }
  removeIfEmpty(directory);
  return count;
}

/** Removes an empty directory. Synchronous, so that no file can be moved into it in between. */
function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOENT") throw error;
  }
}
