import { writeSync } from "node:fs";
import { openDatabase } from "#server/database/open-database.ts";
import { sqliteTable } from "#server/table/sqlite-table.ts";

/** Writes pairs of items without end, several at a time, and prints the number of each pair once it is acknowledged. */
const [file = ""] = process.argv.slice(2);
const table = sqliteTable(openDatabase(file));
let next = 0;

async function writePairs(): Promise<never> {
  while (true) {
    const pair = String(next++);
    await table.transact([
      { kind: "put", item: { pk: "FIRST", sk: pair, text: "x".repeat(500) } },
      { kind: "put", item: { pk: "SECOND", sk: pair, text: "x".repeat(500) } },
    ]);
    writeSync(1, `${pair}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, writePairs));
