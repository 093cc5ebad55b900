import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { importData } from "#server/transfer/import.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { fillServer, type PortableData, readAll } from "../../support/portable-data.ts";
import { eventually } from "../support/eventually.ts";
import { createRun, type Served, useServers, waitForState } from "../support/served.ts";

const servers = useServers();
const command = (data: string, name: string, place: string) => servers.run(data, { command: name, args: [place] });

/** Reads all resources of a server. */
const readResponses = (server: Served, data: PortableData) =>
  readAll(data, server.state.web_url, async (target) => {
    const { status, body, headers } = await server.call("GET", target);
    return { status, body, location: headers.get("location") ?? undefined };
  });

describe("the data of a server", () => {
  it("gives the same responses after a backup and restore, and after an export and import", async () => {
    const [directory, places] = [servers.directory(), servers.directory()];
    const server = await servers.start(directory);
    const resources = await fillServer(server);
    const before = await readResponses(server, resources);
    expect(before[`/agent/artifacts/${resources.artifact}`]).toMatchObject({ status: 200 });

    const [backup, archive] = [path.join(places, "backup"), path.join(places, "export.tar.gz")];
    expect((await command(directory, "backup", backup)).code).toBe(0);
    const exported = await command(directory, "export", archive);
    expect(exported).toMatchObject({ code: 0, output: expect.stringContaining("DEPLOY_TOKEN") });
    expect(exported.output).not.toContain("a-very-secret-value");
    const refused = await command(directory, "restore", backup);
    expect(refused).toMatchObject({ code: 1, output: expect.stringMatching(/A service runs on .*: stop process \d+/) });
    const localState = readFileSync(path.join(directory, "local.json"));
    await server.stop();

    for (const [name, place] of [
      ["restore", backup],
      ["import", archive],
    ] as const) {
      const other = servers.directory();
      expect(await command(other, name, place)).toMatchObject({ code: 0 });
      // The same key opens the copy.
      writeFileSync(path.join(other, "local.json"), localState, { mode: 0o600 });
      const copy = await servers.start(other);
      expect(copy.state.api_key).toBe(server.state.api_key);
      expect(await readResponses(copy, resources)).toEqual(before);
      await eventually(() => expect(listTimers(other)).toEqual([resources.schedule]));
      await waitForState(copy, await createRun(copy, "echo again"), "SUCCEEDED");
      await copy.stop();
      const repeated = await command(other, name, place);
      if (name === "import") expect(repeated).toMatchObject({ code: 0, output: expect.stringContaining("already") });
      else expect(repeated).toMatchObject({ code: 1, output: expect.stringContaining("is not empty") });
    }
  });
});

function listTimers(directory: string): unknown[] {
  const database = new DatabaseSync(path.join(directory, "runyard.db"), { readOnly: true });
  try {
    return database
      .prepare("SELECT id FROM timers")
      .all()
      .map(({ id }) => id);
  } finally {
    database.close();
  }
}

describe("a backup", () => {
  it("that fails leaves nothing, and does not replace anything", async () => {
    const directory = servers.directory();
    const missing = await command(path.join(directory, "none"), "backup", path.join(directory, "backup"));
    expect(missing).toMatchObject({ code: 1, output: expect.stringContaining("cannot be read") });
    writeFileSync(path.join(directory, "kept"), "kept");
    expect(await command(directory, "backup", path.join(directory, "kept"))).toMatchObject({
      code: 1,
      output: expect.stringContaining("exists already"),
    });
    expect(readdirSync(directory)).toEqual(["kept"]);
    expect(readFileSync(path.join(directory, "kept"), "utf8")).toBe("kept");
  });

  it("that is damaged is not restored", async () => {
    const [directory, backup, target] = [servers.directory(), path.join(servers.directory(), "b"), servers.directory()];
    const server = await servers.start(directory);
    await server.stop();
    expect((await command(directory, "backup", backup)).code).toBe(0);
    writeFileSync(path.join(backup, "runyard.db"), "not a database");
    expect(await command(target, "restore", backup)).toMatchObject({
      code: 1,
      output: expect.stringContaining("is damaged"),
    });
    expect(existsSync(path.join(target, "runyard.db"))).toBe(false);
  });
});

describe("a restore and an import", () => {
  it("refuse what they cannot read, name it, and leave no data directory", async () => {
    const places = servers.directory();
    const target = path.join(places, "data");
    const file = (name: string) => path.join(places, name);
    mkdirSync(file("empty"));
    mkdirSync(file("incomplete"));
    writeFileSync(file("incomplete/backup.json"), '{"format":"runyard backup 1","created_at":"2026-01-01T00:00:00Z"}');
    writeFileSync(file("text.tar.gz"), "no archive");
    writeFileSync(file("text.txt"), "no archive");
    const refused = [
      ["restore", "missing.tar.gz", /missing\.tar\.gz does not exist/],
      ["restore", "text.tar.gz", /tar .*text\.tar\.gz.* failed/],
      ["restore", "text.txt", /text\.txt is neither a directory nor a tar archive/],
      ["restore", "incomplete", /The backup lacks the file runyard\.db/],
      ["import", "empty", /empty is not an export of Runyard/],
    ] as const;
    for (const [name, place, message] of refused) {
      const { code, output } = await command(target, name, file(place));
      expect([code, output]).toEqual([1, expect.stringMatching(message)]);
      expect(output).not.toContain("    at ");
    }
    expect(existsSync(target)).toBe(false);
  });
});

describe("an import", () => {
  it("that was interrupted can be repeated, and refuses a target with other data", async () => {
    const [directory, place] = [servers.directory(), path.join(servers.directory(), "export")];
    const server = await servers.start(directory);
    await createRun(server, "true");
    await server.stop();
    expect((await command(directory, "export", place)).code).toBe(0);

    const table = memoryTable();
    let left = 5;
    const failing = {
      ...table,
      write: async (write: Parameters<typeof table.write>[0]) => {
        if (left-- <= 0) throw new Error("interrupted");
        await table.write(write);
      },
    };
    const target = (used: typeof table) => ({
      name: "the target",
      table: used,
      isEmpty: async () => table.all().length === 0,
      storeFiles: async () => JSON.parse(readFileSync(path.join(place, "export.json"), "utf8")).files,
    });
    await expect(importData(place, target(failing), Date.now)).rejects.toThrow("interrupted");
    expect(await importData(place, target(table), Date.now)).toMatchObject({ wasComplete: false });
    const { items } = JSON.parse(readFileSync(path.join(place, "export.json"), "utf8"));
    expect(table.all()).toHaveLength(items + 1);
    expect(await importData(place, target(table), Date.now)).toMatchObject({ wasComplete: true });

    const other = path.join(servers.directory(), "other");
    mkdirSync(other);
    cpSync(place, other, { recursive: true });
    const manifest = JSON.parse(readFileSync(path.join(other, "export.json"), "utf8"));
    writeFileSync(path.join(other, "export.json"), JSON.stringify({ ...manifest, id: "another" }));
    await expect(importData(other, target(table), Date.now)).rejects.toThrow("the target is not empty");
  });
});
