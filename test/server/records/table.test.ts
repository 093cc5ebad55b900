import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe } from "vitest";
import { openDatabase } from "#server/database/open-database.ts";
import { sqliteTable } from "#server/table/sqlite-table.ts";
import { tableContract } from "../../store/table-contract.ts";

const directory = mkdtempSync(path.join(tmpdir(), "sqlite-table-"));
const database = openDatabase(path.join(directory, "runyard.db"));
afterAll(async () => {
  await database.close();
  rmSync(directory, { recursive: true });
});

describe("the table in SQLite", () => {
  tableContract(() => sqliteTable(database));
});
