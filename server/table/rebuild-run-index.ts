import * as v from "valibot";
import { runPk } from "#shared/table/keys.ts";
import type { Key } from "#shared/table/table.ts";
import type { Database } from "../database/database.ts";
import { decodeItem } from "./item-text.ts";
import { createRunIndex, INDEXED_SORT_KEYS } from "./run-index.ts";

/** The version of the index, which changes with the format of terms. An index of an earlier version is rebuilt. */
const VERSION = 1;
const NAME = "run_index_version";
/** Items that one transaction adds. */
const BATCH = 500;

const Value = v.optional(v.object({ value: v.instance(Uint8Array) }));
const SELECT = `
  SELECT item, tagged FROM items WHERE (pk, sk) > (?, ?) AND pk < ? AND sk IN (${INDEXED_SORT_KEYS.map(() => "?").join(", ")})
  ORDER BY pk, sk LIMIT ?`;

/** Builds the index of runs from the items if it is missing. The next start repeats an interrupted attempt. */
export async function rebuildRunIndex(database: Database): Promise<void> {
  const row = database.statement("SELECT value FROM installation WHERE name = ?").get(NAME);
  const version = v.parse(Value, row)?.value;
  if (version !== undefined && Buffer.from(version).toString() === String(VERSION)) return;
  await database.write(() => {
    for (const table of ["run_terms", "listed_runs", "terms"]) database.statement(`DELETE FROM ${table}`).run();
  });
  let after: Key | undefined = { pk: runPk(""), sk: "" };
  while (after !== undefined) after = await addBatch(database, after);
  await database.write(() =>
    database
      .statement(
        "INSERT INTO installation (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
      )
      .run(NAME, Buffer.from(String(VERSION))),
  );
}

/** Adds the next items after a key. Returns the key of the last one; undefined if there are no more. */
function addBatch(database: Database, { pk, sk }: Key): Promise<Key | undefined> {
  const index = createRunIndex(database);
  return database.write(() => {
    const rows = database.statement(SELECT).all(pk, sk, `${runPk("")}\u{10ffff}`, ...INDEXED_SORT_KEYS, BATCH);
    const items = rows.map(decodeItem);
    for (const item of items) index.update(item, undefined, item);
    return items.length < BATCH ? undefined : items.at(-1);
  });
}
