import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, it } from "vitest";
import { MIGRATIONS } from "#server/database/migrations.ts";
import { DatabaseInUse } from "#server/database/sqlite-errors.ts";
import { openAdapters } from "#server/ports.ts";
import { vaultKeys } from "#server/secrets/installation-key.ts";
import { sqliteTable } from "#server/table/sqlite-table.ts";
import { backUp, restore } from "#server/transfer/backup.ts";
import { copyTree } from "#server/transfer/copy-tree.ts";
import { exportData } from "#server/transfer/export.ts";
import { importHere } from "#server/transfer/import-here.ts";
import { keys } from "#shared/table/keys.ts";
import { tableVault } from "#shared/vault/secret-value-store.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();
const NOW_SECONDS = Math.floor(Date.now() / 1000);
const ITEM = { pk: "TEST", sk: "kept", text: "é", bytes: new Uint8Array([0, 255]) };

let source: string;
let to: string;
beforeEach(async () => {
  [source, to] = [data.directory(), data.directory()];
  const { database, table } = await openAdapters(source);
  await table.write({ kind: "put", item: ITEM });
  await table.write({ kind: "put", item: { pk: "TEST", sk: "expired", expires_at: NOW_SECONDS - 1 } });
  await table.write({ kind: "put", item: { pk: "TEST", sk: "later", expires_at: NOW_SECONDS + 3_600 } });
  await database.close();
  for (const name of ["a", "below/b", "below/deep/c"]) {
    const file = path.join(source, "files/objects", name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, name, { mode: 0o644 });
  }
});

const modeOf = (...parts: string[]) => statSync(path.join(...parts)).mode & 0o777;
const listItems = async (directory: string, pk = "TEST") =>
  (await sqliteTable(data.open(path.join(directory, "runyard.db"))).query({ pk })).items;
const change = (file: string, edit: (value: Record<string, unknown>) => object) =>
  writeFileSync(file, JSON.stringify(edit(JSON.parse(readFileSync(file, "utf8")))));
