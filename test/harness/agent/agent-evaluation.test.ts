import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { calculateWilsonInterval } from "../../../lab/eval/interval.ts";
import { formatReport } from "../../../lab/eval/report.ts";
import { readTasks } from "../../../lab/eval/tasks.ts";
import { root } from "../../../scripts/run-command.ts";

function evaluate(...args: string[]) {
  const env = { PATH: process.env["PATH"] };
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "lab/eval.ts"), ...args], {
    env,
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

describe("npm run lab -- eval", () => {
  it("describes its options, and lists its tasks", () => {
    expect(evaluate("--help")).toEqual({ status: 0, output: expect.stringContaining("--beside") });
    expect(evaluate("--list")).toEqual({ status: 0, output: expect.stringContaining("py-median") });
  });

  it.each([
    [["--task", "none"], "--task names none, which no folder of lab/eval/tasks has."],
    [["--out", join(root, "lab")], "lab, which is not empty. Name another directory."],
    [["--repeats", "0"], "--repeats takes a number from 1 to 100"],
    [["--model", "gpt-5.4"], "--model must begin with anthropic/"],
    [["--model", "openai/gpt-5.4"], "OPENAI_API_KEY is not set"],
    [["--model", "compatible/some"], "needs --url"],
    [["--url", "http://127.0.0.1:1"], "--url needs --model"],
    [["--model", "compatible/some", "--url", "http://127.0.0.1:1", "--prices", "cheap"], "--prices takes two numbers"],
    [
      ["--model", "compatible/some", "--url", "http://127.0.0.1:1", "--beside", "other"],
      "--beside takes mini-swe-agent",
    ],
    [["--model", "compatible/some", "--url", "http://127.0.0.1:1", "--beside", "mini-swe-agent"], "pip install"],
  ])("refuses %j with the remedy", (args, message) => {
    expect(evaluate(...args)).toEqual({ status: 2, output: expect.stringContaining(message) });
  });
});

describe("the tasks of the evaluation", () => {
  it("have a prompt, a checker and a mistake, and cover every kind of work in each scripting language", () => {
    const tasks = readTasks();
    expect(tasks.length).toBeGreaterThanOrEqual(39);
    const kinds = new Set(tasks.map(({ language, kind }) => `${language.replace("typescript", "javascript")} ${kind}`));
    for (const language of ["python", "javascript", "shell"])
      for (const kind of ["bug fix", "feature", "refactoring", "docs", "ci repair"])
        expect(kinds).toContain(`${language} ${kind}`);
  });
});

describe("Wilson's interval", () => {
  it.each([
    [0, 10, 0, 0.2775],
    [10, 10, 0.7225, 1],
    [5, 10, 0.2366, 0.7634],
    [81, 263, 0.2553, 0.3662],
    [0, 0, 0, 1],
  ])("of %i of %i passes", (passed, total, low, high) => {
    const interval = calculateWilsonInterval(passed, total);
    expect(interval.low).toBeCloseTo(low, 3);
    expect(interval.high).toBeCloseTo(high, 3);
  });
});

describe("the report of an evaluation", () => {
  const attempt = { task: "a", agent: "runyard", repeat: 1, passed: true, end: "SUCCEEDED", failures: [], seconds: 2 };
  const base = { date: "2026-01-02", commit: "abc", model: "m", tasks: [], omitted: [] };

  it("has the share with its interval, and does not add up what is unknown", () => {
    const attempts = [
      { ...attempt, tokens: 10, costUsd: 0.5 },
      { ...attempt, repeat: 2, passed: false, failures: ["no\nchange"], seconds: 4, tokens: 5, costUsd: undefined },
    ];
    const text = formatReport({ ...base, attempts });
    expect(text).toContain("| runyard | 1 of 2 | 50 % | 9 % to 91 % | 15 | unknown | 3.0 |");
    expect(text).toContain("- a, runyard, repeat 2, SUCCEEDED: no change");
  });

  it("names the tasks that were left out", () => {
    const text = formatReport({
      ...base,
      attempts: [],
      omitted: [{ task: "go-stack", why: "this machine has no go" }],
    });
    expect(text).toContain("## Not executed\n\n- go-stack: this machine has no go");
  });
});
