import { describe, expect, it } from "vitest";
import { recursiveCallsIn } from "../../scripts/recursive-calls.ts";
import { functionsIn } from "../../scripts/sizes.ts";
import { termsIn } from "../../scripts/terms.ts";

describe("the check of terms", () => {
  it("names file, line, the private word and the standard term", () => {
    expect(termsIn("shared/a.ts", "one\n// whoever calls mends it")).toEqual([
      'shared/a.ts:2: "whoever": use caller, principal',
      'shared/a.ts:2: "mends": use fix, again, describes',
    ]);
  });

  it("refuses participles as names of values, but for those of tests", () => {
    expect(termsIn("shared/a.ts", "const kept = 1;")).toEqual([
      'shared/a.ts:1: "const kept": use a noun that says what the value is',
    ]);
    expect(termsIn("test/a.ts", "const kept = 1;")).toEqual([]);
    expect(termsIn("shared/a.ts", "const keptCount = 1;")).toEqual([]);
  });

  it.each(["the isolation boundary", "a wall clock", "recommend", "append", "a runtime"])("accepts %j", (line) => {
    expect(termsIn("shared/a.ts", line)).toEqual([]);
  });
});

describe("functionsIn", () => {
  it("counts the lines of functions, methods and arrow functions, whatever characters come before", () => {
    const text = [
      "// Ü: two bytes in UTF-8",
      "export function first() {",
      "  return 1;",
      "}",
      "class A {",
      "  method() {",
      "    return () => 2;",
      "  }",
      "}",
    ].join("\n");
    const found = functionsIn("a.ts", text).map(({ line, lines }) => ({ line, lines }));
    expect(found).toEqual([
      { line: 2, lines: 3 },
      { line: 6, lines: 3 },
      { line: 7, lines: 1 },
    ]);
  });
});

describe("the check of recursive file operations", () => {
  it.each([
    ["await rm(folder, { recursive: true, force: true });", "rm"],
    ["rmSync(\n  folder,\n  { force: true, recursive: true },\n);", "rmSync"],
    ["cp(from, to, { recursive: true })", "cp"],
    ["for (const name of readdirSync(folder, { recursive: true })) {", "readdirSync"],
    ["await opendir(folder, { recursive: true })", "opendir"],
  ])("refuses %j", (line, name) => {
    expect(recursiveCallsIn("harness/a.ts", `one\n${line}`)).toEqual([
      `harness/a.ts:2: recursive ${name}: use removeTree, or work inside the sandbox`,
    ]);
  });

  it.each([
    "await rm(file, { force: true });",
    "await rm(file);\nawait mkdir(folder, { recursive: true });",
    "readdir(folder)",
  ])("accepts %j", (line) => {
    expect(recursiveCallsIn("harness/a.ts", line)).toEqual([]);
  });
});
