import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testChecker } from "../../lab/eval/mechanics.ts";
import { readTasks } from "../../lab/eval/tasks.ts";
import { root } from "../../scripts/run-command.ts";
import { runCommand } from "../../server/host/commands.ts";
import { ModelStandIn } from "../support/model-stand-in.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "runyard-eval-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function evaluate(args: readonly string[], environment: Record<string, string> = {}) {
  const env = { PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`, ...environment };
  return await runCommand(process.execPath, [join(root, "lab/eval.ts"), "--out", join(folder, "out"), ...args], {
    env,
  });
}

const readOut = (...path: string[]): string => readFileSync(join(folder, "out", ...path), "utf8");

/** One task of each language that needs no toolchain, with drifted edits, parallel reads, repaired input and file modes. */
const SAMPLE = ["py-shared-default", "py-retry", "js-sort-numbers", "ts-unsubscribe", "sh-ci-mode", "sh-spaces"];

describe("npm run lab -- eval", () => {
  it("executes tasks by a scripted model as their scripts say", async () => {
    const { code, output } = await evaluate([...SAMPLE.flatMap((name) => ["--task", name]), "--concurrency", "3"]);
    expect(output).toContain(`${SAMPLE.length} of ${SAMPLE.length} executions passed; 0 tasks left out.`);
    expect(code).toBe(0);
    expect(readOut("results.md")).toContain(
      `| runyard | ${SAMPLE.length} of ${SAMPLE.length} | 100 % | 61 % to 100 % |`,
    );
    expect(readOut("runyard", "py-retry-1", "transcript.jsonl")).toContain("run_succeeded");
    expect(readOut("runyard", "sh-ci-mode-1", "changes.diff")).toContain("new mode 100755");
  }, 600_000);

  it("does not trust a model that only claims success, and shows another agent with the same model next to it", async () => {
    await using standIn = await ModelStandIn.start();
    standIn.otherwise = { text: "Repaired." };
    const mini = join(folder, "mini");
    writeFileSync(mini, MINI);
    chmodSync(mini, 0o755);
    const { code, output } = await evaluate(
      [
        "--model",
        "compatible/some",
        "--url",
        standIn.anthropicUrl,
        "--task",
        "py-median",
        "--beside",
        "mini-swe-agent",
      ],
      { PATH: `${folder}:${process.env["PATH"] ?? ""}`, COMPATIBLE_API_KEY: "the-real-key" },
    );
    expect(output).toContain("1 of 2 executions passed");
    expect(code).toBe(1);
    const report = readOut("results.md");
    expect(report).toContain("| runyard | 0 of 1 | 0 % | 0 % to 79 % | 120 |");
    expect(report).toContain("| mini-swe-agent | 1 of 1 | 100 % | 21 % to 100 % | 7 | 0.0100 |");
    expect(report).toContain("the checker refuses the result");
    const [call] = readOut("mini-swe-agent", "py-median-1", "output.txt").split("\n");
    expect(call).toContain("-m openai/some");
    expect(call).toContain(`base ${standIn.openaiUrl} key the-real-key`);
    expect(JSON.stringify(standIn.seen.map(({ headers }) => headers))).toContain("the-real-key");
  }, 600_000);
});

describe("the checker of", () => {
  // Each run of a checker in Go compiles the standard library first, which takes minutes for all of them.
  const names = readTasks().flatMap(({ name, language }) => (language === "go" ? [] : [name]));

  it.each(names)(
    "%s refuses the repository as it is, modules that end the process, and each mistake",
    async (name) => {
      const [task] = readTasks([name]);
      expect(task && (await testChecker(task))).toEqual([]);
    },
    120_000,
  );
});

/** Repairs the task as mini-swe-agent would, commits it, and records what it used. */
const MINI = `#!/usr/bin/env bash
set -euo pipefail
echo "$* base $OPENAI_API_BASE key $OPENAI_API_KEY" | tr '\\n' ' '; echo
sed -i 's|middle\\]) // 2|middle]) / 2|' stats.py
git -c user.name=m -c user.email=m@example.com commit --quiet --all --message=repair
while [ $# -gt 0 ]; do if [ "$1" = -o ]; then out="$2"; fi; shift; done
echo '{"info":{"model_stats":{"instance_cost":0.01}},"messages":[{"extra":{"response":{"usage":{"total_tokens":7}}}}]}' > "$out"
`;
