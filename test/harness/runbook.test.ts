import { describe, expect, it } from "vitest";
import type { CommandResult } from "#harness/commands/command-runner.ts";
import type { RunCommandInput } from "#harness/commands/shell.ts";
import { findShellBlocks, runbook } from "#harness/engine/runbook.ts";

const ended = (change: Partial<CommandResult> = {}): CommandResult => ({
  text: "",
  truncated: false,
  command: "",
  exitCode: 0,
  timedOut: false,
  durationMs: 1,
  workingDirectory: "/workspace",
  ...change,
});

function toolsThatAnswer(results: readonly CommandResult[]) {
  const asked: RunCommandInput[] = [];
  const runCommand = async (input: RunCommandInput) => {
    asked.push(input);
    return { ...(results[asked.length - 1] ?? ended()), command: input.command };
  };
  const use = () => Promise.reject(new Error("a runbook uses no other tool"));
  return { asked, runCommand, all: [], use };
}

const turn = (...instructions: string[]) => ({ instructions, conversation: [] });
const block = (text: string, tag = "sh") => `\`\`\`${tag}\n${text}\n\`\`\`\n`;

describe("findShellBlocks", () => {
  it.each(["sh", "bash", "shell", "Bash", "sh title=x"])("accepts a block tagged %s", (tag) => {
    expect(findShellBlocks(`text\n\n${block("echo 1\necho 2", tag)}`)).toEqual(["echo 1\necho 2"]);
  });

  it.each(["", "python", "console", "zsh", "shellscript"])("ignores a block tagged %o", (tag) => {
    expect(findShellBlocks(block("rm -rf /", tag))).toEqual([]);
  });

  it("ignores indented code, inline code, comments, and blocks inside other blocks", () => {
    expect(findShellBlocks("text\n\n    sh indented\n\n`sh inline`\n")).toEqual([]);
    expect(findShellBlocks(`<!--\n${block("echo commented")}-->\n`)).toEqual([]);
    expect(findShellBlocks(`~~~~md\n${block("echo quoted")}~~~~\n`)).toEqual([]);
  });

  it("finds blocks in lists and quotes, in their order, without their indentation", () => {
    const markdown = `1. first\n\n   ${block("echo a").replaceAll("\n", "\n   ")}\n2. second\n\n> ${block("echo b").replaceAll("\n", "\n> ")}\n\n~~~bash\necho c\n~~~\n`;
    expect(findShellBlocks(markdown)).toEqual(["echo a", "echo b", "echo c"]);
  });
});

describe("local/runbook", () => {
  it("runs the blocks of the skill before those of the prompt", async () => {
    const tools = toolsThatAnswer([]);
    const outcome = await runbook.takeTurn(turn(block("echo skill"), block("echo prompt")), tools);
    expect(tools.asked.map((input) => input.command)).toEqual(["echo skill", "echo prompt"]);
    expect(outcome).toEqual({ success: true, summary: "Ran 2 commands." });
  });

  it("keeps an unclosed block of a skill from including the prompt", async () => {
    const tools = toolsThatAnswer([]);
    await runbook.takeTurn(turn("```sh\necho open", block("echo prompt")), tools);
    expect(tools.asked.map((input) => input.command)).toEqual(["echo open", "echo prompt"]);
  });

  it("stops at the first failure and names step, command and exit code", async () => {
    const tools = toolsThatAnswer([ended(), ended({ exitCode: 3 })]);
    const prompt = block("true") + block("# why\nmake all\nmake more") + block("echo never");
    const outcome = await runbook.takeTurn(turn(prompt), tools);
    expect(tools.asked).toHaveLength(2);
    expect(outcome).toEqual({ success: false, summary: "Step 2 of 3 failed: `make all` ended with exit code 3." });
  });

  it("reports a command that timed out or was killed", async () => {
    const late = await runbook.takeTurn(
      turn(block("sleep 9")),
      toolsThatAnswer([ended({ exitCode: 124, timedOut: true, durationMs: 2000 })]),
    );
    expect(late.summary).toBe("The command failed: `sleep 9` did not end within its 2 s (exit code 124).");
    const killed = await runbook.takeTurn(
      turn(block("sleep 9")),
      toolsThatAnswer([ended({ exitCode: 137, signal: "SIGKILL" })]),
    );
    expect(killed.summary).toBe("The command failed: `sleep 9` was ended by SIGKILL (exit code 137).");
  });

  it("truncates a long command in its summary", async () => {
    const { summary } = await runbook.takeTurn(
      turn(block(`echo ${"x".repeat(500)}`)),
      toolsThatAnswer([ended({ exitCode: 1 })]),
    );
    expect(summary.length).toBeLessThan(200);
    expect(summary).toContain("...`");
  });

  it("fails without a block and explains what to add", async () => {
    const outcome = await runbook.takeTurn(turn("Please fix the bug."), toolsThatAnswer([]));
    expect(outcome).toMatchObject({ success: false, error_code: "invalid_request" });
    expect(outcome.summary).toMatch(/sh, bash or shell.*Add such a block.*config\.model_id/s);
  });
});
