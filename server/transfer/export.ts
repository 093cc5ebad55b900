import { createHash, randomUUID } from "node:crypto";
import { open, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isSecret, parseSecret } from "#shared/secrets/secret-store.ts";
import type { Item } from "#shared/table/table.ts";
import { isOfTriggers } from "#shared/triggers/trigger-store.ts";
import { isSecretValue } from "#shared/vault/secret-value-store.ts";
import { isOfWebhooks } from "#shared/webhooks/webhook-store.ts";
import { backupFile } from "../database/backup.ts";
import { checkDatabaseFile } from "../database/check-file.ts";
import { Problem } from "../host/terminal.ts";
import { decodeItem, encodeItem } from "../table/item-text.ts";
import { copyTree } from "./copy-tree.ts";
import { type ExportManifest, FILES, ITEMS, MANIFEST } from "./export-format.ts";

const SELECT = "SELECT item, tagged FROM items WHERE expires_at IS NULL OR expires_at > ? ORDER BY pk, sk";
const FLUSH_BYTES = 1024 * 1024;

/** Exports an installation to an empty directory, also while the service runs: its items and files, without secret values. */
export async function exportData(data: string, to: string): Promise<ExportManifest> {
  // The database first, then the files, as in a backup.
  const snapshot = path.join(to, "snapshot.db");
  const source = path.join(data, "runyard.db");
  await backupFile(source, snapshot).catch((error: unknown) => {
    throw new Problem(
      `The database in ${data} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
    );
  });
  try {
    throwIfUnusable(snapshot, source);
    return await writeExport(to, {
      items: readSnapshot(snapshot),
      copyFiles: async (directory) => (await copyTree(path.join(data, "files", "objects"), directory)).files,
    });
  } finally {
    for (const suffix of ["", "-wal", "-shm"]) await rm(snapshot + suffix, { force: true });
  }
}

/** Checks a copy of a database. @throws Problem that names its source */
function throwIfUnusable(snapshot: string, source: string): void {
  try {
    checkDatabaseFile(snapshot);
  } catch (error) {
    throw new Problem((error instanceof Error ? error.message : String(error)).replaceAll(snapshot, source));
  }
}

async function* readSnapshot(file: string): AsyncGenerator<Item> {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    for (const row of database.prepare(SELECT).iterate(Math.floor(Date.now() / 1000))) yield decodeItem(row);
  } finally {
    database.close();
  }
}

/** What is exported. The items are read first, so that every file that they name exists when the files are copied. */
export interface ExportSource {
  readonly items: AsyncIterable<Item>;
  /** Copies all files to a directory, at the paths that `keyToPath` makes of their keys. Resolves with their number. */
  copyFiles(directory: string): Promise<number>;
}

/** Writes an export to an empty directory. */
export async function writeExport(to: string, source: ExportSource): Promise<ExportManifest> {
  const summary = await writeItems(source.items, path.join(to, ITEMS));
  const files = await source.copyFiles(path.join(to, FILES));
  const manifest = {
    format: "runyard export 1",
    id: randomUUID(),
    created_at: new Date().toISOString(),
    files,
    ...summary,
  } as const satisfies ExportManifest;
  await writeFile(path.join(to, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  return manifest;
}

async function writeItems(source: AsyncIterable<Item>, to: string) {
  const output = await open(to, "wx", 0o600);
  const hash = createHash("sha256");
  const secrets: { team_uid: string; name: string }[] = [];
  let [items, pending] = [0, ""];
  const flush = async (): Promise<void> => {
    hash.update(pending);
    await output.writeFile(pending);
    pending = "";
  };
  try {
    for await (const item of source) {
      if (isSecretValue(item)) continue;
      // A name without its value would only be in the way of a new secret with that name.
      if (isSecret(item)) {
        const { team_uid, name } = parseSecret(item);
        secrets.push({ team_uid, name });
        continue;
      }
      // A webhook without its signing secret would send nothing, and a trigger would accept nothing; both need a new one.
      if (isOfWebhooks(item) || isOfTriggers(item)) continue;
      pending += `${JSON.stringify(encodeItem(item))}\n`;
      items++;
      if (pending.length > FLUSH_BYTES) await flush();
    }
    await flush();
    await output.sync();
    return { items, items_sha256: hash.digest("hex"), secrets };
  } finally {
    await output.close();
  }
}
