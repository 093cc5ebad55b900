import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { backupFile } from "#server/database/backup.ts";
import { Database } from "#server/database/database.ts";
import { MIGRATIONS, migrationBackup } from "#server/database/migrations.ts";
import { openDatabase } from "#server/database/open-database.ts";
import { DatabaseError, DatabaseInUse } from "#server/database/sqlite-errors.ts";
import { sqliteTable } from "#server/table/sqlite-table.ts";
import { ConditionFailed, INDEXES, type TransactionWrite } from "#shared/table/table.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();
const put = (sk: string, text = ""): TransactionWrite => ({ kind: "put", item: { pk: "TEST", sk, text } });
const listKeys = async (database: Database) =>
  (await sqliteTable(database).query({ pk: "TEST" })).items.map(({ sk }) => sk);
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Starts a process that writes until it is killed. */
function startWriter(file: string) {
  const script = path.join(import.meta.dirname, "../support", "write-until-killed.ts");
  const child = spawn(process.execPath, [script, file], { stdio: ["ignore", "pipe", "pipe"] });
  return { child, lines: createInterface({ input: child.stdout }), exited: once(child, "exit") };
}

describe("a write", () => {
  it("in the same group as others is atomic on its own", async () => {
    const database = data.open();
    const table = sqliteTable(database);
    const results = await Promise.all([
      failure(table.transact([put("a"), put("b")])),
      failure(
        table.transact([put("c"), { kind: "check", key: { pk: "TEST", sk: "none" }, if: { text: { exists: true } } }]),
      ),
      failure(table.transact([put("d"), put("e", "x".repeat(500_000))])),
      failure(table.transact([put("f")])),
    ]);
    expect(results).toEqual([undefined, new ConditionFailed([1]), expect.any(RangeError), undefined]);
    expect(await listKeys(database)).toEqual(["a", "b", "f"]);
  });

  it("sees the writes that were requested before it", async () => {
    const table = sqliteTable(data.open());
    const condition = { pk: { exists: false } };
    const outcomes = await Promise.all(
      [1, 2, 3].map((n) => failure(table.write({ kind: "put", item: { pk: "TEST", sk: "one", n }, if: condition }))),
    );
    expect(outcomes).toEqual([undefined, new ConditionFailed([0]), new ConditionFailed([0])]);
    expect(await table.get({ pk: "TEST", sk: "one" })).toMatchObject({ n: 1 });
  });

  it("is not affected by later changes to the caller's objects", async () => {
    const table = sqliteTable(data.open());
    const list = [1];
    const writing = table.write({ kind: "put", item: { pk: "TEST", sk: "list", list } });
    list.push(2);
    await writing;
    expect(await table.get({ pk: "TEST", sk: "list" })).toMatchObject({ list: [1] });
  });

  it("is completed by close, and rejected after it", async () => {
    const file = path.join(data.directory(), "runyard.db");
    const database = data.open(file);
    const writing = sqliteTable(database).transact([put("last")]);
    await database.close();
    await writing;
    expect(await failure(sqliteTable(database).transact([put("late")]))).toBeInstanceOf(DatabaseError);
    expect(await listKeys(data.open(file))).toEqual(["last"]);
  });

  it("survives kill -9 after its acknowledgement, and is never stored in part", async () => {
    const file = path.join(data.directory(), "runyard.db");
    const acknowledged = new Set<string>();
    for (const count of [20, 150, 400]) {
      acknowledged.clear();
      const { child, lines, exited } = startWriter(file);
      for await (const line of lines) {
        acknowledged.add(line);
        if (acknowledged.size === count) child.kill("SIGKILL");
      }
      await exited;
      expect(acknowledged.size).toBeGreaterThanOrEqual(count);
      const database = data.open(file);
      const table = sqliteTable(database);
      const [first, second] = await Promise.all(
        ["FIRST", "SECOND"].map(async (pk) => new Set((await table.query({ pk })).items.map(({ sk }) => sk))),
      );
      expect(first).toEqual(second);
      expect([...acknowledged].filter((pair) => first?.has(pair) !== true)).toEqual([]);
      await database.close();
    }
  });
});

describe("a full disk", () => {
  it("rejects the write with a clear error, keeps all other data, and accepts writes again once there is space", async () => {
    const database = data.open(undefined, { maxBytes: 600_000 });
    const table = sqliteTable(database);
    await table.transact([put("kept", "x".repeat(100_000))]);
    const large = Array.from({ length: 4 }, (_, n) => put(`large ${n}`, "x".repeat(200_000)));
    const [refused, small] = await Promise.all([
      failure(table.transact(large)),
      failure(table.transact([put("small")])),
    ]);
    expect(refused).toMatchObject({ code: "resource_unavailable", detail: expect.stringContaining("disk is full") });
    expect(small).toBeUndefined();
    expect(await listKeys(database)).toEqual(["kept", "small"]);
    await table.write({ kind: "delete", key: { pk: "TEST", sk: "kept" } });
    await table.transact(large.slice(0, 1));
    expect(await listKeys(database)).toEqual(["large 0", "small"]);
  });
});

