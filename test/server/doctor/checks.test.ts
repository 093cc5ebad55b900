import { chmodSync, mkdirSync, promises, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { doctorCommand } from "#server/command/doctor-command.ts";
import { packageProgram } from "#server/command/program.ts";
import {
  checkDataDirectory,
  checkFreeSpace,
  checkMirrors,
  checkScratch,
  checkSnapshots,
} from "#server/doctor/check-data.ts";
import { checkIsolation } from "#server/doctor/check-host.ts";
import { checkProviders } from "#server/doctor/check-providers.ts";
import { startServer } from "../../support/http-server.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();
afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** A data directory with files of these modes. */
function createData(mode: number, files: Readonly<Record<string, number>> = {}): string {
  const directory = path.join(data.directory(), "data");
  mkdirSync(directory);
  chmodSync(directory, mode);
  for (const [name, fileMode] of Object.entries(files)) {
    writeFileSync(path.join(directory, name), "x");
    chmodSync(path.join(directory, name), fileMode);
  }
  return directory;
}

describe("the doctor's check of the data directory", () => {
  it("accepts what only its owner can access", async () => {
    const directory = createData(0o700, { "runyard.db": 0o600, "runyard.key": 0o600 });
    expect(await checkDataDirectory(directory)).toEqual([
      { name: "data", status: "ok", detail: `${directory} is accessible to its owner only` },
      { name: "key", status: "ok", detail: "readable by its owner only" },
    ]);
  });

  it.each([0o750, 0o705, 0o710, 0o702])("refuses a directory that other users can access (mode %o)", async (mode) => {
    const directory = createData(mode);
    expect(await checkDataDirectory(directory)).toEqual([
      {
        name: "data",
        status: "failed",
        detail: `${directory} is accessible to other users`,
        remedy: `Run: chmod 700 '${directory}'`,
      },
    ]);
  });

  it.each([0o640, 0o604, 0o620])("refuses a key that other users can access (mode %o)", async (mode) => {
    const directory = createData(0o700, { "runyard.key": mode });
    const key = path.join(directory, "runyard.key");
    const [, ...checks] = await checkDataDirectory(directory);
    const detail = `${key} is accessible to other users`;
    expect(checks).toEqual([{ name: "key", status: "failed", detail, remedy: `Run: chmod 600 '${key}'` }]);
  });

  it("reports a missing key only if there is a database", async () => {
    const directory = createData(0o700, { "runyard.db": 0o600 });
    const detail = `${path.join(directory, "runyard.key")} is missing, so secrets cannot be read`;
    const [, ...checks] = await checkDataDirectory(directory);
    expect(checks).toEqual([{ name: "key", status: "failed", detail, remedy: "Put it back from a backup." }]);
    expect(await checkDataDirectory(createData(0o700))).toMatchObject([{ name: "data", status: "ok" }]);
  });

  it("refuses a path that is not a directory, such as a file or a link", async () => {
    const directory = createData(0o700, { file: 0o600 });
    const link = path.join(directory, "link");
    symlinkSync(directory, link);
    for (const wrong of [path.join(directory, "file"), link]) {
      const detail = `${wrong} is not a directory`;
      expect(await checkDataDirectory(wrong)).toEqual([
        { name: "data", status: "failed", detail, remedy: "Choose another one with --data." },
      ]);
    }
  });

  it("accepts a directory that the first start creates, also below others that do not exist", async () => {
    const directory = path.join(data.directory(), "a/b/c");
    const detail = `${directory} will be created at the first start`;
    expect(await checkDataDirectory(directory)).toEqual([{ name: "data", status: "ok", detail }]);
  });
});

describe("the doctor's check of the rights to write", () => {
  it.each([
    ["a data directory", "."],
    ["the directory that the first start creates one in", "a/b"],
  ])("refuses %s that this user cannot write", async (_, name) => {
    const directory = createData(0o700);
    vi.spyOn(promises, "access").mockRejectedValue(new Error("EACCES"));
    syncBuiltinESMExports();
    expect(await checkDataDirectory(path.join(directory, name))).toEqual([
      {
        name: "data",
        status: "failed",
        detail: `${directory} cannot be written`,
        remedy: "Choose another directory with --data, or change its owner.",
      },
    ]);
  });
});

describe("the doctor's check of the disk", () => {
  const MIB = 1024 ** 2;
  it.each([
    [100 * MIB - 1, "failed"],
    [100 * MIB, "warning"],
    [2 * 1024 * MIB - 1, "warning"],
    [2 * 1024 * MIB, "ok"],
  ])("reports %i free bytes as %s", async (free, status) => {
    const disk = { ...(await promises.statfs("/")), bavail: free, bsize: 1 };
    vi.spyOn(promises, "statfs").mockResolvedValue(disk);
    syncBuiltinESMExports();
    expect(await checkFreeSpace(data.directory())).toMatchObject({ name: "disk", status });
  });

  it("refuses a disk without space, also for a directory that does not exist yet", async () => {
    const check = {
      name: "disk",
      status: "failed",
      detail: "0 bytes are free",
      remedy: "Free some space, or put the data on another disk with --data.",
    };
    // This file system has no blocks.
    expect(await checkFreeSpace("/proc")).toEqual(check);
    expect(await checkFreeSpace("/proc/runyard/data")).toEqual(check);
  });

  it("reports the free space", async () => {
    expect(await checkFreeSpace(data.directory())).toMatchObject({ detail: expect.stringMatching(/^\d.* are free$/) });
  });
});

describe("the doctor's check of the isolation", () => {
  it.each([
    [true, "failed"],
    [false, "warning"],
  ])("reports that commands cannot be isolated, where that is needed: %s as %s", async (isNeeded, status) => {
    vi.stubEnv("PATH", data.directory());
    expect(await checkIsolation(isNeeded)).toMatchObject([
      { name: "isolation", status, detail: expect.stringContaining("commands cannot be isolated: ") },
    ]);
  });

  it("says for each limit whether the kernel or the harness holds it", async () => {
    vi.stubEnv("RUNYARD_RUN_FILE_SYSTEM", "shared");
    const [isolation, ...limits] = await checkIsolation(true);
    expect(isolation?.name).toBe("isolation");
    expect(limits.map(({ name, status }) => [name, status])).toEqual(
      ["memory", "disk", "files", "processes"].map((name) => [`${name} limit`, "ok"]),
    );
    for (const { detail } of limits) expect(detail).toMatch(/^(held by the kernel|measured by the harness, .*)$/);
    expect(limits[1]?.detail).toContain("measured");
  });
});

describe("the doctor of a service", () => {
  it.each([
    [[], "failed"],
    [["--no-sandbox"], "warning"],
  ])("requires isolation unless it is disabled: with %j, missing isolation is reported as %s", async (args, status) => {
    const directory = data.directory();
    vi.stubEnv("PATH", directory);
    const printed = vi.spyOn(console, "log").mockReturnValue(undefined);
    try {
      await doctorCommand(["--json", "--data", directory, ...args], packageProgram({ HOME: directory }));
      const { checks } = JSON.parse(printed.mock.calls.join(""));
      expect(checks).toContainEqual(expect.objectContaining({ name: "isolation", status }));
    } finally {
      printed.mockRestore();
    }
  });
});

describe("the doctor's call of a model provider", () => {
  it("has the provider's key, its first model and the smallest limit that it accepts", async () => {
    const calls: unknown[] = [];
    vi.stubGlobal("fetch", async (url: string, { headers, body }: { headers: object; body: string }) => {
      calls.push([url, headers, JSON.parse(body)]);
      return new Response("{}");
    });
    await using server = await startServer(async (request, response) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      if (request.url === "/v1/chat/completions") calls.push([request.url, request.headers, JSON.parse(body)]);
      response.end("{}");
    });
    const checks = await checkProviders({
      RUNYARD_ANTHROPIC_API_KEY: "key-a",
      RUNYARD_OPENAI_API_KEY: "key-o",
      RUNYARD_COMPATIBLE_BASE_URL: `${server.url}/v1`,
      RUNYARD_COMPATIBLE_MODELS: "tiny, large",
      RUNYARD_COMPATIBLE_API_KEY: "key-c",
    });
    expect(checks.map(({ name, status }) => [name, status])).toEqual([
      ["model anthropic", "ok"],
      ["model openai", "ok"],
      ["model compatible", "ok"],
    ]);
    const messages = [{ role: "user", content: "Reply with OK." }];
    const model = expect.any(String);
    const bearer = (key: string) => expect.objectContaining({ authorization: `Bearer ${key}` });
    expect(calls).toEqual([
      [
        "https://api.anthropic.com/v1/messages",
        expect.objectContaining({ "x-api-key": "key-a" }),
        { model, messages, max_tokens: 1 },
      ],
      ["https://api.openai.com/v1/chat/completions", bearer("key-o"), { model, messages, max_completion_tokens: 16 }],
      ["/v1/chat/completions", bearer("key-c"), { model: "tiny", messages, max_tokens: 1 }],
    ]);
  });

  it.each([
    [402, "Add credit to the account of the provider."],
    [403, "Check the key in RUNYARD_OPENAI_API_KEY."],
    [400, "Check the model and its provider's documentation."],
    [500, "The provider has a problem. Try again later."],
  ])("that responds with %i has a remedy, and the beginning of the response", async (status, remedy) => {
    vi.stubGlobal("fetch", async () => new Response("x".repeat(201), { status }));
    const [check] = await checkProviders({ RUNYARD_OPENAI_API_KEY: "key" });
    expect(check).toEqual({
      name: "model openai",
      status: "failed",
      detail: expect.stringMatching(new RegExp(`: ${status} x{200}$`)),
      remedy,
    });
  });
});

