import { createHash, randomUUID } from "node:crypto";
import { open, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import * as v from "valibot";
import { isSecret, parseSecret } from "#shared/secrets/secret-store.ts";
import { Problem } from "../../host/terminal.ts";
import { backupFile } from "../database/backup.ts";
import { decodeItem } from "../table/item-text.ts";
import { copyTree } from "./copy-tree.ts";
import { type ExportManifest, FILES, ITEMS, MANIFEST } from "./export-format.ts";

const SELECT = "SELECT item, tagged FROM items WHERE expires_at IS NULL OR expires_at > ? ORDER BY pk, sk";
const Row = v.object({ item: v.string(), tagged: v.number() });
const FLUSH_BYTES = 1024 * 1024;

/** Exports an installation to an empty directory, also while the service runs: its items and files, without secret values. */
export async function exportData(data: string, to: string): Promise<ExportManifest> {
  // The database first, then the files, as in a backup.
  const snapshot = path.join(to, "snapshot.db");
  await backupFile(path.join(data, "runyard.db"), snapshot).catch((error: unknown) => {
    throw new Problem(
      `The database in ${data} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
    );
  });
  const written = await writeItems(snapshot, path.join(to, ITEMS));
  for (const suffix of ["", "-wal", "-shm"]) await rm(snapshot + suffix, { force: true });
  const { files } = await copyTree(path.join(data, "files", "objects"), path.join(to, FILES));
  const manifest = {
    format: "runyard export 1",
    id: randomUUID(),
    created_at: new Date().toISOString(),
    files,
    ...written,
  } as const satisfies ExportManifest;
  await writeFile(path.join(to, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  return manifest;
}

async function writeItems(snapshot: string, to: string) {
  const database = new DatabaseSync(snapshot, { readOnly: true });
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
    for (const raw of database.prepare(SELECT).iterate(Math.floor(Date.now() / 1000))) {
      const row = v.parse(Row, raw);
      const item = decodeItem(row);
      // A name without its value would only be in the way of a new secret with that name.
      if (isSecret(item)) {
        const { team_uid, name } = parseSecret(item);
        secrets.push({ team_uid, name });
        continue;
      }
      pending += `${JSON.stringify(row)}\n`;
      items++;
      if (pending.length > FLUSH_BYTES) await flush();
    }
    await flush();
    await output.sync();
    return { items, items_sha256: hash.digest("hex"), secrets };
  } finally {
    await output.close();
    database.close();
  }
}
