import fs, { existsSync, readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openAdapters } from "#server/ports.ts";
import { openInstallationKey, rotateInstallationKey, vaultKeys } from "#server/secrets/installation-key.ts";
import { sqliteTable } from "#server/table/sqlite-table.ts";
import { backUp, restore } from "#server/transfer/backup.ts";
import { keys as tableKeys } from "#shared/table/keys.ts";
import { tableVault } from "#shared/vault/secret-value-store.ts";
import { runHere } from "../support/command-line.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();
afterEach(restoreWrites);

function restoreWrites(): void {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
}

/** A data directory with values of two teams. */
async function makeData() {
  const directory = data.directory();
  const { database, table, installationKey } = await openAdapters(directory);
  const vault = tableVault(table, vaultKeys(installationKey));
  for (const [team, id] of PLACES) await vault.put(team, id, `value of ${team} ${id}`);
  await table.write({ kind: "put", item: { pk: "TEST", sk: "other", text: "as it was" } });
  await database.close();
  return { directory, keyFile: path.join(directory, "runyard.key"), former: Buffer.from(installationKey) };
}

const PLACES = [
  ["team", "a"],
  ["team", "b"],
  ["other", "é"],
] as const;
const VALUES = PLACES.map(([team, id]) => `value of ${team} ${id}`);

/** Reads all values, as a start of the service would. */
async function readAll(directory: string): Promise<unknown[]> {
  const { database, table, installationKey } = await openAdapters(directory);
  const vault = tableVault(table, vaultKeys(installationKey));
  const values = await Promise.all(PLACES.map(async ([team, id]) => (await vault.getAll(team, [id])).get(id)));
  await database.close();
  return values;
}

const rotate = (directory: string) => runHere(["vault", "rotate", "--data", directory]);

/** Makes the write with this number fail, before it is done or right afterwards. Returns the number of writes so far. */
function interrupt(number: number, when: "before" | "after"): () => number {
  let count = 0;
  const wrap =
    <Args extends unknown[], Result>(write: (...args: Args) => Result) =>
    (...args: Args): Result => {
      const isLast = ++count === number;
      if (isLast && when === "before") throw new Error("interrupted");
      const result = write(...args);
      if (isLast) throw new Error("interrupted");
      return result;
    };
  const { writeSync, fsyncSync, renameSync } = fs;
  vi.spyOn(fs, "writeSync").mockImplementation(wrap(writeSync));
  vi.spyOn(fs, "fsyncSync").mockImplementation(wrap(fsyncSync));
  vi.spyOn(fs, "renameSync").mockImplementation(wrap(renameSync));
  syncBuiltinESMExports();
  return () => count;
}

describe("vault rotate", () => {
  it("replaces the key, and encrypts all values with the new one", async () => {
    const { directory, keyFile, former } = await makeData();
    const { code, output, errors } = await rotate(directory);
    expect([code, errors]).toEqual([0, ""]);
    expect(output).toMatch(/runyard\.key has a new key, which encrypts 3 values\.$/);
    expect(readFileSync(keyFile).equals(former)).toBe(false);
    expect(fs.statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(existsSync(`${keyFile}.next`)).toBe(false);
    expect(await readAll(directory)).toEqual(VALUES);
    const table = sqliteTable(data.open(path.join(directory, "runyard.db")));
    expect(await table.get({ pk: "TEST", sk: "other" })).toEqual({ pk: "TEST", sk: "other", text: "as it was" });
    await expect(tableVault(table, vaultKeys(former)).getAll("team", ["a"])).rejects.toThrow();
  });

  it.each(["before", "after"] as const)(
    "loses nothing if it is interrupted %s each of its writes, and can be repeated",
    async (when) => {
      const { directory: other } = await makeData();
      const countWrites = interrupt(0, when);
      expect((await rotate(other)).code).toBe(0);
      const writes = countWrites();
      restoreWrites();
      expect(writes).toBeGreaterThan(4);
      for (let number = 1; number <= writes; number++) {
        const { directory, former, keyFile } = await makeData();
        interrupt(number, when);
        expect(await rotate(directory)).toMatchObject({ code: 1, errors: expect.stringContaining("interrupted") });
        restoreWrites();
        expect(await readAll(directory), `interrupted ${when} write ${number}`).toEqual(VALUES);
        expect(existsSync(`${keyFile}.next`)).toBe(false);
        expect((await rotate(directory)).code).toBe(0);
        expect(await readAll(directory)).toEqual(VALUES);
        expect(readFileSync(keyFile).equals(former)).toBe(false);
      }
    },
  );

  it("changes nothing if a value cannot be decrypted, and names it", async () => {
    const { directory, keyFile, former } = await makeData();
    const database = data.open(path.join(directory, "runyard.db"));
    const table = sqliteTable(database);
    const item = await table.get(tableKeys.secretValue("team", "b"));
    await table.write({
      kind: "put",
      item: { ...tableKeys.secretValue("team", "b"), ...item, sealed: new Uint8Array(40) },
    });
    await expect(rotateInstallationKey(database, keyFile)).rejects.toThrow(
      "cannot be decrypted, so nothing was changed",
    );
    expect(await openInstallationKey(database, keyFile)).toEqual(former);
    expect((await tableVault(table, vaultKeys(former)).getAll("team", ["a"])).get("a")).toBe("value of team a");
  });

  it("is refused without data, while the service uses them, and for other verbs", async () => {
    const directory = data.directory();
    expect(await rotate(directory)).toMatchObject({ code: 1, errors: expect.stringContaining("has no data") });
    const { directory: used } = await makeData();
    const { database } = await openAdapters(used);
    expect(await rotate(used)).toMatchObject({
      code: 1,
      errors: expect.stringContaining("Another Runyard process uses"),
    });
    await database.close();
    expect(await runHere(["vault", "turn"])).toMatchObject({
      code: 2,
      errors: expect.stringContaining("vault turn: the only command is vault rotate."),
    });
    expect((await runHere(["vault", "--help"])).output).toContain("runyard-server vault rotate [options]");
  });
});

describe("a backup", () => {
  it("of a rotation that was interrupted when the database had the new key can be restored", async () => {
    const { directory } = await makeData();
    vi.spyOn(fs, "renameSync").mockImplementation(() => {
      throw new Error("interrupted");
    });
    syncBuiltinESMExports();
    expect((await rotate(directory)).code).toBe(1);
    restoreWrites();
    const [to, restored] = [data.directory(), path.join(data.directory(), "restored")];
    await backUp(directory, to);
    await restore(to, restored);
    expect(await readAll(restored)).toEqual(VALUES);
  });

  it("is refused if the key is rotated between its copies", async () => {
    const { directory } = await makeData();
    const to = data.directory();
    const { copyFile } = fs.promises;
    vi.spyOn(fs.promises, "copyFile").mockImplementation(async (...args) => {
      await rotate(directory);
      await copyFile(...args);
    });
    syncBuiltinESMExports();
    await expect(backUp(directory, to)).rejects.toThrow("The key was rotated while it was backed up.");
  });
});