function setVersion(file: string, version: number): void {
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA user_version = ${version}`);
  database.close();
}

describe("copyTree", () => {
  it("copies all files below a directory for their owner alone, and counts them, but copies no links", async () => {
    symlinkSync("/etc/hostname", path.join(source, "files/objects/link"));
    const copy = path.join(to, "copy");
    expect(await copyTree(path.join(source, "files/objects"), copy)).toEqual({ files: 3, bytes: 20 });
    expect(readdirSync(copy, { recursive: true }).map(String).toSorted()).toEqual([
      ...["a", "below", "below/b", "below/deep", "below/deep/c"],
    ]);
    expect(readFileSync(path.join(copy, "below/deep/c"), "utf8")).toBe("below/deep/c");
    expect([modeOf(copy), modeOf(copy, "below"), modeOf(copy, "a"), modeOf(copy, "below/b")]).toEqual([
      ...[0o700, 0o700, 0o600, 0o600],
    ]);
  });

  it("copies nothing where there is nothing", async () => {
    expect(await copyTree(path.join(source, "none"), path.join(to, "copy"))).toEqual({ files: 0, bytes: 0 });
  });
});

describe("a backup", () => {
  it("of a directory without a database is refused with its name", async () => {
    const empty = data.directory();
    await expect(backUp(empty, to)).rejects.toThrow(`The database in ${empty} cannot be read: `);
    expect(readdirSync(to)).not.toContain("backup.json");
  });

  it("has everything, for its owner alone, and is restored with it", async () => {
    expect(await backUp(source, to)).toEqual({ files: 3, bytes: 20 });
    for (const file of ["runyard.db", "runyard.key", "backup.json", "files/objects/below/b"]) {
      expect([file, modeOf(to, file)]).toEqual([file, 0o600]);
    }
    const target = path.join(data.directory(), "new");
    const { createdAt, ...copied } = await restore(to, target);
    expect(copied).toEqual({ files: 3, bytes: 20 });
    expect(createdAt).toBe(JSON.parse(readFileSync(path.join(to, "backup.json"), "utf8")).created_at);
    expect(readdirSync(target).toSorted()).toEqual(["files", "runyard.db", "runyard.key"]);
    expect(readFileSync(path.join(target, "runyard.key"))).toEqual(readFileSync(path.join(source, "runyard.key")));
    expect(readFileSync(path.join(target, "files/objects/a"), "utf8")).toBe("a");
    expect((await listItems(target)).find(({ sk }) => sk === "kept")).toEqual(ITEM);
  });

  it("has the keys of identity tokens and of the GitHub App, if there are any", async () => {
    const names = ["identity-keys.json", "github-app.json"];
    for (const name of names) writeFileSync(path.join(source, name), name, { mode: 0o600 });
    await backUp(source, to);
    const target = path.join(data.directory(), "new");
    await restore(to, target);
    for (const name of names) {
      expect([readFileSync(path.join(target, name), "utf8"), modeOf(target, name)]).toEqual([name, 0o600]);
    }
  });

  it("is restored to a directory that only its owner can access", async () => {
    await backUp(source, to);
    const target = path.join(data.directory(), "open");
    mkdirSync(target);
    chmodSync(target, 0o755);
    await restore(to, target);
    expect(modeOf(target)).toBe(0o700);
  });

  it("is not made without the key", async () => {
    rmSync(path.join(source, "runyard.key"));
    await expect(backUp(source, to)).rejects.toThrow("Without this key, no secret of the backup could be read.");
  });

  it.each<[string, string, () => void]>([
    ["its key", "The backup lacks the file runyard.key.", () => rmSync(path.join(to, "runyard.key"))],
    ["its database", "The backup lacks the file runyard.db.", () => rmSync(path.join(to, "runyard.db"))],
    ["its manifest", "is not a backup of Runyard", () => rmSync(path.join(to, "backup.json"))],
    [
      "a known format",
      "is not a backup of Runyard",
      () => change(path.join(to, "backup.json"), (manifest) => ({ ...manifest, format: "runyard backup 2" })),
    ],
    [
      "a known schema",
      "was written by a newer release of Runyard",
      () => setVersion(path.join(to, "runyard.db"), MIGRATIONS.length + 1),
    ],
  ])("is not restored without %s, and makes no installation", async (_, message, damage) => {
    await backUp(source, to);
    damage();
    const target = path.join(data.directory(), "new");
    await expect(restore(to, target)).rejects.toThrow(message);
    expect(() => statSync(path.join(target, "runyard.db"))).toThrow("ENOENT");
  });
});

describe("an export", () => {
  it("has no encrypted values of secrets, which another installation could not read", async () => {
    const { database, table, installationKey } = await openAdapters(source);
    await tableVault(table, vaultKeys(installationKey)).put("team", "id", "a-very-secret-value");
    expect((await table.query({ pk: "VAULT#team" })).items).toHaveLength(1);
    await database.close();
    await exportData(source, to);
    expect(readFileSync(path.join(to, "items.jsonl"), "utf8")).not.toContain("VAULT#");
  });

  it("has the items that have not expired, and the files, for its owner alone", async () => {
    const manifest = await exportData(source, to);
    expect(manifest).toMatchObject({ format: "runyard export 1", files: 3, secrets: [] });
    const lines = readFileSync(path.join(to, "items.jsonl"), "utf8").trimEnd().split("\n");
    const items = lines.map((line) => JSON.parse(JSON.parse(line).item));
    expect(items.filter(({ pk }) => /TEST$/.test(pk)).map(({ sk }) => sk)).toEqual(["tkept", "later"]);
    expect(manifest.items).toBe(items.length);
    expect(readdirSync(to).toSorted()).toEqual(["export.json", "files", "items.jsonl"]);
    expect(["export.json", "items.jsonl", "files/a"].map((file) => modeOf(to, file))).toEqual([0o600, 0o600, 0o600]);
  });

  it("is imported once; a timer is marked as out of date, and the record of an earlier import is left out", async () => {
    const { database, table } = await openAdapters(source);
    const schedule = { ...keys.schedule("0199a3c4-7d20-7c3b-8a11-5e0f9b2c6d48"), pending_since: null };
    await table.write({ kind: "put", item: schedule });
    await table.write({ kind: "put", item: { ...keys.importRecord(), export_id: "earlier", begun_at: 1 } });
    // More than one batch.
    for (let index = 0; index < 250; index++) {
      await table.write({ kind: "put", item: { pk: "MANY", sk: String(index) } });
    }
    await database.close();
    const { items } = await exportData(source, to);
    const target = path.join(data.directory(), "new");
    expect(await importHere(to, target)).toEqual({ items, files: 3, secrets: [], wasComplete: false });
    expect(await importHere(to, target)).toEqual({ items, files: 3, secrets: [], wasComplete: true });
    const imported = sqliteTable(data.open(path.join(target, "runyard.db")));
    const listKeys = async (pk: string) => (await imported.query({ pk })).items.map(({ sk }) => sk);
    expect([await listKeys("TEST"), (await listKeys("MANY")).length]).toEqual([["kept", "later"], 250]);
    expect(await imported.get(schedule)).toMatchObject({
      pending_since: expect.any(Number),
      check_at: expect.anything(),
    });
    const { id } = JSON.parse(readFileSync(path.join(to, "export.json"), "utf8"));
    expect(await imported.get(keys.importRecord())).toMatchObject({ export_id: id, completed_at: expect.any(Number) });
  });

  it("of a database that is larger than its buffer has the digest of its items", async () => {
    const { database, table } = await openAdapters(source);
    for (let index = 0; index < 5; index++) {
      await table.write({ kind: "put", item: { pk: "LARGE", sk: String(index), text: "x".repeat(300_000) } });
    }
    await database.close();
    await exportData(source, to);
    await importHere(to, path.join(data.directory(), "new"));
  });

  it.each<[string, string, () => void]>([
    [
      "its items were changed",
      "items.jsonl is not complete or was changed.",
      () => {
        const file = path.join(to, "items.jsonl");
        writeFileSync(file, readFileSync(file, "utf8").replace('"later', '"later!'));
      },
    ],
    ["a file is missing", "The export lists 3 files, but 2 were found.", () => rmSync(path.join(to, "files/a"))],
    ["its manifest is missing", "is not an export of Runyard", () => rmSync(path.join(to, "export.json"))],
  ])("is not imported where %s", async (_, message, damage) => {
    await exportData(source, to);
    damage();
    await expect(importHere(to, path.join(data.directory(), "new"))).rejects.toThrow(message);
  });

  it("is not imported into data of another origin, or while a service runs on it", async () => {
    await exportData(source, to);
    await expect(importHere(to, source)).rejects.toThrow(`${source} is not empty. An import needs an empty target.`);
    const { database } = await openAdapters(source);
    await expect(importHere(to, source)).rejects.toThrow(DatabaseInUse);
    await database.close();
  });

  it("is not made of a database of a newer release, which is named", async () => {
    const file = path.join(source, "runyard.db");
    setVersion(file, MIGRATIONS.length + 1);
    await expect(exportData(source, to)).rejects.toThrow(`${file} was written by a newer release of Runyard.`);
    expect(readdirSync(to)).toEqual([]);
  });
});