describe("a database that cannot be written", () => {
  it("rejects writes with a clear error and still serves reads", async () => {
    const database = data.open();
    const table = sqliteTable(database);
    await table.transact([put("a")]);
    database.statement("PRAGMA query_only = ON").all();
    expect(await failure(table.transact([put("b")]))).toMatchObject({
      code: "resource_unavailable",
      detail: "the server cannot write to its data directory",
    });
    expect(await listKeys(database)).toEqual(["a"]);
  });

  it.each(["/proc/runyard.db", "/dev/null/runyard.db", "/missing-directory/runyard.db"])(
    "is rejected at startup with what to check: %s",
    (file) => {
      expect(() => openDatabase(file)).toThrow(`${file} cannot be written. Check that its directory exists`);
    },
  );

  it("is rejected at startup if the file is not a database", () => {
    const file = path.join(data.directory(), "runyard.db");
    writeFileSync(file, "not a database, but a text that is long enough to have a header".repeat(100));
    expect(() => openDatabase(file)).toThrow(/is damaged or is not a database of Runyard/);
  });
});

describe("a failed sync", () => {
  it("rejects the write, and all use of the database after it", async () => {
    const connection = new DatabaseSync(":memory:");
    connection.exec(MIGRATIONS.join("\n"));
    const noDescriptor = 2 ** 30;
    const database = new Database({ connection, log: noDescriptor, lock: { release: () => undefined } });
    const table = sqliteTable(database);
    const writing = failure(table.transact([put("a")]));
    const message = "The database could not be synced to the disk; restart the process.";
    expect(await writing).toMatchObject({ name: "DatabaseError", message });
    expect(await failure(table.get({ pk: "TEST", sk: "a" }))).toMatchObject({ message });
    expect(await failure(table.transact([put("b")]))).toMatchObject({ message });
    expect(() => database.writeUnsynced(() => undefined)).toThrow(message);
    connection.close();
  });
});

describe("a second use of a database", () => {
  it("is rejected while another process has it open, and accepted once that process was killed", async () => {
    const file = path.join(data.directory(), "runyard.db");
    const { child, lines, exited } = startWriter(file);
    await once(lines, "line");
    expect(() => openDatabase(file)).toThrow(DatabaseInUse);
    expect(() => openDatabase(file)).toThrow(`Another Runyard process uses ${file}.`);
    child.kill("SIGKILL");
    await exited;
    expect((await sqliteTable(data.open(file)).query({ pk: "FIRST", limit: 1 })).items).toHaveLength(1);
  });

  it("ends the second process with the reason", async () => {
    const file = path.join(data.directory(), "runyard.db");
    data.open(file);
    const { child, exited } = startWriter(file);
    let errors = "";
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    expect((await exited)[0]).toBe(1);
    expect(errors).toContain("Another Runyard process uses");
  });
});

describe("the file of a database", () => {
  it("is readable only by its owner, like its log", async () => {
    const file = path.join(data.directory(), "runyard.db");
    await sqliteTable(data.open(file)).transact([put("a")]);
    for (const part of [file, `${file}-wal`, `${file}-shm`, `${file}.lock`])
      expect(statSync(part).mode & 0o077).toBe(0);
  });

  it("has the indexes of the table port, on the same attributes", () => {
    const file = path.join(data.directory(), "runyard.db");
    data.open(file);
    const db = new DatabaseSync(file, { readOnly: true });
    const columns = (index: string) =>
      db
        .prepare(`PRAGMA index_info(${index})`)
        .all()
        .map(({ name }) => name);
    for (const [name, { pk, sk }] of Object.entries(INDEXES)) expect([name, ...columns(name)]).toEqual([name, pk, sk]);
    db.close();
  });
});

