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
import type { Database } from "#server/database/database.ts";
import { createKeyFile, deriveKey, KeyFileError } from "#server/secrets/key-file.ts";
import { openInstallationKey, sqliteSecretVault } from "#server/secrets/sqlite-secret-vault.ts";
import { useDataDirectory } from "./support/data-directory.ts";

const data = useDataDirectory();

async function makeVault() {
  const directory = data.directory();
  const keyFile = path.join(directory, "key");
  const database = data.open(path.join(directory, "runyard.db"));
  const key = await openInstallationKey(database, keyFile);
  return { directory, keyFile, database, key, vault: sqliteSecretVault(database, key) };
}

describe("values of secrets in SQLite", () => {
  it.each([
    ["a long text", "ä".repeat(2_000)],
    ["lines", 'one\n"two"\n'],
    ["what looks like a reference", "{{ssm:other}}"],
    ["what looks encoded", "base64:aGVsbG8="],
    ["a NUL", "a\u0000b"],
  ])("are returned unchanged: %s", async (_, value) => {
    const { vault } = await makeVault();
    await vault.put("team", "id", value);
    expect(await vault.getAll("team", ["id"])).toEqual(new Map([["id", value]]));
  });

  it("can be removed, repeatedly, and never replaced", async () => {
    const { vault } = await makeVault();
    await vault.put("team", "first", "one");
    await vault.put("team", "second", "two");
    await expect(vault.put("team", "first", "another")).rejects.toThrow();
    expect(await vault.getAll("team", ["first"])).toEqual(new Map([["first", "one"]]));
    await vault.remove("team", "first");
    await vault.remove("team", "first");
    expect(await vault.getAll("team", ["first", "second", "third"])).toEqual(new Map([["second", "two"]]));
    expect(await vault.getAll("other", ["second"])).toEqual(new Map());
  });

  it("are rejected above 4,096 bytes, as on AWS", async () => {
    const { vault } = await makeVault();
    await vault.put("team", "fits", "x".repeat(4_096));
    await expect(vault.put("team", "long", "ä".repeat(2_049))).rejects.toMatchObject({ code: "invalid_request" });
  });

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

  it("are encrypted with a different nonce each time", async () => {
    const { vault, database } = await makeVault();
    await vault.put("team", "a", "same");
    await vault.put("team", "b", "same");
    const nonces = database.statement("SELECT hex(substr(sealed, 2, 12)) AS nonce FROM secret_values").all();
    expect(new Set(nonces.map(({ nonce }) => nonce)).size).toBe(2);
  });

  const changes: [string, (database: Database) => unknown][] = [
    ["moved to another secret", (db) => db.statement("UPDATE secret_values SET id = 'b' WHERE id = 'a'").run()],
    ["moved to another team", (db) => db.statement("UPDATE secret_values SET team = 'other'").run()],
    [
      "given another version",
      (db) => db.statement("UPDATE secret_values SET sealed = CAST(x'02' || substr(sealed, 2) AS BLOB)").run(),
    ],
    ["changed", (db) => db.statement("UPDATE secret_values SET sealed = CAST(sealed || x'00' AS BLOB)").run()],
    ["cut off", (db) => db.statement("UPDATE secret_values SET sealed = substr(sealed, 1, 20)").run()],
    ["emptied", (db) => db.statement("UPDATE secret_values SET sealed = x''").run()],
  ];
  it.each(changes)("cannot be read after they were %s in the file", async (_, change) => {
    const { vault, database } = await makeVault();
    await vault.put("team", "a", "value");
    await database.write(() => change(database));
    const reads = ["team", "other"].flatMap((team) => ["a", "b"].map((id) => vault.getAll(team, [id])));
    const values = (await Promise.allSettled(reads)).map((read) =>
      read.status === "fulfilled" ? read.value.size : -1,
    );
    expect(values.toSorted((a, b) => a - b)).toEqual([-1, 0, 0, 0]);
  });

  it("cannot be read with the key of another purpose", async () => {
    const { vault, database, key } = await makeVault();
    await vault.put("team", "a", "value");
    await expect(sqliteSecretVault(database, deriveKey(key, "files")).getAll("team", ["a"])).rejects.toThrow();
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
