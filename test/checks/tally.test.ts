import { describe, expect, it } from "vitest";
import { countVitest, sum } from "../../scripts/tally.ts";

describe("the last line of npm test", () => {
  it("adds up what passed and what failed", () => {
    expect(
      sum([
        { passed: 4, failed: 0 },
        { passed: 2, failed: 1 },
      ]),
    ).toEqual({ passed: 6, failed: 1 });
    expect(countVitest(report([["passed", "passed"]]), 0)).toEqual({ passed: 2, failed: 0 });
    expect(countVitest(report([["passed", "failed"]], "failed"), 1)).toEqual({ passed: 1, failed: 1 });
  });

  it.each(["skipped", "pending", "todo", "disabled"])("counts a %s test as failed", (status) => {
    expect(countVitest(report([["passed", status]]), 0)).toEqual({ passed: 1, failed: 1 });
  });

  it("counts a file that did not load as one failure", () => {
    expect(countVitest(report([["passed"], []], "failed"), 1)).toEqual({ passed: 1, failed: 2 });
  });

  it("counts a file without tests as one failure", () => {
    expect(countVitest(report([["passed"], []]), 0)).toEqual({ passed: 1, failed: 1 });
  });

  it("counts a file that broke around its passing tests as one failure", () => {
    expect(countVitest(report([["passed", "passed"]], "failed"), 1)).toEqual({ passed: 2, failed: 1 });
  });

  it("counts an error outside of every test as one failure", () => {
    expect(countVitest(report([["passed"]]), 1)).toEqual({ passed: 1, failed: 1 });
    expect(countVitest(report([["passed"]]), null)).toEqual({ passed: 1, failed: 1 });
  });

  it("counts a run without any file as one failure", () => {
    expect(countVitest(report([]), 0)).toEqual({ passed: 0, failed: 1 });
  });

  it("refuses a report that is none, so that the runner counts as failed", () => {
    expect(() => countVitest('{"testResults": [{}]}', 0)).toThrow();
    expect(() => countVitest("", 0)).toThrow();
  });
});

function report(files: readonly (readonly string[])[], status = "passed"): string {
  const testResults = files.map((tests) => ({ status, assertionResults: tests.map((each) => ({ status: each })) }));
  return JSON.stringify({ testResults });
}
