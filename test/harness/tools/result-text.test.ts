import { describe, expect, it } from "vitest";
import { formatResult } from "#harness/agent/result-text.ts";

describe("formatResult", () => {
  it("has short members first, and texts as they are", () => {
    const output = { stdout: 'one "quoted"\n\ttwo\n', exit_code: 0, truncated: true, working_directory: "/workspace" };
    expect(formatResult(output)).toBe(
      'exit_code: 0\ntruncated: true\nworking_directory: /workspace\nstdout:\none "quoted"\n\ttwo\n',
    );
  });

  it("numbers the lines of files, from the line at which a part begins", () => {
    const part = {
      path: "a.ts",
      start_line: 9,
      end_line: 10,
      lines: 20,
      content: "const a = 1;\n\n",
      cut: "truncated",
    };
    const files = [
      part,
      { path: "b", directory: true, names: ["c/", "d.ts"], count: 2 },
      { path: "e", error: "is gone" },
    ];
    expect(formatResult({ files }).split("\n")).toEqual([
      "a.ts (lines 9–10 of 20; the numbers are not part of the file)",
      "cut: truncated",
      "9\tconst a = 1;",
      "10\t",
      "b (2 entries)",
      "c/",
      "d.ts",
      "e",
      "error: is gone",
    ]);
  });

  it("shows an edited file with its numbered lines", () => {
    const files = [{ path: "a.ts", done: "changed", new_lines: "1\tconst a = 2;\n2\tconst b = 1;" }];
    expect(formatResult({ files })).toBe("a.ts\ndone: changed\nnew_lines:\n1\tconst a = 2;\n2\tconst b = 1;");
  });

  it("lists matches one a line, and instructions with their paths", () => {
    expect(formatResult({ matches: ["a.ts:1:x", "b.ts:2:x"] })).toBe("matches:\na.ts:1:x\nb.ts:2:x");
    expect(formatResult({ matches: [] })).toBe("matches: none");
    const instructions = [{ path: "web/AGENTS.md", content: "Use tabs.\nAlways." }];
    expect(formatResult({ instructions })).toBe("instructions:\npath: web/AGENTS.md\ncontent:\nUse tabs.\nAlways.");
  });

  it("keeps nested values as JSON, and is never empty", () => {
    expect(formatResult({ agents: [{ run_id: "r", artifacts: [{ uid: "a" }] }], more: { b: 1 } })).toBe(
      'more: {"b":1}\nagents:\n{"run_id":"r","artifacts":[{"uid":"a"}]}',
    );
    expect([{}, null, undefined, "text", 1].map(formatResult)).toEqual(["no result", "null", "null", "text", "1"]);
  });
});
