import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { backupFile } from "#server/database/backup.ts";
import { moveFormerSecrets, openInstallationKey, vaultKeys } from "#server/secrets/installation-key.ts";
import { createKeyFile, deriveKey, KeyFileError } from "#server/secrets/key-file.ts";
import { sqliteTable } from "#server/table/sqlite-table.ts";
import { keys as tableKeys } from "#shared/table/keys.ts";
import { seal } from "#shared/vault/sealed-box.ts";
import { tableVault } from "#shared/vault/secret-value-store.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();

async function makeVault() {
  const directory = data.directory();
  const keyFile = path.join(directory, "key");
  const database = data.open(path.join(directory, "runyard.db"));
  const key = await openInstallationKey(database, keyFile);
  const table = sqliteTable(database);
  return { directory, keyFile, database, key, table, vault: tableVault(table, vaultKeys(key)) };
}

describe("values of secrets in SQLite", () => {
  it("are not stored in plain text in any file of the data directory", async () => {
    const { vault, directory } = await makeVault();
    await vault.put("team", "id", "a-very-secret-value");
    await backupFile(path.join(directory, "runyard.db"), path.join(directory, "backup.db"));
    const files = readdirSync(directory);
    expect(files).toContain("backup.db");
    for (const file of files) {
      expect(readFileSync(path.join(directory, file)).includes("a-very-secret-value")).toBe(false);
    }
  });

  it.each([
    ["given another version", (sealed: Buffer) => Buffer.concat([Buffer.of(2), sealed.subarray(1)])],
    ["changed", (sealed: Buffer) => Buffer.concat([sealed, Buffer.of(0)])],
    ["cut off", (sealed: Buffer) => sealed.subarray(0, 20)],
    ["emptied", () => Buffer.alloc(0)],
  ])("cannot be read after they were %s in the file", async (_, change) => {
    const { vault, table } = await makeVault();
    await vault.put("team", "a", "value");
    const item = await table.get(tableKeys.secretValue("team", "a"));
    const sealed = item?.["sealed"];
    if (item === undefined || !(sealed instanceof Uint8Array)) throw new Error("there is no value");
    await table.write({ kind: "put", item: { ...item, sealed: change(Buffer.from(sealed)) } });
    await expect(vault.getAll("team", ["a"])).rejects.toThrow();
  });

  it("of an earlier release are moved into the table, and can be read there", async () => {
    const { vault, table, database, key } = await makeVault();
    const insert = "INSERT INTO former_secret_values (team, id, sealed) VALUES (?, ?, ?)";
    for (const id of ["a", "b"]) {
      const sealed = seal(deriveKey(key, "secrets"), JSON.stringify(["team", id]), `value of ${id}`);
      await database.write(() => database.statement(insert).run("team", id, sealed));
    }
    expect(await vault.getAll("team", ["a"])).toEqual(new Map());
    await moveFormerSecrets(database, table);
    await moveFormerSecrets(database, table);
    expect(await vault.getAll("team", ["a", "b"])).toEqual(
      new Map([
        ["a", "value of a"],
        ["b", "value of b"],
      ]),
    );
    expect(database.statement("SELECT * FROM former_secret_values").all()).toEqual([]);
  });

  it("cannot be read with the key of another purpose", async () => {
    const { vault, table, key } = await makeVault();
    await vault.put("team", "a", "value");
    await expect(tableVault(table, vaultKeys(deriveKey(key, "files"))).getAll("team", ["a"])).rejects.toThrow();
  });
});

describe("the key file", () => {
  it("is created once, accessible only to its owner", async () => {
    const { keyFile, database, key } = await makeVault();
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(await openInstallationKey(database, keyFile)).toEqual(key);
    expect(readFileSync(keyFile)).toEqual(key);
  });

  it.each([0o640, 0o604, 0o620])("is rejected if other users have access to it (mode %o)", async (mode) => {
    const { keyFile, database } = await makeVault();
    chmodSync(keyFile, mode);
    await expect(openInstallationKey(database, keyFile)).rejects.toThrow(`Run: chmod 600 '${keyFile}'`);
  });

  it("is rejected if it belongs to another database, and not recreated if it is missing", async () => {
    const { keyFile, database } = await makeVault();
    writeFileSync(keyFile, Buffer.alloc(32, 7));
    await expect(openInstallationKey(database, keyFile)).rejects.toThrow("is not the key of this database");
    writeFileSync(keyFile, "short");
    await expect(openInstallationKey(database, keyFile)).rejects.toThrow("is not a key file of Runyard");
    rmSync(keyFile);
    await expect(openInstallationKey(database, keyFile)).rejects.toThrow(KeyFileError);
    expect(existsSync(keyFile)).toBe(false);
  });

  it("that exists before the first start is used, and never replaced", async () => {
    const directory = data.directory();
    const keyFile = path.join(directory, "key");
    const own = Buffer.alloc(32, 7);
    writeFileSync(keyFile, own, { mode: 0o600 });
    expect(() => createKeyFile(keyFile)).toThrow("EEXIST");
    const key = await openInstallationKey(data.open(path.join(directory, "runyard.db")), keyFile);
    expect([key.equals(own), readFileSync(keyFile).equals(own)]).toEqual([true, true]);
  });

  it("is not read through a symbolic link", async () => {
    const { keyFile, database, directory } = await makeVault();
    symlinkSync(keyFile, path.join(directory, "link"));
    await expect(openInstallationKey(database, path.join(directory, "link"))).rejects.toThrow();
  });
});
