/** Runs test files in a copy of the repository. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { root, runCommand } from "../../scripts/run-command.ts";

interface TestRun {
  readonly files: readonly string[];
  readonly workers: number;
  readonly seconds: number;
  /** Each process notes which code it ran, in `reached.jsonl`. Default: false. */
  readonly reach?: boolean;
  /** One process for each test file; otherwise files share modules, which is several times as fast. */
  readonly isolate: boolean;
  /** Ends with the first failed test. */
  readonly bail: boolean;
}

export interface TestResult {
  readonly file: string;
  readonly passed: boolean;
  readonly milliseconds: number;
  /** The titles of the tests that failed. */
  readonly failures: readonly string[];
}

const Report = v.object({
  testResults: v.array(
    v.object({
      name: v.string(),
      status: v.string(),
      startTime: v.number(),
      endTime: v.number(),
      assertionResults: v.array(v.object({ status: v.string(), fullName: v.string() })),
    }),
  ),
});

const VARIABLE = "RUNYARD_PLANTED_TESTS";
const Tests = v.object({ files: v.array(v.string()), reach: v.boolean(), isolate: v.boolean() });

export function testsFromEnvironment(): v.InferOutput<typeof Tests> {
  return v.parse(Tests, JSON.parse(process.env[VARIABLE] ?? '{"files":[],"reach":false,"isolate":true}'));
}

/** The results of the files that ended, and whether all had time to. */
export async function runTests(
  copy: string,
  { files, workers, seconds, reach = false, isolate, bail }: TestRun,
): Promise<{ readonly results: readonly TestResult[]; readonly late: boolean }> {
  const report = join(copy, "report.json");
  const { exitCode, output } = await runCommand(
    "timeout",
    [
      "--kill-after=5",
      String(seconds),
      process.execPath,
      join(root, "node_modules/.bin/vitest"),
      "run",
      "--config=lab/planted/vitest.config.ts",
      `--maxWorkers=${Math.min(workers, files.length)}`,
      `--bail=${bail ? 1 : 0}`,
      "--reporter=json",
      `--outputFile=${report}`,
    ],
    {
      cwd: copy,
      timeoutSeconds: seconds + 10,
      env: { [VARIABLE]: JSON.stringify({ files, reach, isolate }), NO_COLOR: "1" },
    },
  );
  if (exitCode === TIMED_OUT || exitCode === null) return { results: [], late: true };
  const { testResults } = v.parse(Report, readReport(report, output));
  const results = testResults.map(({ name, status, startTime, endTime, assertionResults }) => ({
    file: name.slice(copy.length + 1),
    // A file that bail cut off has tests without a result, and may count as passed all the same.
    passed: status === "passed" && assertionResults.length > 0 && assertionResults.every(hasPassed),
    milliseconds: Math.round(endTime - startTime),
    failures: assertionResults.filter((one) => one.status === "failed").map((one) => one.fullName),
  }));
  return { results, late: false };
}

const hasPassed = ({ status }: { readonly status: string }) => status === "passed";

/** What `timeout` exits with. */
const TIMED_OUT = 124;

function readReport(file: string, output: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    throw new Error(`vitest wrote no report:\n${output.slice(-2_000)}`);
  }
}
