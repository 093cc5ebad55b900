import * as v from "valibot";

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
 * failure though none of its tests failed; so does whatever else made vitest exit with an error.
 */
export function countVitest(json: string, exitCode: number | null): Tally {
  const files = v.parse(VitestReport, JSON.parse(json)).testResults;
  const tally = sum(files.map(countFile));
  const unexplained = exitCode !== 0 && tally.failed === 0;
  return unexplained || files.length === 0 ? { ...tally, failed: tally.failed + 1 } : tally;
}

function countFile(file: v.InferOutput<typeof VitestReport>["testResults"][number]): Tally {
  const passed = file.assertionResults.filter((test) => test.status === "passed").length;
  const failed = file.assertionResults.length - passed;
  const brokenAround = failed === 0 && (file.status !== "passed" || passed === 0);
  return { passed, failed: brokenAround ? 1 : failed };
}
