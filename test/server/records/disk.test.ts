import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createDirectory } from "#server/disk/create-directory.ts";
import { DiskBudget, measureDisk } from "#server/disk/disk-budget.ts";
import { formatBytes } from "#server/disk/format-bytes.ts";
import { parseSize } from "#server/disk/parse-size.ts";
import { diskFileStore } from "#server/files/disk-file-store.ts";
import { DiskFiles } from "#server/files/disk-files.ts";
import { store } from "#server/files/receive-upload.ts";
import { useDataDirectory } from "../support/data-directory.ts";
import { eventually } from "../support/eventually.ts";
import { commands, createRun, useServers, waitForState } from "../support/served.ts";

const servers = useServers();
const data = useDataDirectory();
const NEW_RUN = { prompt: commands("true"), config: { model_id: "local/runbook" } };

describe("a server whose data has reached its limit", () => {
  it("refuses new work with the reason, serves existing data, and continues when there is space", async () => {
    const directory = servers.directory();
    const large = path.join(directory, "files/objects/large");
    mkdirSync(path.dirname(large), { recursive: true, mode: 0o700 });
    writeFileSync(large, "");
    truncateSync(large, 40_000_000);
    const full = await servers.start(directory, { args: ["--max-disk", "30MB"] });
    const refused = await eventually(async () => {
      const response = await full.call("POST", "/agent/runs", NEW_RUN);
      expect(response.status).toBe(503);
      return response;
    });
    expect(refused.body).toMatchObject({
      error_code: "resource_unavailable",
      detail: expect.stringContaining("the data of the server has reached its limit of 28.6 MiB"),
    });
    const trial = await full.call("POST", "/agent/environments/1/try");
    expect([trial.status, trial.body.detail]).toEqual([503, refused.body.detail]);
    expect((await full.call("GET", "/agent/runs")).status).toBe(200);
    expect((await servers.run(directory, { command: "status" })).output).toMatch(/files 38\.\d MiB, limit 28\.6 MiB/);
    await full.stop();

    rmSync(large);
    const free = await servers.start(directory, { args: ["--max-disk", "30MB"] });
    expect((await free.call("POST", "/agent/runs", NEW_RUN)).status).toBe(200);
  });
});

describe("the files of a server", () => {
  it("reject an upload that exceeds the limit, and leave nothing of it", async () => {
    const directory = data.directory();
    const budget = { findShortage: (bytes = 0) => (bytes > 10 ? "no room" : undefined), add: () => undefined };
    const files = await DiskFiles.open(directory, budget);
    const how = (expectedBytes: number) => ({ replaces: false, expectedBytes });
    const write = store(files, "a", how(11), async () => undefined);
    await expect(write).rejects.toMatchObject({
      code: "InsufficientStorage",
      message: "No file can be stored: no room.",
    });
    await store(files, "b", how(10), (file) => file.write(Buffer.from("0123456789")));
    expect(readdirSync(path.join(directory, "objects"))).toEqual(["b"]);
    expect(readdirSync(path.join(directory, "incomplete"))).toEqual([]);
  });

  it.each([
    ["ENOSPC", "the server's disk is full"],
    ["EROFS", "the server cannot read or write its data directory"],
  ])("report %s as a clear error", async (code, detail) => {
    const files = await DiskFiles.open(data.directory());
    files.begin = () => Promise.reject(Object.assign(new Error(code), { code }));
    const options = { files, secret: new Uint8Array(32), baseUrl: "http://x", downloadSeconds: 1, now: Date.now };
    const put = diskFileStore(options).put("key", "text", "text/plain");
    await expect(put).rejects.toMatchObject({ code: "resource_unavailable", detail });
  });
});

describe("a data directory that cannot be written", () => {
  it.each([
    ["below a file", () => path.join(createFile(), "data")],
    ["in a file system that creates no directories", () => "/proc/runyard/data"],
  ])("is reported with the remedy: %s", async (_, directory) => {
    const { code, output } = await servers.run(directory());
    expect(code).toBe(1);
    expect(output).toMatch(/The data directory .* cannot be written: .*\n.*Choose another directory with --data/);
  });
});

function createFile(): string {
  const file = path.join(servers.directory(), "file");
  writeFileSync(file, "");
  return file;
}

describe("the data directory", () => {
  it("is made accessible to its owner only", async () => {
    const directory = path.join(servers.directory(), "data");
    mkdirSync(directory, { mode: 0o755 });
    const server = await servers.start(directory);
    await waitForState(server, await createRun(server, "true"), "SUCCEEDED");
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });
});

