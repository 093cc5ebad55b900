import * as v from "valibot";
import { describe, expect, it } from "vitest";
import type { CommandResult } from "#harness/commands/command-runner.ts";
import type { RunCommandInput } from "#harness/commands/shell.ts";
import { createRunbook, findShellBlocks, plannedRunbook } from "#harness/engine/runbook.ts";
import { defineTool, type ToolResult } from "#harness/engine/tool.ts";

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

function toolsThatRespond(results: readonly CommandResult[], starts: ToolResult = { output: {} }) {
  const inputs: RunCommandInput[] = [];
  const runCommand = async (input: RunCommandInput) => {
    inputs.push(input);
    return { ...(results[inputs.length - 1] ?? ended()), command: input.command };
  };
  const started: string[] = [];
  const startCommand = async (command: string) => {
    started.push(command);
    return starts;
  };
  const use = () => Promise.reject(new Error("a runbook uses no other tool"));
  return { inputs, started, runCommand, startCommand, all: [], use };
}

const runbook = createRunbook({ opening: [], context: { messages: [] } });
const turn = (...instructions: string[]) => ({ instructions, conversation: [] });
const block = (text: string, tag = "sh") => `\`\`\`${tag}\n${text}\n\`\`\`\n`;

const findCommands = (markdown: string) => findShellBlocks(markdown).map(({ command }) => command);

describe("findShellBlocks", () => {
  it.each([
    ["sh background", true],
    ["bash title=x background", true],
    ["sh", false],
    ["sh title=background", false],
  ])("says of a block tagged %s whether it runs in the background: %s", (tag, isBackground) => {
    expect(findShellBlocks(block("npm start", tag))).toEqual([{ command: "npm start", isBackground, tty: false }]);
  });

  it.each(["sh tty", "sh background tty"])("says of a block tagged %s that it runs at a terminal", (tag) => {
    expect(findShellBlocks(block("npm start", tag))).toMatchObject([{ isBackground: tag.includes("back"), tty: true }]);
  });

  it.each(["sh", "bash", "shell", "Bash", "sh title=x"])("accepts a block tagged %s", (tag) => {
    expect(findCommands(`text\n\n${block("echo 1\necho 2", tag)}`)).toEqual(["echo 1\necho 2"]);
  });

  it.each(["", "python", "console", "zsh", "shellscript"])("ignores a block tagged %o", (tag) => {
    expect(findCommands(block("rm -rf /", tag))).toEqual([]);
  });

  it("ignores indented code, inline code, comments, and blocks inside other blocks", () => {
    expect(findCommands("text\n\n    sh indented\n\n`sh inline`\n")).toEqual([]);
    expect(findCommands(`<!--\n${block("echo commented")}-->\n`)).toEqual([]);
    expect(findCommands(`~~~~md\n${block("echo quoted")}~~~~\n`)).toEqual([]);
  });

  it("reads any line breaks, and ignores blocks without a command", () => {
    for (const lineBreak of ["\r\n", "\r", "\n"])
      expect(findCommands(block("echo 1\necho 2").replaceAll("\n", lineBreak))).toEqual(["echo 1\necho 2"]);
    expect(findCommands(block(" \n\t") + block("") + block("echo 1"))).toEqual(["echo 1"]);
    expect(findCommands(block("rm -rf /", "x sh"))).toEqual([]);
  });

  it("finds blocks in lists and quotes, in their order, without their indentation", () => {
    const markdown = `1. first\n\n   ${block("echo a").replaceAll("\n", "\n   ")}\n2. second\n\n> ${block("echo b").replaceAll("\n", "\n> ")}\n\n~~~bash\necho c\n~~~\n`;
    expect(findCommands(markdown)).toEqual(["echo a", "echo b", "echo c"]);
  });
});

