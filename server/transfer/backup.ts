import { existsSync } from "node:fs";
import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { backupFile } from "../database/backup.ts";
import { checkDatabaseFile } from "../database/check-file.ts";
import { createDirectory } from "../disk/create-directory.ts";
import { syncPath } from "../disk/sync-path.ts";
import { readJson } from "../host/files.ts";
import { Problem } from "../host/terminal.ts";
import { GITHUB_APP_FILE } from "../secrets/github-app-file.ts";
import { nextKeyFile } from "../secrets/installation-key.ts";
import { SIGNING_KEY_FILE } from "../secrets/signing-key-file.ts";
import { copySynced, copyTree } from "./copy-tree.ts";

const DATABASE = "runyard.db";
const KEY = "runyard.key";
/** Keys that an installation may not have: there are none before the first identity token, without a GitHub App or a rotation. */
const OTHER_KEYS = [SIGNING_KEY_FILE, GITHUB_APP_FILE, nextKeyFile(KEY)];
const FILES = path.join("files", "objects");
const MANIFEST = "backup.json";
const Manifest = v.object({ format: v.literal("runyard backup 1"), created_at: v.string() });

export interface Copied {
  readonly files: number;
  readonly bytes: number;
}

/**
 * Copies the data of an installation to an empty directory, also while the service runs.
 *
 * The database is copied first, in one step of SQLite's online backup, so it is the state of one moment. Every file that it names
 * was stored before the row that names it and is not changed afterwards, so the files that are copied later include all of them.
 * Files of later runs are copied too; nothing refers to them. A rotation of the key meanwhile is noticed, since the copies would not belong
 * together.
 */
export async function backUp(data: string, to: string): Promise<Copied> {
  const readKeys = () =>
    Promise.all([KEY, nextKeyFile(KEY)].map((name) => readFile(path.join(data, name)).catch(() => undefined)));
  const before = await readKeys();
  await backupFile(path.join(data, DATABASE), path.join(to, DATABASE)).catch((error: unknown) => {
    throw new Problem(
      `The database in ${data} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
    );
  });
  if ((await copySynced(path.join(data, KEY), path.join(to, KEY))) === undefined) {
    throw new Problem(`${path.join(data, KEY)} is missing. Without this key, no secret of the backup could be read.`);
  }
  for (const name of OTHER_KEYS) await copySynced(path.join(data, name), path.join(to, name));
  if (!isDeepStrictEqual(await readKeys(), before))
    throw new Problem("The key was rotated while it was backed up. Repeat the backup.");
  const copied = await copyTree(path.join(data, FILES), path.join(to, FILES));
  const manifest = { format: "runyard backup 1", created_at: new Date().toISOString() } satisfies v.InferInput<
    typeof Manifest
  >;
  await writeFile(path.join(to, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  return copied;
}

/** Copies a backup to an empty data directory. The database comes last, because it makes the directory an installation. */
export async function restore(from: string, data: string): Promise<Copied & { readonly createdAt: string }> {
  const manifest = await readJson(path.join(from, MANIFEST), Manifest);
  if (manifest === undefined) throw new Problem(`${from} is not a backup of Runyard: it has no valid ${MANIFEST}.`);
  if (!existsSync(path.join(from, DATABASE))) throw new Problem(`The backup lacks the file ${DATABASE}.`);
  checkDatabaseFile(path.join(from, DATABASE));
  createDirectory(data);
  const copied = await copyTree(path.join(from, FILES), path.join(data, FILES));
  if ((await copySynced(path.join(from, KEY), path.join(data, KEY))) === undefined) {
    throw new Problem(`The backup lacks the file ${KEY}.`);
  }
  for (const name of OTHER_KEYS) await copySynced(path.join(from, name), path.join(data, name));
  const partial = path.join(data, `${DATABASE}.partial`);
  await copySynced(path.join(from, DATABASE), partial);
  await chmod(data, 0o700);
  await rename(partial, path.join(data, DATABASE));
  await syncPath(data);
  return { ...copied, createdAt: manifest.created_at };
}