describe("a migration", () => {
  const NEXT = [...MIGRATIONS, "ALTER TABLE items ADD COLUMN extra TEXT"];

  it("keeps the data and a copy of the previous file", async () => {
    const file = path.join(data.directory(), "runyard.db");
    const before = data.open(file);
    await sqliteTable(before).transact([put("a")]);
    await before.close();
    const after = data.open(file, { migrations: NEXT });
    expect(await listKeys(after)).toEqual(["a"]);
    await sqliteTable(after).transact([put("b")]);
    const copy = migrationBackup(file, MIGRATIONS.length);
    expect(statSync(copy).mode & 0o077).toBe(0);
    expect(await listKeys(data.open(copy))).toEqual(["a"]);
  });

  it("that fails leaves the file unchanged", async () => {
    const file = path.join(data.directory(), "runyard.db");
    const before = data.open(file);
    await sqliteTable(before).transact([put("a")]);
    await before.close();
    const broken = [...NEXT, "ALTER TABLE missing ADD COLUMN extra TEXT"];
    expect(() => openDatabase(file, { migrations: broken })).toThrow("no such table: missing");
    const again = data.open(file);
    expect(await listKeys(again)).toEqual(["a"]);
    expect(again.statement("PRAGMA user_version").get()).toEqual({ user_version: MIGRATIONS.length });
  });

  it("of a new file makes no copy", () => {
    const file = path.join(data.directory(), "runyard.db");
    data.open(file, { migrations: NEXT });
    expect(existsSync(migrationBackup(file, MIGRATIONS.length))).toBe(false);
  });

  it("rejects a file of a newer release", async () => {
    const file = path.join(data.directory(), "runyard.db");
    await data.open(file, { migrations: NEXT }).close();
    expect(() => openDatabase(file)).toThrow(/was written by a newer release of Runyard/);
  });
});

describe("a backup", () => {
  it("is a complete database, made during writes", async () => {
    const directory = data.directory();
    const database = data.open(path.join(directory, "runyard.db"));
    const table = sqliteTable(database);
    for (let n = 0; n < 20; n++) await table.transact([put(`before ${n}`, "x".repeat(50_000))]);
    let writing = true;
    const others = (async () => {
      for (let n = 0; writing; n++) await table.transact([put(`during ${n}`)]);
    })();
    const to = path.join(directory, "backup.db");
    await backupFile(path.join(directory, "runyard.db"), to);
    writing = false;
    await others;
    expect(statSync(to).mode & 0o077).toBe(0);
    const copied = await listKeys(data.open(to));
    expect(copied.filter((sk) => sk.startsWith("before"))).toHaveLength(20);
  });

  it("can be made by another process, and replaces an older one", async () => {
    const directory = data.directory();
    const file = path.join(directory, "runyard.db");
    const { child, lines, exited } = startWriter(file);
    await once(lines, "line");
    const to = path.join(directory, "backup.db");
    writeFileSync(to, "older");
    await backupFile(file, to);
    child.kill("SIGKILL");
    await exited;
    expect(readFileSync(to).subarray(0, 15).toString()).toBe("SQLite format 3");
    expect((await sqliteTable(data.open(to)).query({ pk: "FIRST" })).items.length).toBeGreaterThan(0);
  });

  it("takes the place of one that was interrupted", async () => {
    const directory = data.directory();
    const file = path.join(directory, "runyard.db");
    await sqliteTable(data.open(file)).transact([put("a")]);
    const to = path.join(directory, "backup.db");
    writeFileSync(`${to}.partial`, "interrupted");
    await backupFile(file, to);
    expect([await listKeys(data.open(to)), existsSync(`${to}.partial`)]).toEqual([["a"], false]);
  });

  it("that fails leaves no file", async () => {
    const directory = data.directory();
    const damaged = path.join(directory, "damaged.db");
    writeFileSync(damaged, "no database");
    await expect(backupFile(damaged, path.join(directory, "copy.db"))).rejects.toThrow();
    expect(readdirSync(directory)).toEqual(["damaged.db"]);
    const file = path.join(directory, "runyard.db");
    data.open(file);
    await expect(backupFile(file, path.join(directory, "missing", "backup.db"))).rejects.toThrow("ENOENT");
    expect(existsSync(path.join(directory, "missing"))).toBe(false);
  });
});

describe("expired items", () => {
  it("are deleted after their time, in any number", async () => {
    const table = sqliteTable(data.open());
    const item = (sk: string, more: object) => ({ kind: "put" as const, item: { pk: "TEST", sk, ...more } });
    for (let from = 0; from < 1_200; from += 100) {
      await table.transact(Array.from({ length: 100 }, (_, n) => item(`old ${from + n}`, { expires_at: 1_000 })));
    }
    await table.transact([
      item("later", { expires_at: 1_001 }),
      item("kept", {}),
      item("no time", { expires_at: "1" }),
    ]);
    expect(await table.purgeExpired(999_999)).toBe(0);
    expect(await table.purgeExpired(1_000_999)).toBe(1_200);
    expect((await table.query({ pk: "TEST" })).items.map(({ sk }) => sk)).toEqual(["kept", "later", "no time"]);
  });
});