describe("a follow-up without a message", () => {
  const onward = turn("Go on from where you stopped.");

  it.each([
    ["normal", runbook],
    ["plan", plannedRunbook],
  ])("leaves the outcome of the last turn as it is in %s mode", async (_, engine) => {
    const tools = toolsThatRespond([]);
    const last = { success: false, summary: "Step 2 of 3 failed", error_code: "operation_not_supported" } as const;
    expect(await engine.takeTurn({ ...onward, last }, tools)).toEqual(last);
    expect(tools.inputs).toEqual([]);
    const others = await Promise.all([
      engine.takeTurn(onward, tools),
      engine.takeTurn({ ...turn("Go on from where you stopped.", "Do it."), last }, tools),
    ]);
    for (const other of others) expect(other).toMatchObject({ success: false, error_code: "invalid_request" });
  });
});

describe("local/runbook", () => {
  it("runs the blocks of the skill before those of the prompt", async () => {
    const tools = toolsThatRespond([]);
    const outcome = await runbook.takeTurn(turn(block("echo skill"), block("echo prompt")), tools);
    expect(tools.inputs.map((input) => input.command)).toEqual(["echo skill", "echo prompt"]);
    expect(outcome).toEqual({ success: true, summary: "Ran 2 commands." });
  });

  it("keeps an unclosed block of a skill from including the prompt", async () => {
    const tools = toolsThatRespond([]);
    await runbook.takeTurn(turn("```sh\necho open", block("echo prompt")), tools);
    expect(tools.inputs.map((input) => input.command)).toEqual(["echo open", "echo prompt"]);
  });

  it("runs one command, and leaves out those that an earlier execution completed", async () => {
    expect(await runbook.takeTurn(turn(block("true")), toolsThatRespond([]))).toEqual({
      success: true,
      summary: "Ran one command.",
    });
    const tools = toolsThatRespond([]);
    const three = turn(block("echo a") + block("echo b") + block("echo c"));
    expect(await runbook.takeTurn({ ...three, commandsDone: 2 }, tools)).toEqual({
      success: true,
      summary: "Ran 3 commands.",
    });
    expect(tools.inputs).toEqual([{ command: "echo c" }]);
  });

  it("starts a block in the background, and goes on unless it has failed", async () => {
    const tools = toolsThatRespond([]);
    const both = turn(block("npm start", "sh background") + block("curl localhost:3000"));
    expect(await runbook.takeTurn(both, tools)).toEqual({ success: true, summary: "Ran 2 commands." });
    expect([tools.started, tools.inputs]).toEqual([["npm start"], [{ command: "curl localhost:3000" }]]);
    const failure = async (output: ToolResult["output"]) =>
      (await runbook.takeTurn(both, toolsThatRespond([], { isError: true, output }))).summary;
    expect(await failure({ exit_code: 127 })).toBe(
      "Step 1 of 2 failed: `npm start` failed to start: it ended with exit code 127.",
    );
    expect(await failure({ error: "8 are running" })).toBe(
      "Step 1 of 2 failed: `npm start` failed to start: 8 are running.",
    );
    const planned = await plannedRunbook.takeTurn(both, tools);
    expect(planned.summary).toContain("```sh background\nnpm start\n```");
  });

  it("names the first line that is no comment, or else the first line", async () => {
    const fail = async (command: string) =>
      (await runbook.takeTurn(turn(block(command)), toolsThatRespond([ended({ exitCode: 1 })]))).summary;
    expect(await fail("  # why\n\n  make all")).toBe("The command failed: `  make all` ended with exit code 1.");
    expect(await fail("# why\n# how")).toBe("The command failed: `# why` ended with exit code 1.");
    expect(await fail("x".repeat(120))).toBe(`The command failed: \`${"x".repeat(120)}\` ended with exit code 1.`);
    expect(await fail("x".repeat(121))).toBe(`The command failed: \`${"x".repeat(117)}...\` ended with exit code 1.`);
  });

  // @contract runs.item.status-names: It names step, command and exit code, and shows no stack and no secret.
  it("stops at the first failure and names step, command and exit code", async () => {
    const tools = toolsThatRespond([ended(), ended({ exitCode: 3 })]);
    const prompt = block("true") + block("# why\nmake all\nmake more") + block("echo never");
    const outcome = await runbook.takeTurn(turn(prompt), tools);
    expect(tools.inputs).toHaveLength(2);
    expect(outcome).toEqual({
      success: false,
      summary: "Step 2 of 3 failed: the script that begins with `make all` ended with exit code 3.",
    });
  });

  it("reports a command that timed out or was killed", async () => {
    const late = await runbook.takeTurn(
      turn(block("sleep 9")),
      toolsThatRespond([ended({ exitCode: 124, timedOut: true, durationMs: 2000 })]),
    );
    expect(late.summary).toBe("The command failed: `sleep 9` did not end within its 2 s (exit code 124).");
    const killed = await runbook.takeTurn(
      turn(block("sleep 9")),
      toolsThatRespond([ended({ exitCode: 137, signal: "SIGKILL" })]),
    );
    expect(killed.summary).toBe("The command failed: `sleep 9` was ended by SIGKILL (exit code 137).");
    const exceeded = ended({ exitCode: 137, timedOut: true, exceeded: "it used too much" });
    const large = await runbook.takeTurn(turn(block("sleep 9")), toolsThatRespond([exceeded]));
    expect(large.summary).toBe("The command failed: `sleep 9` was ended: it used too much (exit code 137).");
  });

  it("truncates a long command in its summary", async () => {
    const { summary } = await runbook.takeTurn(
      turn(block(`echo ${"x".repeat(500)}`)),
      toolsThatRespond([ended({ exitCode: 1 })]),
    );
    expect(summary.length).toBeLessThan(200);
    expect(summary).toContain("...`");
  });

  it("fails without a block and explains what to add", async () => {
    const outcome = await runbook.takeTurn(turn("Please fix the bug."), toolsThatRespond([]));
    expect(outcome).toMatchObject({ success: false, error_code: "invalid_request" });
    expect(outcome.summary).toMatch(/sh, bash or shell.*Add such a block.*config\.model_id/s);
  });
});