describe("createDirectory", () => {
  it("creates a directory and its parents for their owner alone, and keeps one that is there", () => {
    const parent = path.join(data.directory(), "a");
    createDirectory(path.join(parent, "b"));
    expect([statSync(parent).mode & 0o777, statSync(path.join(parent, "b")).mode & 0o777]).toEqual([0o700, 0o700]);
    writeFileSync(path.join(parent, "b/file"), "");
    createDirectory(path.join(parent, "b"));
    expect(readdirSync(path.join(parent, "b"))).toEqual(["file"]);
  });
});

describe("a size", () => {
  it.each([
    ["500MB", 500_000_000],
    ["1GB", 1_000_000_000],
    ["2tb", 2_000_000_000_000],
    ["1MiB", 1_048_576],
    [" 1.5 GiB ", 1_610_612_736],
    ["1TiB", 1_099_511_627_776],
    ["1.0000001MB", 1_000_000],
    ["0GB", undefined],
    ["10", undefined],
    ["10kB", undefined],
    ["-1GB", undefined],
    ["1GB of it", undefined],
  ])("is parsed: %s", (text, bytes) => expect(parseSize(text)).toBe(bytes));

  it.each([
    [0, "0 bytes"],
    [1_023, "1023 bytes"],
    [1_024, "1.0 KiB"],
    [1_024 * 99.94, "99.9 KiB"],
    [1_024 * 100.6, "101 KiB"],
    [1_024 ** 2, "1.0 MiB"],
    [1_024 ** 3 * 1.5, "1.5 GiB"],
    [1_024 ** 4 * 2_048, "2048 TiB"],
  ])("of %d bytes is formatted as %s", (bytes, text) => expect(formatBytes(bytes)).toBe(text));
});

describe("DiskBudget", () => {
  function createData(): string {
    const directory = data.directory();
    mkdirSync(path.join(directory, "files/objects/a+"), { recursive: true });
    for (const [file, bytes] of [
      ["runyard.db", 10],
      ["runyard.db-wal", 5],
      ["files/objects/a+/b", 20],
    ] as const)
      writeFileSync(path.join(directory, file), "x".repeat(bytes));
    return directory;
  }

  it("measures the database, the files, the free space and the limit, which is 80 percent of the disk by default", async () => {
    const directory = createData();
    const { blocks, bsize } = await statfs(directory);
    const limit = Math.floor(0.8 * blocks * bsize);
    const free = expect.any(Number);
    expect(await measureDisk(directory, undefined)).toEqual({ database: 15, files: 20, limit, free });
    expect(await measureDisk(directory, 100, 7)).toEqual({ database: 15, files: 7, limit: 100, free });
  });

  it("refuses what would reach the limit, counts stored files, and measures the others only at the start", async () => {
    const directory = createData();
    const budget = new DiskBudget(directory, 100);
    budget.add(1_000);
    expect(budget.findShortage(1_000)).toBeUndefined();
    await budget.measureAll();
    expect(budget.findShortage(64)).toBeUndefined();
    expect(budget.findShortage(65)).toContain("the data of the server has reached its limit of 100 bytes");
    budget.add(60);
    writeFileSync(path.join(directory, "files/objects/c"), "x".repeat(30));
    await budget.measure();
    expect([budget.findShortage(4), budget.findShortage(5) === undefined]).toEqual([undefined, false]);
    await budget.measureAll();
    expect([budget.findShortage(34), budget.findShortage(35) === undefined]).toEqual([undefined, false]);
  });

  it("refuses what would leave less than 100 MiB of the disk free", async () => {
    const directory = createData();
    const budget = new DiskBudget(directory, 2 ** 60);
    await budget.measure();
    expect(budget.findShortage()).toBeUndefined();
    const { bavail, bsize } = await statfs(directory);
    const mib = 1024 ** 2;
    // Other processes write to this disk, too.
    const margin = Math.min(5_000 * mib, (bavail * bsize) / 4);
    expect(budget.findShortage(bavail * bsize - 100 * mib - margin)).toBeUndefined();
    budget.add(bavail * bsize - margin);
    const full = "the disk of the server is almost full; its operator has to free space";
    expect([budget.findShortage(), budget.findShortage(margin)]).toEqual([undefined, full]);
    budget.add(2 ** 59);
    expect(budget.findShortage()).toBe(full);
  });
});
