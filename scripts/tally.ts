import { appendFileSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import * as v from "valibot";
import { Tier } from "./tiers.ts";

/** How many tests passed, and the name of each that failed. */
export interface Tally {
  passed: number;
  failures: readonly string[];
}

export function sum(tallies: readonly Tally[]): Tally {
  return {
    passed: tallies.reduce((passed, tally) => passed + tally.passed, 0),
    failures: tallies.flatMap(({ failures }) => failures),
  };
}

const VitestReport = v.object({
  testResults: v.array(
    v.object({
      name: v.string(),
      status: v.string(),
      assertionResults: v.array(v.object({ fullName: v.string(), status: v.string() })),
    }),
  ),
});

/**
 * A skipped test is a failure with a better name, and so is a todo. A file that could not load or clean up counts as one
 * failure though none of its tests failed; so does any other reason why vitest exited with an error.
 */
export function countVitest(json: string, exitCode: number | null): Tally {
  const files = v.parse(VitestReport, JSON.parse(json)).testResults;
  const tally = sum(files.map(countFile));
  const unexplained = exitCode !== 0 && tally.failures.length === 0;
  return unexplained || files.length === 0 ? withFailure(tally, `vitest, exit code ${exitCode}`) : tally;
}

const PythonReport = v.object({
  checks: v.array(v.object({ name: v.string(), ok: v.boolean() })),
  suites: v.array(
    v.object({
      name: v.string(),
      tests: v.number(),
      failures: v.number(),
      errors: v.number(),
      skipped: v.number(),
      exit_code: v.number(),
    }),
  ),
});

/**
 * What clients/python/scripts/check.py reports: each of its checks, and each test of its suites, once for every Python
 * that they ran with. A skipped test has failed, and so has a suite without tests, and a run without a suite.
 */
export function countPython(json: string, exitCode: number | null): Tally {
  const { checks, suites } = v.parse(PythonReport, JSON.parse(json));
  const failedChecks = checks.filter(({ ok }) => !ok);
  const tally = sum([
    { passed: checks.length - failedChecks.length, failures: failedChecks.map(({ name }) => `Python client: ${name}`) },
    ...suites.map(({ name, tests, failures, errors, skipped, exit_code }) => {
      const failed = failures + errors + skipped;
      const broken = failed === 0 && (tests === 0 || exit_code !== 0);
      const names = Array.from({ length: broken ? 1 : failed }, () => `Python client: a test with ${name}`);
      return { passed: Math.max(0, tests - failed), failures: names };
    }),
  ]);
  const unexplained = exitCode !== 0 && tally.failures.length === 0;
  return unexplained || suites.length === 0 ? withFailure(tally, `Python client, exit code ${exitCode}`) : tally;
}

function withFailure({ passed, failures }: Tally, name: string): Tally {
  return { passed, failures: [...failures, name] };
}

function countFile(file: v.InferOutput<typeof VitestReport>["testResults"][number]): Tally {
  const failed = file.assertionResults.filter((test) => test.status !== "passed");
  const passed = file.assertionResults.length - failed.length;
  const brokenAround = failed.length === 0 && (file.status !== "passed" || passed === 0);
  const path = relative(process.cwd(), file.name);
  return { passed, failures: brokenAround ? [path] : failed.map(({ fullName }) => `${path}: ${fullName}`) };
}

const Entry = v.object({ tier: Tier, passed: v.number(), failures: v.array(v.string()) });

/**
 * Adds the tally of a tier to a file, one line a tier, and returns the sum of all. A first tier that left no line has not
 * come to its end, and counts as one failure.
 */
export function recordTier(file: string, tier: Tier, { passed, failures }: Tally): Tally {
  appendFileSync(file, `${JSON.stringify({ tier, passed, failures })}\n`);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const entries = lines.map((line) => v.parse(Entry, JSON.parse(line)));
  const missing = entries.some((entry) => entry.tier === "first") ? [] : [{ passed: 0, failures: ["the first tier"] }];
  return sum([...entries, ...missing]);
}
