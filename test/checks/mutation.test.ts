import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findNearestTests } from "../../lab/mutation/nearest.ts";
import { findRedundantTests, type Result, readEquivalents } from "../../lab/mutation/results.ts";
import { PLUGINS } from "../../lab/mutation/stryker.ts";
import { findSuite } from "../../lab/mutation/suites.ts";

const UNKNOWN = { keys: [], tests: {} };
const findTests = (...patterns: string[]) => {
  const suite = patterns.flatMap((pattern) => findSuite(pattern) ?? []);
  return findNearestTests(patterns, [...new Set(suite)], UNKNOWN);
};

it("StrykerJS finds our plug-ins where its configuration names them", () => {
  expect(existsSync(PLUGINS)).toBe(true);
});

describe("findNearestTests", () => {
  it("finds tests that import the file or have its name, and those of its importers where there are none", async () => {
    expect(await findTests("server/http/load-shedder.ts:10-20")).toContain("test/server/http/load-shedder.test.ts");
    expect(await findTests("shared/table/expression.ts")).toContain("test/domain/triggers/expressions.test.ts");
    expect(await findTests("harness/redaction/patterns.ts")).toContain("test/harness/secrets/redact.test.ts");
    expect(await findTests("shared/http/caller.ts")).not.toEqual([]);
  });

  it("returns at most three tests of a file and eight in all, the nearest of each file first", async () => {
    expect((await findTests("shared/schedules/fire.ts")).length).toBeLessThanOrEqual(3);
    const files = ["shared/schedules/fire.ts", "shared/runs/plan-run.ts", "shared/teams/delete-team.ts"];
    const found = await findTests(...files, "shared/secrets/secret-store.ts", "shared/limits/token-bucket.ts");
    expect(found).toHaveLength(8);
    expect(found).toContain("test/api/teams/teams.test.ts");
    expect(found).toContain("test/api/capacity/rate-limits.test.ts");
  });

  it("prefers tests that run the changed lines, and leaves out those that do not or that are slow", async () => {
    const test = { hash: "", milliseconds: 100, passed: true };
    const tests = {
      "test/api/budgets/usage.test.ts": { ...test, reached: [0, 1] },
      "test/api/schedules/schedule-firing.test.ts": { ...test, reached: [0] },
      "test/api/schedules/schedule-recovery.test.ts": { ...test, milliseconds: 60_000, reached: [0, 1] },
    };
    const reach = { keys: ["shared/schedules/fire.ts#", "shared/schedules/fire.ts#1"], tests };
    const find = (keys: readonly string[]) =>
      findNearestTests(["shared/schedules/fire.ts:1-9"], Object.keys(tests), { ...reach, keys: [...keys] });
    expect(await find(reach.keys)).toEqual(["test/api/budgets/usage.test.ts"]);
    // If only the whole file is known, similar names count, too.
    expect(await find(reach.keys.slice(0, 1))).toEqual([
      "test/api/schedules/schedule-firing.test.ts",
      "test/api/budgets/usage.test.ts",
    ]);
  });
});

describe("findRedundantTests", () => {
  const mutant = (...killedBy: string[]): Result => ({
    file: "shared/x.ts",
    line: 1,
    column: 1,
    mutator: "BooleanLiteral",
    original: "true",
    replacement: "false",
    status: killedBy.length === 0 ? "Survived" : "Killed",
    coveredBy: ["a", "b", "c", "d"],
    killedBy,
  });

  it("returns tests without which, all together, each mutant is still killed", () => {
    expect(findRedundantTests([mutant("a", "b"), mutant("b", "c"), mutant("c"), mutant()])).toEqual(["a", "d"]);
    expect(findRedundantTests([mutant("a", "b"), mutant("a", "b")])).toEqual(["a", "c", "d"]);
    expect(findRedundantTests([mutant("a"), mutant("b"), mutant("c"), mutant("d")])).toEqual([]);
  });
});

describe("the list of equivalent mutants", () => {
  it("names only code that exists", () => {
    const isStale = ({ file, original }: { file: string; original: string }) =>
      !existsSync(file) || !withoutSpace(readFileSync(file, "utf8")).includes(withoutSpace(original));
    expect(readEquivalents().filter(isStale)).toEqual([]);
  });

  const withoutSpace = (code: string) => code.replaceAll(/\s/g, "");
});

describe("a process that runs a mutant", () => {
  const module = new URL("../../lab/mutation/keep-alive.mjs", import.meta.url).href;

  /** Runs code as the process of the tests or as one that a test started. All kills send a signal that is ignored. */
  function run(code: string, keptAlive?: string): unknown {
    const { RUNYARD_MUTATION_KEPT_ALIVE: _, ...env } = process.env;
    const script = `await import("${module}"); const { refusedKills } = globalThis.__stryker__; process.on("exit", () => console.log(JSON.stringify(refusedKills))); ${code}`;
    return JSON.parse(
      execFileSync(process.execPath, ["--input-type=module", "-e", `${script}; refusedKills.push("ended");`], {
        encoding: "utf8",
        env: { ...env, ...(keptAlive === undefined ? {} : { RUNYARD_MUTATION_KEPT_ALIVE: keptAlive }) },
      }),
    );
  }

  it("kills neither the tests, nor what started them, nor their groups", () => {
    const refused = (pid: number | string) => `the code kills process ${pid}, which no test started`;
    const code = `for (const pid of [${process.pid}, 0, -1, 1]) process.kill(pid, "SIGURG")`;
    expect(run(code)).toEqual([...[process.pid, 0, -1, 1].map(refused), "ended"]);
    expect(run('refusedKills.push(process.pid); process.kill(process.pid, "SIGURG")')).toEqual([
      expect.any(Number),
      expect.stringMatching(/^the code kills process \d+, /),
      "ended",
    ]);
  });

  it("kills other processes, and can test whether a process exists", () => {
    const started = 'const { spawn } = await import("node:child_process"); const { pid } = spawn("sleep", ["1"])';
    expect(run(`${started}; process.kill(pid, "SIGKILL"); process.kill(${process.pid}, 0)`)).toEqual(["ended"]);
  });

  it("exits if a test started it and it kills a protected process", () => {
    expect(() => run('process.kill(4321, "SIGURG")', "1234 4321")).toThrow(/status|Command failed/);
  });
});
