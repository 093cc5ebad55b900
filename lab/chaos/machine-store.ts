import { readdir } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import { decodeItem } from "../../server/table/item-text.ts";
import { type EvidenceStore, StoredItem } from "./evidence.ts";

const REST_LOOK_MS = 1_000;
const BUSY_MS = 10_000;
const DUE = "SELECT 1 FROM items WHERE check_shard LIKE 'RUNS#%' LIMIT 1";

/** Reads the database and the files of a service on one machine, while it runs or afterwards. */
export class MachineStore implements EvidenceStore {
  readonly #directory: string;
  readonly #database: DatabaseSync;

  constructor(directory: string) {
    this.#directory = directory;
    this.#database = new DatabaseSync(path.join(directory, "runyard.db"), { readOnly: true, timeout: BUSY_MS });
  }

  async items(): Promise<StoredItem[]> {
    const rows = this.#database.prepare("SELECT item, tagged FROM items").all();
    return rows.map((row) => v.parse(StoredItem, decodeItem(row)));
  }

  async objects(): Promise<string[]> {
    const root = path.join(this.#directory, "files");
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => toKey(path.relative(root, path.join(entry.parentPath, entry.name))));
  }

  async rest(deadline: number): Promise<boolean> {
    while (Date.now() < deadline) {
      if (this.#database.prepare(DUE).get() === undefined) return true;
      await pause(REST_LOOK_MS);
    }
    return false;
  }

  close(): void {
    this.#database.close();
  }
}

/** Reverts `keyToPath` for the keys of runs, which are short. */
const toKey = (file: string): string =>
  file
    .split(path.sep)
    .map((name) => decodeURIComponent(name.replace(/\+$/, "")))
    .join("/");