describe("the doctor's check of scratch directories", () => {
  it("names those that could not be removed", async () => {
    // A short path: with a longer one, scratch directories are in the temporary directory of the system.
    const directory = data.directory();
    const left = path.join(directory, "scratch", "left-runyard-sandbox-1-a");
    expect(await checkScratch(directory)).toEqual({
      name: "scratch",
      status: "ok",
      detail: "no files of ended executions are left",
    });
    mkdirSync(left, { recursive: true, mode: 0o700 });
    expect(await checkScratch(directory)).toMatchObject({
      status: "warning",
      detail: `files of 1 executions could not be removed: ${left}`,
    });
  });
});

describe("the doctor's check of what the service keeps", () => {
  it("counts mirrors and snapshots, with their sizes", async () => {
    const directory = data.directory();
    expect(await checkMirrors(directory)).toMatchObject({ status: "ok", detail: "0 of repositories, 0 bytes" });
    const packs = path.join(directory, "mirrors", "a.git", "objects", "pack");
    const snapshot = path.join(directory, "files", "snapshots", "run", "execution", "setup");
    for (const place of [packs, snapshot]) mkdirSync(place, { recursive: true });
    writeFileSync(path.join(packs, "a.pack"), "x".repeat(10));
    writeFileSync(path.join(snapshot, "0"), "x".repeat(20));
    expect(await checkMirrors(directory)).toMatchObject({ detail: expect.stringMatching(/^1 of repositories, 10 b/i) });
    expect(await checkSnapshots(directory)).toMatchObject({
      status: "ok",
      detail: expect.stringMatching(/^of 1 runs and setups, 20 b.*; removed after 30 days$/i),
    });
  });
});
