import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { LocalPaths } from "../server/host/paths.ts";
import { ACCOUNT } from "./account.ts";

/** When the emulator last wrote its state, which it does only at a clean stop. */
export async function stateSavedAt(paths: LocalPaths): Promise<Date | undefined> {
  // Other files, such as signing keys, are written whenever they are needed.
  const names = (await readdir(paths.state).catch(() => [])).filter((name) => name.endsWith(".json"));
  const stats = await Promise.all(names.map((name) => stat(path.join(paths.state, name)).catch(() => undefined)));
  const newest = Math.max(0, ...stats.map((entry) => entry?.mtimeMs ?? 0));
  return newest > 0 ? new Date(newest) : undefined;
}

/**
 * Moves a stopped emulator's state to another port: the addresses of queues, which are in the settings of functions too,
 * contain the port at which the queue was created.
 */
export async function transitionState(paths: LocalPaths, from: number, to: number): Promise<void> {
  if (from === to) return;
  const names = await readdir(paths.state).catch(() => []);
  for (const name of names.filter((it) => it.endsWith(".json"))) {
    const file = path.join(paths.state, name);
    const text = await readFile(file, "utf8");
    const moved = text.replaceAll(`http://localhost:${from}/`, `http://localhost:${to}/`);
    if (moved !== text) await writeFile(file, moved);
  }
}

/**
 * Removes the objects of buckets that the saved state does not know. Objects are on disk at once and all else at a clean stop
 * alone, so after a kill there may be buckets whose stack was never created, and which could not be created again.
 */
export async function dropStrayBuckets(paths: LocalPaths): Promise<void> {
  const known = await readFile(path.join(paths.state, "s3.json"), "utf8").catch(() => "");
  const account = path.join(paths.objects, ACCOUNT);
  const buckets = await readdir(account).catch(() => []);
  const strays = buckets.filter((bucket) => !known.includes(`'${bucket}'`));
  await Promise.all(strays.map((bucket) => rm(path.join(account, bucket), { recursive: true, force: true })));
}
