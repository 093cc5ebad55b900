import { createReadStream } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import * as v from "valibot";
import type { Item } from "#shared/table/table.ts";
import { readJson } from "../host/files.ts";
import { Problem } from "../host/terminal.ts";
import { decodeItem } from "../table/item-text.ts";

/** The items of the table, one per line. */
export const ITEMS = "items.jsonl";
/** The files, at the paths that `keyToPath` makes of their keys. */
export const FILES = "files";
export const MANIFEST = "export.json";

/** The manifest of an export. */
export const ExportManifest = v.object({
  format: v.literal("runyard export 1"),
  /** Names this export, so that a repeated import is recognized. */
  id: v.string(),
  created_at: v.string(),
  items: v.number(),
  files: v.number(),
  /** SHA-256 of the file of items. */
  items_sha256: v.string(),
  /** The secrets, whose values are not exported. */
  secrets: v.array(v.object({ team_uid: v.string(), name: v.string() })),
});
export type ExportManifest = v.InferOutput<typeof ExportManifest>;

/** @throws Problem if the directory is not an export */
export async function readManifest(directory: string): Promise<ExportManifest> {
  const manifest = await readJson(path.join(directory, MANIFEST), ExportManifest);
  if (manifest === undefined)
    throw new Problem(`${directory} is not an export of Runyard: it has no valid ${MANIFEST}.`);
  return manifest;
}

/** Reads the items of an export. */
export async function* readItems(directory: string): AsyncGenerator<Item> {
  const lines = createInterface({
    input: createReadStream(path.join(directory, ITEMS)),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  for await (const line of lines) if (line !== "") yield decodeItem(JSON.parse(line));
}
