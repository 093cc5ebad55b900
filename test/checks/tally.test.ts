import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { countPython, countVitest, recordTier, sum, type Tally } from "../../scripts/tally.ts";

describe("the last line of npm test", () => {
  it("adds up passed and failed tests", () => {
    expect(
      sum([
        { passed: 4, failures: [] },
        { passed: 2, failures: ["a.test.ts: fails"] },
      ]),
    ).toEqual({ passed: 6, failures: ["a.test.ts: fails"] });
    expect(counts(countVitest(report([["passed", "passed"]]), 0))).toEqual({ passed: 2, failed: 0 });
    expect(counts(countVitest(report([["passed", "failed"]], "failed"), 1))).toEqual({ passed: 1, failed: 1 });
  });

  it("names what failed: the test, or the file where no test did", () => {
    expect(countVitest(report([["passed", "failed"], []], "failed"), 1).failures).toEqual([
      "test/0.test.ts: the unit does 1",
      "test/1.test.ts",
    ]);
    expect(countVitest(report([["passed"]]), 3).failures).toEqual(["vitest, exit code 3"]);
  });

  it.each(["skipped", "pending", "todo", "disabled"])("counts a %s test as failed", (status) => {
    expect(counts(countVitest(report([["passed", status]]), 0))).toEqual({ passed: 1, failed: 1 });
  });

  it("counts a file that did not load as one failure", () => {
    expect(counts(countVitest(report([["passed"], []], "failed"), 1))).toEqual({ passed: 1, failed: 2 });
  });

  it("counts a file without tests as one failure", () => {
    expect(counts(countVitest(report([["passed"], []]), 0))).toEqual({ passed: 1, failed: 1 });
  });

  it("counts a file that failed around its passing tests as one failure", () => {
    expect(counts(countVitest(report([["passed", "passed"]], "failed"), 1))).toEqual({ passed: 2, failed: 1 });
  });

  it("counts an error outside of every test as one failure", () => {
    expect(counts(countVitest(report([["passed"]]), 1))).toEqual({ passed: 1, failed: 1 });
    expect(counts(countVitest(report([["passed"]]), null))).toEqual({ passed: 1, failed: 1 });
  });

  it("counts a run without any file as one failure", () => {
    expect(counts(countVitest(report([]), 0))).toEqual({ passed: 0, failed: 1 });
  });

  it("rejects an invalid report, so that the runner counts as failed", () => {
    expect(() => countVitest('{"testResults": [{}]}', 0)).toThrow();
    expect(() => countVitest("", 0)).toThrow();
  });
});

describe("the tally of both tiers", () => {
  let folder = "";
  let file = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "runyard-tally-"));
    file = join(folder, "tally");
    writeFileSync(file, "");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("is that of the first tier until the second has ended, then the sum", () => {
    const first = { passed: 4, failures: ["a.test.ts: fails"] };
    expect(recordTier(file, "first", first)).toEqual(first);
    expect(recordTier(file, "full", { passed: 2, failures: [] })).toEqual({ passed: 6, failures: first.failures });
  });

  it("counts a first tier that did not come to its end as one failure", () => {
    expect(counts(recordTier(file, "full", { passed: 2, failures: [] }))).toEqual({ passed: 2, failed: 1 });
  });

  it("rejects a file of anything else", () => {
    writeFileSync(file, "4 passed\n");
    expect(() => recordTier(file, "full", { passed: 2, failures: [] })).toThrow();
  });
});

describe("the Python client's part of the tally", () => {
  it("adds up its checks and the tests of each Python", () => {
    const suites = [suite({ tests: 9 }), suite({ tests: 9, failures: 1, errors: 1 })];
    expect(counts(countPython(pythonReport({ lint: true, types: false }, suites), 1))).toEqual({
      passed: 17,
      failed: 3,
    });
    expect(counts(countPython(pythonReport({ lint: true }, [suite({ tests: 2 })]), 0))).toEqual({
      passed: 3,
      failed: 0,
    });
  });

  it("names a failed check, and the Python of a failed test", () => {
    const failed = pythonReport({ types: false }, [suite({ tests: 9, failures: 1 })]);
    expect(countPython(failed, 1).failures).toEqual(["Python client: types", "Python client: a test with 3.13"]);
  });

  it("counts a skipped test as failed", () => {
    expect(counts(countPython(pythonReport({}, [suite({ tests: 3, skipped: 1 })]), 0))).toEqual({
      passed: 2,
      failed: 1,
    });
  });

  it("counts a suite without tests, and one that failed around them, as one failure", () => {
    expect(counts(countPython(pythonReport({}, [suite({ tests: 0 })]), 0))).toEqual({ passed: 0, failed: 1 });
    expect(counts(countPython(pythonReport({}, [suite({ tests: 2, exit_code: 3 })]), 1))).toEqual({
      passed: 2,
      failed: 1,
    });
  });

  it("counts a failed installation, a run without a suite, and an unexplained end", () => {
    expect(counts(countPython(pythonReport({ install: false }, []), 1))).toEqual({ passed: 0, failed: 2 });
    expect(counts(countPython(pythonReport({ install: true }, []), 0))).toEqual({ passed: 1, failed: 1 });
    expect(counts(countPython(pythonReport({}, [suite({ tests: 2 })]), null))).toEqual({ passed: 2, failed: 1 });
  });

  it("rejects an invalid report, so that the runner counts as failed", () => {
    expect(() => countPython('{"checks": []}', 0)).toThrow();
    expect(() => countPython("", 0)).toThrow();
  });
});

function suite(counts: Partial<Record<"tests" | "failures" | "errors" | "skipped" | "exit_code", number>>) {
  return { name: "3.13", tests: 0, failures: 0, errors: 0, skipped: 0, exit_code: 0, ...counts };
}

function pythonReport(checks: Record<string, boolean>, suites: readonly ReturnType<typeof suite>[]): string {
  return JSON.stringify({ checks: Object.entries(checks).map(([name, ok]) => ({ name, ok })), suites });
}

function report(files: readonly (readonly string[])[], status = "passed"): string {
  const testResults = files.map((tests, index) => ({
    name: resolve(`test/${index}.test.ts`),
    status,
    assertionResults: tests.map((each, number) => ({ fullName: `the unit does ${number}`, status: each })),
  }));
  return JSON.stringify({ testResults });
}

function counts({ passed, failures }: Tally) {
  return { passed, failed: failures.length };
}
