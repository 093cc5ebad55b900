import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { importStore } from "#shared/records/import-record.ts";
import { toUnsynced } from "#shared/schedules/schedule-store.ts";
import type { Item, Table } from "#shared/table/table.ts";
import { Problem } from "../host/terminal.ts";
import { ITEMS, readItems, readManifest } from "./export-format.ts";

/** Items that are written at the same time. */
const BATCH = 100;

/** Where an export is imported. */
export interface ImportTarget {
  /** What a person calls it, such as a directory or a table. */
  readonly name: string;
  readonly table: Table;
  isEmpty(): Promise<boolean>;
  /** Stores the files of an export; those that exist are left as they are. Resolves with their number. */
  storeFiles(directory: string): Promise<number>;
}

export interface Imported {
  readonly items: number;
  readonly files: number;
  readonly secrets: readonly { readonly team_uid: string; readonly name: string }[];
  /** True if a previous import of the same export was complete; nothing was changed. */
  readonly wasComplete: boolean;
}

/**
 * Imports an export. An import that was interrupted can be repeated: files and items have the same keys again. Files come first, so
 * that no item names a file that is missing. Timers of schedules are marked as out of date, so that the schedule reconciler sets them.
 * @throws Problem if the target contains anything else than the same export
 */
export async function importData(directory: string, target: ImportTarget, now: () => number): Promise<Imported> {
  const manifest = await readManifest(directory);
  const { items, files, secrets } = manifest;
  if ((await computeDigest(path.join(directory, ITEMS))) !== manifest.items_sha256) {
    throw new Problem(`${path.join(directory, ITEMS)} is not complete or was changed.`);
  }
  const record = importStore(target.table);
  const previous = await record.read();
  if (previous?.export_id === manifest.id && previous.completed_at !== undefined) {
    return { items, files, secrets, wasComplete: true };
  }
  if (previous?.export_id !== manifest.id && !(await target.isEmpty())) {
    throw new Problem(`${target.name} is not empty. An import needs an empty target.`);
  }
  await record.begin(manifest.id, now());
  const stored = await target.storeFiles(directory);
  if (stored !== files) throw new Problem(`The export lists ${files} files, but ${stored} were found.`);
  let batch: Item[] = [];
  const flush = async (): Promise<void> => {
    await Promise.all(batch.map((item) => target.table.write({ kind: "put", item: toUnsynced(item, now()) })));
    batch = [];
  };
  for await (const item of readItems(directory)) {
    // The source may have been the target of an import itself.
    if (record.isRecord(item)) continue;
    batch.push(item);
    if (batch.length === BATCH) await flush();
  }
  await flush();
  await record.complete(manifest.id, now());
  return { items, files, secrets, wasComplete: false };
}

async function computeDigest(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}