describe("the planned runbook", () => {
  it("lists the commands without running them", async () => {
    const tools = toolsThatRespond([]);
    const outcome = await plannedRunbook.takeTurn(turn(block("echo a"), block("echo b")), tools);
    expect(outcome).toEqual({
      success: true,
      summary: "In normal mode these commands would run, in order:\n\n```sh\necho a\n```\n\n```sh\necho b\n```",
    });
    expect(tools.inputs).toEqual([]);
    expect(await plannedRunbook.takeTurn(turn("text"), tools)).toMatchObject({
      success: false,
      error_code: "invalid_request",
      summary: expect.stringContaining("Nothing to run"),
    });
  });
});

describe("defineTool", () => {
  const input = v.object({ path: v.string(), lines: v.optional(v.number()) });
  const tool = defineTool({
    name: "read",
    description: "Reads.",
    category: "files",
    readsOnly: true,
    input,
    run: async (given, { id }) => ({ output: { given, id } }),
  });
  const call = { id: "use-1", signal: new AbortController().signal };

  it("gives the model the schema, and the tool the input that matches it", async () => {
    const properties = { path: { type: "string" }, lines: { type: "number" } };
    expect(tool).toMatchObject({ name: "read", category: "files", readsOnly: true });
    expect(tool.inputSchema).toMatchObject({ type: "object", properties, required: ["path"] });
    expect(await tool.run({ path: "a", more: 1 }, call)).toEqual({ output: { given: { path: "a" }, id: "use-1" } });
  });

  it("returns what is wrong with an input to the model", async () => {
    const { isError, output } = await tool.run({ path: 7, lines: "x" }, call);
    expect([isError, output]).toEqual([
      true,
      {
        error:
          'the input does not match the schema: path: Invalid type: Expected string but received 7; lines: Invalid type: Expected number but received "x"',
      },
    ]);
    expect((await tool.run(7, call)).output["error"]).toContain("schema: input: Invalid type");
  });

  it("takes a text as the only member that is required", async () => {
    expect(await tool.run("a", call)).toEqual({ output: { given: { path: "a" }, id: "use-1" } });
  });
});
