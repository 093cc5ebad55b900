import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../scripts/run-command.ts";
import { checkSentences, readSentences } from "../../scripts/sentences.ts";

const file = "test/api/pets.test.ts";
const covered = { id: "1.covered", sentence: "A pet has a name.", tests: [`${file} > POST /pets > wants a name`] };
const check = (sentences: ReturnType<typeof readSentences>[number]["sentences"], statuses = ["passed"]) =>
  checkSentences(report(statuses), { sections: [{ section: "1 Pets", sentences }] });

describe("the check of the contract's sentences", () => {
  it("passes if each sentence has tests that passed, or a reason", () => {
    const reason = "There is no endpoint for pets that leave yet.";
    const { ok, output } = check([covered, { id: "1.reason", sentence: "A pet may leave.", reason }]);
    expect({ ok, output }).toEqual({ ok: true, output: "" });
  });

  it.each([
    ["neither tests nor a reason", {}, "has neither tests nor a reason"],
    ["both tests and a reason", { tests: covered.tests, reason: "It has a test and a reason." }, "has both"],
    ["no tests in its list", { tests: [] }, "has an empty list"],
    ["a reason that says nothing", { reason: " later              " }, "its reason says nothing"],
    ["a test that did not run", { tests: [`${file} > POST /pets > wants a nam`] }, "no test that ran is called"],
    ["a test of another file", { tests: ["test/api/cats.test.ts > POST /pets > wants a name"] }, "no test that ran"],
    ["one test of several that did not run", { tests: [...covered.tests, "x"] }, "no test that ran is called x"],
    ["a pattern that finds nothing", { tests: [`${file} > PUT * > wants a name`] }, "no test that ran"],
  ])("fails on a sentence with %s, and names it", (_, fields, problem) => {
    const { ok, output } = check([covered, { id: "1.planted", sentence: "Planted.", ...fields }]);
    expect(ok).toBe(false);
    expect(output).toContain(`1.planted: ${problem}`);
  });

  it.each(["failed", "skipped", "pending", "todo"])("fails if a test, or one of a pattern's, %s", (status) => {
    for (const test of [...covered.tests, `${file} > POST /* > wants *`]) {
      const { ok, output } = check([{ ...covered, tests: [test] }], ["passed", status]);
      expect({ ok, output }).toEqual({ ok: false, output: `1.covered: ${status}: ${test}` });
    }
  });

  it("fails on a duplicate id, and without sentences", () => {
    expect(check([covered, covered]).output).toBe("1.covered: is there twice");
    expect(check([]).ok).toBe(false);
  });

  it.each([
    ["*", true],
    ["*wants a name", true],
    [`${file} > *`, true],
    [`${file} > * > *a*name`, true],
    [`${file} > POST /pets > wants a name*wants a name`, false],
    [`${file} > POST /pets > wants a name*e`, false],
    [`* > * > * > *`, false],
  ])("treats a star as any text and nothing else as a wildcard: %s", (test, ok) => {
    expect(check([{ ...covered, tests: [test] }]).ok).toBe(ok);
  });

  it("looks only for the tests of the tier that ran", () => {
    const tests = [
      ...covered.tests,
      "test/agents/pets.test.ts > *",
      "test/api/pets.full.test.ts > POST /pets > is slow",
    ];
    const sections = [{ section: "1 Pets", sentences: [{ ...covered, tests }] }];
    const checkTier = (tier: "first" | "full") => checkSentences(report(["passed"]), { sections, tier }).output;
    expect(checkTier("first")).toBe("");
    expect(checkTier("full").split("\n")).toEqual(
      tests.slice(1).map((test) => `1.covered: no test that ran is called ${test}`),
    );
  });

  it("rejects an invalid report", () => {
    expect(() => checkSentences('{"testResults": [{}]}')).toThrow();
  });
});

describe("test/contract/sentences.json", () => {
  it("names the section of each sentence", () => {
    for (const { section, sentences } of readSentences()) {
      const [number = ""] = section.split(" ");
      for (const { id } of sentences) expect(id.split(".")[0]).toBe(number);
    }
  });
});

/** A report of one test, run once for each status. */
function report(statuses: readonly string[]): string {
  const assertionResults = statuses.map((status) => ({
    ancestorTitles: ["POST /pets"],
    title: "wants a name",
    status,
  }));
  return JSON.stringify({ testResults: [{ name: join(root, file), assertionResults }] });
}
