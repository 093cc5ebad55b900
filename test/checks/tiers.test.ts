import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { afterEach, describe, expect, it, vi } from "vitest";
import { root } from "../../scripts/run-command.ts";
import { selectTestFiles, TIER_VARIABLE, type Tier, tierOf } from "../../scripts/tiers.ts";

const Config = v.object({
  default: v.object({
    test: v.object({
      projects: v.array(v.object({ test: v.object({ include: v.array(v.string()), exclude: v.array(v.string()) }) })),
    }),
  }),
});
/** They name these programs and run none. */
const READERS = ["test/checks/tiers.test.ts", "test/security/pinned-installs.test.ts"];
const ALL = globSync("test/**/*.test.ts", { cwd: root }).sort();

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

describe("the tiers of the tests", () => {
  it("have each test file in exactly one", async () => {
    const first = await listFiles("first");
    const full = await listFiles("full");
    expect([...first, ...full].sort()).toEqual(ALL);
    expect(first.filter((file) => tierOf(file) !== "first")).toEqual([]);
    expect(full.filter((file) => tierOf(file) !== "full")).toEqual([]);
  });

  it("are both run by vitest if none is named", async () => {
    expect(await listFiles(undefined)).toEqual(ALL);
  });

  it("are two: another name is refused", async () => {
    vi.stubEnv(TIER_VARIABLE, "second");
    await expect(import("../../vitest.config.ts")).rejects.toThrow("second");
  });

  it("have the files of a folder by their names, unless the folder is in the second as a whole", () => {
    expect(selectTestFiles("store", "first")).toEqual({
      include: ["test/store/**/*.test.ts"],
      exclude: ["test/**/*.full.test.ts"],
    });
    expect(selectTestFiles("store", "full")).toEqual({ include: ["test/store/**/*.full.test.ts"], exclude: [] });
    expect(selectTestFiles("agents", "first")).toEqual({ include: [], exclude: [] });
    expect(selectTestFiles("agents", "full")).toEqual({ include: ["test/agents/**/*.test.ts"], exclude: [] });
  });

  it.each<[string, Tier]>([
    ["test/store/memory.test.ts", "first"],
    ["test/store/emulated.full.test.ts", "full"],
    ["test/server/queue/slow.full.test.ts", "full"],
    ["test/agents/live.test.ts", "full"],
    ["test/harness/agents/live.test.ts", "first"],
  ])("have %s in the %s one", (file, tier) => {
    expect(tierOf(file)).toBe(tier);
  });

  it("have the tests that download something in the second", () => {
    const downloading = [
      "ensurePythonEnvironment(",
      "emulatedAws(",
      "startDynamoDbLocal(",
      '"pip"',
      "python/scripts/check.py",
    ];
    const tests = ALL.filter((file) => downloading.some((text) => read(file).includes(text)));
    expect(tests.length).toBeGreaterThan(4);
    expect(tests.filter((file) => tierOf(file) === "first" && !READERS.includes(file))).toEqual([]);
  });
});

/** The files that vitest's configuration selects. */
async function listFiles(tier: Tier | undefined): Promise<string[]> {
  vi.resetModules();
  vi.stubEnv(TIER_VARIABLE, tier);
  const { projects } = v.parse(Config, await import("../../vitest.config.ts")).default.test;
  return projects.flatMap(({ test: { include, exclude } }) => globSync(include, { cwd: root, exclude })).sort();
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}
