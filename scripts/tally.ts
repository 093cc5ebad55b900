import { appendFileSync, readFileSync } from "node:fs";
import * as v from "valibot";
import { Tier } from "./tiers.ts";

export interface Tally {
  passed: number;
  failed: number;
}

export function sum(tallies: readonly Tally[]): Tally {
  return tallies.reduce((a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed }), {
    passed: 0,
    failed: 0,
  });
}

const VitestReport = v.object({
  testResults: v.array(v.object({ status: v.string(), assertionResults: v.array(v.object({ status: v.string() })) })),
});

/**
 * A skipped test is a failure with a better name, and so is a todo. A file that could not load or clean up counts as one
 * failure though none of its tests failed; so does any other reason why vitest exited with an error.
 */
export function countVitest(json: string, exitCode: number | null): Tally {
  const files = v.parse(VitestReport, JSON.parse(json)).testResults;
  const tally = sum(files.map(countFile));
  const unexplained = exitCode !== 0 && tally.failed === 0;
  return unexplained || files.length === 0 ? { ...tally, failed: tally.failed + 1 } : tally;
}

const PythonReport = v.object({
  checks: v.array(v.object({ name: v.string(), ok: v.boolean() })),
  suites: v.array(
    v.object({
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
  const passedChecks = checks.filter(({ ok }) => ok).length;
  const tally = sum([
    { passed: passedChecks, failed: checks.length - passedChecks },
    ...suites.map(({ tests, failures, errors, skipped, exit_code }) => {
      const failed = failures + errors + skipped;
      const broken = failed === 0 && (tests === 0 || exit_code !== 0);
      return { passed: Math.max(0, tests - failed), failed: broken ? 1 : failed };
    }),
  ]);
  const unexplained = exitCode !== 0 && tally.failed === 0;
  return unexplained || suites.length === 0 ? { ...tally, failed: tally.failed + 1 } : tally;
}

function countFile(file: v.InferOutput<typeof VitestReport>["testResults"][number]): Tally {
  const passed = file.assertionResults.filter((test) => test.status === "passed").length;
  const failed = file.assertionResults.length - passed;
  const brokenAround = failed === 0 && (file.status !== "passed" || passed === 0);
  return { passed, failed: brokenAround ? 1 : failed };
}

const Entry = v.object({ tier: Tier, passed: v.number(), failed: v.number() });

/**
 * Adds the tally of a tier to a file, one line a tier, and returns the sum of all. A first tier that left no line has not
 * come to its end, and counts as one failure.
 */
export function recordTier(file: string, tier: Tier, { passed, failed }: Tally): Tally {
  appendFileSync(file, `${JSON.stringify({ tier, passed, failed })}\n`);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const entries = lines.map((line) => v.parse(Entry, JSON.parse(line)));
  const missing = entries.some((entry) => entry.tier === "first") ? [] : [{ passed: 0, failed: 1 }];
  return sum([...entries, ...missing]);
}
