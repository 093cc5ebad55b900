import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CommandResult } from "#harness/commands/command-runner.ts";
import type { RunCommandInput, Shell } from "#harness/commands/shell.ts";
import type { Tool, ToolResult } from "#harness/engine/tool.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { Interrupted, Stop } from "#harness/support/stop.ts";
import { SliceEnd } from "#harness/support/time-slice.ts";
import { createTools, type ToolOptions } from "#harness/tools/agent-tools.ts";
import { toCommandOutput } from "#harness/tools/command-output.ts";
import { createFileTools } from "#harness/tools/files.ts";
import { createLoadSkillTool } from "#harness/tools/load-skill.ts";
import { createRunCommandTool } from "#harness/tools/run-command.ts";
import { createSearchFilesTool } from "#harness/tools/search-files.ts";
import type { Message } from "#shared/wire/conversation.ts";
import { NO_BACKGROUND } from "../support/no-background.ts";

const run = promisify(execFile);
const RESULT: CommandResult = {
  command: "ls",
  exitCode: 0,
  timedOut: false,
  durationMs: 7,
  workingDirectory: "/w/a",
  text: "out",
  truncated: false,
};
const signal = new AbortController().signal;
const call = { id: "call-1", signal };

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tools-"));
  for (const name of ["workspace", "steps"]) mkdirSync(join(folder, name));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/** A shell whose commands end with this result, or run in `folder`. */
function createShell(result?: Partial<CommandResult>) {
  const requests: unknown[] = [];
  const workingDirectory = join(folder, "workspace");
  const execute = async (command: string): Promise<CommandResult> => {
    if (result !== undefined) return { ...RESULT, ...result };
    const ended = await run("bash", ["-c", command], { cwd: workingDirectory }).then(
      ({ stdout }) => ({ exitCode: 0, text: stdout }),
      (error: { code: number; stdout: string; stderr: string }) => ({
        exitCode: error.code,
        text: error.stdout + error.stderr,
      }),
    );
    return { ...RESULT, workingDirectory, ...ended };
  };
  const shell: Shell = {
    here: workingDirectory,
    run(input: RunCommandInput) {
      requests.push(input);
      input.onOutput?.(Buffer.from("live"));
      return execute(input.command);
    },
    checkAside: () => {},
    runAside(command, _, limits) {
      requests.push(limits);
      return execute(command);
    },
  };
  return { shell, requests };
}

/** The tools of an agent, and the messages and calls that they record. */
function startTools({ result, ...given }: Partial<ToolOptions> & { result?: Partial<CommandResult> } = {}) {
  const messages: Message[] = [];
  const calls: string[] = [];
  const { shell, requests } = createShell(result ?? {});
  const tools = createTools({
    shell,
    background: NO_BACKGROUND,
    outbox: {
      message: (message) => void messages.push(message),
      event: () => {},
      flush: async () => {},
      takeUnsent: async () => undefined,
    },
    live: {
      open: () => ({
        push: (chunk) => void calls.push(`live ${chunk}`),
        skip: () => {},
        end: () => void calls.push("end"),
      }),
    },
    redactor: createRedactor(["s3cr3t-value-of-the-run"]),
    slice: {
      deadlineAt: 0,
      stepsEndAt: Number.POSITIVE_INFINITY,
      cutAt: 0,
      beforeStep: (longestMs) => void calls.push(longestMs === undefined ? "before" : `before ${longestMs}`),
      afterStep: () => void calls.push("after"),
    },
    signal,
    turn: () => signal,
    tools: [],
    onStep: async () => void calls.push("step"),
    ...given,
  });
  return { tools, messages, calls, requests };
}

/** A tool that runs this function. */
const toolOf = (work: Tool["run"], name = "look"): Tool => ({
  name,
  description: "",
  inputSchema: {},
  category: "search",
  readsOnly: true,
  run: work,
});

describe("a use of a tool", () => {
  it("is reported when it starts and when it ends, redacted, with its live output", async () => {
    const { tools, messages, calls } = startTools();
    const diff = { text: "+a", added: 1, removed: 0 };
    const tool = toolOf(async (input, { id, onOutput }) => {
      onOutput?.(Buffer.from("o"));
      return { output: { input, id, key: "s3cr3t-value-of-the-run" }, diff };
    });
    const input = { a: "s3cr3t-value-of-the-run" };
    const result = await tools.use(tool, { id: "7", input, said: " I look.\0 " });
    const output = { input: { a: "***" }, id: "7", key: "***" };
    expect(result).toEqual({ output, diff });
    const kind = { category: "search", name: "look", title: 'look(a: "***")' };
    expect(messages).toEqual([
      {
        role: "assistant",
        content: [
          { type: "text", text: " I look.\ufffd " },
          { type: "action", id: "7", ...kind, input: { a: "***" } },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "action_result", action_id: "7", ...kind, summary: "+1 −0", diff: "+a", state: "completed", output },
        ],
      },
    ]);
    expect(calls).toEqual(["before", "live o", "end", "after", "step"]);
  });

  it("has no text block if the text is empty, and a name of at most 128 characters", async () => {
    const { tools, messages } = startTools();
    for (const name of ["n".repeat(129), "", "a\0"])
      await tools.use(
        toolOf(async () => ({ output: {} }), name),
        { id: "1", input: {}, said: " \n" },
      );
    expect(messages.map(({ content: [block, ...more] }) => [block?.type, more])).toEqual(
      Array.from({ length: 6 }, (_, index) => [index % 2 === 0 ? "action" : "action_result", []]),
    );
    const names = messages.flatMap(({ content }) => content.flatMap((block) => ("name" in block ? [block.name] : [])));
    expect(names).toEqual(["n".repeat(128), "n".repeat(128), "unnamed", "unnamed", "a\ufffd", "a\ufffd"]);
  });

  it("has texts of 64 KiB at most", async () => {
    const { tools, messages } = startTools();
    const long = "x".repeat(70_000);
    const { output } = await tools.use(
      toolOf(async () => ({ output: { long } })),
      {
        id: "1",
        input: { long },
        said: long,
      },
    );
    const [text, action] = messages[0]?.content ?? [];
    expect(text).toEqual({ type: "text", text: long.slice(0, 65_536) });
    const sizes = [action?.type === "action" ? action.input : undefined, output].map((value) =>
      Buffer.byteLength(JSON.stringify(value)),
    );
    expect(sizes.every((size) => size <= 65_536 && size > 30_000)).toBe(true);
  });

  it.each([
    ["a failure", new Error("no"), { error: "no" }],
    ["anything else that is thrown", "text", { error: "text" }],
  ])("fails with %s, which the model gets", async (_, thrown, output) => {
    const { tools, messages, calls } = startTools();
    const result = await tools.use(
      toolOf(() => Promise.reject(thrown)),
      { id: "1", input: {} },
    );
    expect(result).toEqual({ isError: true, output });
    expect(messages[1]).toMatchObject({ content: [{ state: "failed", output, summary: expect.any(String) }] });
    expect(calls).toEqual(["before", "end", "after", "step"]);
  });

  it.each<[string, ToolResult["output"] | readonly unknown[] | string]>([["a result that is not an object", "text"]])(
    "has the text of %s",
    async (_, value) => {
      const { tools } = startTools();
      const many = Object.fromEntries(Array.from({ length: 5_000 }, (__, index) => [`member-${index}`, index]));
      const { output } = await tools.use(
        toolOf(async () => ({ output: many })),
        { id: "1", input: value },
      );
      expect(output).toEqual({ text: expect.stringMatching(/^\{"member-0":0,.*\n\[\.\.\. truncated \.\.\.\]$/s) });
    },
  );

  it("makes no checkpoint if it ends the turn", async () => {
    const { tools, calls } = startTools();
    const ends = { success: false, blocked: true, summary: "Which?" };
    const result = await tools.use(
      toolOf(async () => ({ output: {}, ends })),
      { id: "1", input: {} },
    );
    expect([result, calls]).toEqual([{ output: {}, ends }, ["before", "end", "after"]]);
  });

  it.each([
    ["the execution stops", new Stop("cancelled", "it was cancelled"), 1],
    ["the time is over", new SliceEnd(), 1],
    ["the turn is interrupted", new Interrupted(3), 2],
  ])("ends the turn when %s", async (_, reason, messageCount) => {
    const controller = new AbortController();
    for (const given of [{ turn: () => controller.signal }, { signal: controller.signal }, {}]) {
      const { tools, messages, calls } = startTools(given);
      const tool = toolOf(async () => {
        controller.abort(reason);
        throw "turn" in given || "signal" in given ? new Error("the command was ended") : reason;
      });
      const used = tools.use(tool, { id: "1", input: {} });
      await expect(used).rejects.toBe(reason);
      const isBegun = calls.includes("end");
      if (isBegun) expect(messages).toHaveLength(messageCount);
      if (isBegun && messageCount === 2)
        expect(messages[1]).toMatchObject({ content: [{ state: "failed", output: { interrupted: true } }] });
      if (!isBegun) expect(messages).toEqual([]);
    }
  });

  it("starts nothing once the turn is over", async () => {
    const { tools, messages, calls } = startTools({ turn: () => AbortSignal.abort(new Interrupted(1)) });
    const work = vi.fn(async () => ({ output: {} }));
    await expect(tools.use(toolOf(work), { id: "1", input: {} })).rejects.toBeInstanceOf(Interrupted);
    expect([messages, work.mock.calls, calls]).toEqual([[], [], ["before"]]);
  });
});

describe("a command of a runbook", () => {
  it("is shown with its directory and time limit, and its result", async () => {
    const { tools, messages, calls, requests } = startTools();
    const command = "echo s3cr3t-value-of-the-run";
    expect(await tools.runCommand({ command })).toEqual(RESULT);
    const workingDirectory = join(folder, "workspace");
    expect(requests).toEqual([{ command, workingDirectory, timeoutSeconds: 600, onOutput: expect.any(Function) }]);
    expect(messages).toMatchObject([
      {
        role: "assistant",
        content: [
          {
            type: "action",
            category: "command",
            name: "run_command",
            title: "echo ***",
            input: { command: "echo ***", working_directory: workingDirectory, timeout_seconds: 600 },
          },
        ],
      },
      { role: "tool", content: [{ state: "completed", output: toCommandOutput(RESULT) }] },
    ]);
    expect(calls).toEqual(["before 600000", "live live", "end", "after", "step"]);
  });

  it("fails with its exit code, and shows 32 KiB of itself", async () => {
    const { tools, messages, requests } = startTools({ result: { exitCode: 3 } });
    await tools.runCommand({ command: "x".repeat(32 * 1024), workingDirectory: "/b", timeoutSeconds: 5 });
    await tools.runCommand({ command: "x".repeat(32 * 1024 + 1) });
    expect(requests[0]).toMatchObject({ workingDirectory: "/b", timeoutSeconds: 5 });
    expect(messages[1]).toMatchObject({ content: [{ state: "failed", output: { exit_code: 3 } }] });
    const commands = messages.flatMap(({ content: [block] }) =>
      block?.type === "action" ? [new Map(Object.entries(Object(block.input))).get("command")] : [],
    );
    expect(commands).toEqual([
      "x".repeat(32 * 1024),
      `${"x".repeat(32 * 1024)}\n[... truncated; the full command was run ...]`,
    ]);
  });

  it.each([
    [new Interrupted(1), 2],
    [new Stop("cancelled", "it was cancelled"), 1],
  ])("ends with %s", async (reason, messageCount) => {
    const { shell } = createShell({});
    const { tools, messages, calls } = startTools({ shell: { ...shell, run: () => Promise.reject(reason) } });
    await expect(tools.runCommand({ command: "ls" })).rejects.toBe(reason);
    expect(messages).toHaveLength(messageCount);
    expect(calls).toEqual(["before 600000", "end"]);
    if (messageCount === 2)
      expect(messages[1]).toMatchObject({ content: [{ output: { interrupted: true }, state: "failed" }] });
  });
});

describe("the result of a command", () => {
  it("has only the fields that describe what went wrong", () => {
    const known = { exit_code: 0, stdout: "out", duration_ms: 7, working_directory: "/w/a" };
    expect(toCommandOutput(RESULT)).toEqual(known);
    expect(
      toCommandOutput({ ...RESULT, truncated: true, signal: "SIGTERM", timedOut: true, exceeded: "memory" }),
    ).toEqual({
      ...known,
      truncated: true,
      signal: "SIGTERM",
      timed_out: true,
      exceeded: "memory",
    });
  });
});

describe("run_command", () => {
  it("passes on the input of the model and the caller, and fails with the command", async () => {
    const { shell, requests } = createShell({});
    const onOutput = () => {};
    const tool = createRunCommandTool(shell, NO_BACKGROUND);
    const all = { command: "ls", working_directory: "/b", timeout_seconds: 5 };
    expect(await tool.run(all, { ...call, onOutput })).toEqual({ output: toCommandOutput(RESULT), isError: false });
    await tool.run({ command: "ls" }, call);
    expect(requests).toEqual([
      { command: "ls", workingDirectory: "/b", timeoutSeconds: 5, onOutput },
      { command: "ls" },
    ]);
    const failing = createRunCommandTool(createShell({ exitCode: 1 }).shell, NO_BACKGROUND);
    expect(await failing.run({ command: "ls" }, call)).toMatchObject({ isError: true, output: { exit_code: 1 } });
  });
});

describe("load_skill", () => {
  it("reads a skill of the list only", async () => {
    const tool = createLoadSkillTool([{ id: "a/b:c", name: "c", description: "d" }], async (id) => `body of ${id}`);
    expect(await tool.run({ id: "a/b:c" }, call)).toEqual({ output: { id: "a/b:c", content: "body of a/b:c" } });
    await expect(tool.run({ id: "a/b:d" }, call)).rejects.toThrow("there is no such skill: use an id from the list");
  });
});

describe("search_files", () => {
  const search = (input: object) => createSearchFilesTool(createShell().shell).run({ pattern: "one", ...input }, call);
  const matches = async (input: object) => (await search(input)).output;

  /** Programs of the machine without ripgrep. */
  function hideRipgrep(): void {
    const bin = join(folder, "bin");
    mkdirSync(bin);
    for (const name of ["bash", "grep", "cut", "head"])
      symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), join(bin, name));
    vi.stubEnv("PATH", bin);
  }

  beforeEach(() => {
    const write = (name: string, text: string) => writeFileSync(join(folder, "workspace", name), text);
    for (const name of ["deep", ".git", ".github", "node_modules"]) mkdirSync(join(folder, "workspace", name));
    write("a.txt", "one\nOne two\no.e\n");
    write("deep/b.md", `it's one ${"x".repeat(2_000)}\n`);
    write(".git/c", "one\nhidden\n");
    write(".github/d.yml", "hidden\n");
    write("binary", "one\0");
  });

  it.each(["rg", "grep"])("finds lines, by its options, with %s", async (program) => {
    if (program === "grep") hideRipgrep();
    const { matches: all } = await matches({});
    // The order of grep is that of the directory.
    const lines = (Array.isArray(all) ? all : []).map(String).sort();
    expect(lines).toEqual(["./a.txt:1:one", expect.stringMatching(/^\.\/deep\/b\.md:1:it's one x{200,600}/)]);
    expect(lines[1]?.length).toBeLessThanOrEqual(600);
    expect(await matches({ ignore_case: true, path: "a.txt" })).toEqual({
      matches: [expect.stringMatching(/a\.txt:1:one$/), expect.stringMatching(/a\.txt:2:One two$/)],
    });
    expect(await matches({ names_only: true, glob: "*.md" })).toEqual({ matches: ["./deep/b.md"] });
    expect(await matches({ pattern: "o.e", fixed: true })).toEqual({ matches: ["./a.txt:3:o.e"] });
    expect(await matches({ pattern: "o.e", path: "a.txt", limit: 1 })).toEqual({
      matches: [expect.stringMatching(/a\.txt:1:one$/)],
      cut: "there are more than 1 matches",
    });
    expect(await matches({ pattern: "it's" })).toMatchObject({ matches: [expect.stringContaining("b.md")] });
    expect(await matches({ pattern: "nothing" })).toEqual({ matches: [] });
    for (const glob of [undefined, "*", "*.yml"])
      expect(await matches({ pattern: "hidden", glob })).toEqual({ matches: ["./.github/d.yml:1:hidden"] });
    if (program === "grep") return;
    await expect(search({ pattern: "(" })).rejects.toThrow("regex parse error");
  });

  it("returns 100 lines by default", async () => {
    const lines = Array.from({ length: 101 }, (_, index) => `l${index}`);
    const found = (count: number) =>
      createSearchFilesTool(createShell({ text: `\n${lines.slice(0, count).join("\n")}\n` }).shell);
    expect((await found(100).run({ pattern: "a" }, call)).output).toEqual({ matches: lines.slice(0, 100) });
    expect((await found(101).run({ pattern: "a" }, call)).output).toEqual({
      matches: lines.slice(0, 100),
      cut: "there are more than 100 matches",
    });
  });

  it("fails if the program fails, unless it has found enough", async () => {
    const failing = (result: Partial<CommandResult>) => {
      const { shell, requests } = createShell(result);
      return { requests, result: createSearchFilesTool(shell).run({ pattern: "a", limit: 2 }, call) };
    };
    const timedOut = failing({ timedOut: true });
    await expect(timedOut.result).rejects.toThrow("the search took too long: search a smaller directory");
    expect(timedOut.requests).toEqual([{ keepBytes: 40 * 1024 }]);
    await expect(failing({ exitCode: 2, text: "" }).result).rejects.toThrow("exit code 2");
    await expect(failing({ exitCode: 2, text: "a\nb\n" }).result).rejects.toThrow("a\nb");
    expect((await failing({ exitCode: 141, text: "a\nb\nc\n" }).result).output).toMatchObject({ matches: ["a", "b"] });
    expect((await failing({ exitCode: 1, text: "" }).result).output).toEqual({ matches: [] });
  });
});

describe("the file tools", () => {
  function startFileTools(result?: Partial<CommandResult>) {
    const place = (name: string) => join(folder, name);
    const { shell, requests } = createShell(result);
    const paths = {
      workspace: place("workspace"),
      home: place("workspace"),
      tmp: place("workspace"),
      output: place("workspace"),
      steps: place("steps"),
    };
    const redactor = createRedactor(["s3cr3t-value-of-the-run"]);
    const sandbox = { paths, node: process.execPath };
    const [read, edit] = createFileTools({ shell, sandbox, host: paths, redactor });
    if (read === undefined || edit === undefined) throw new Error("a tool is missing");
    return { read, edit, requests };
  }

  it("read and change files by a program in the sandbox", async () => {
    const { read, edit, requests } = startFileTools();
    const edits = [{ path: "it's.txt", action: "write", new_text: "a\ns3cr3t-value-of-the-run\n" }];
    const { output, isError, diff } = await edit.run({ edits }, call);
    expect({ output, isError }).toEqual({
      output: { files: [{ path: "it's.txt", done: "created", size_bytes: 26 }] },
      isError: false,
    });
    expect(diff).toEqual({
      text: "--- /dev/null\n+++ b/it's.txt\n@@ -0,0 +1,2 @@\n+a\n+***\n",
      added: 2,
      removed: 0,
    });
    expect(readFileSync(join(folder, "workspace", "it's.txt"), "utf8")).toContain("s3cr3t");
    const found = await read.run({ files: [{ path: "it's.txt", end_line: 1 }, { path: "none" }] }, call);
    expect(found).toEqual({
      isError: true,
      output: {
        files: [
          { path: "it's.txt", start_line: 1, end_line: 1, lines: 2, content: "a\n" },
          { path: "none", error: "does not exist" },
        ],
      },
    });
    expect(readdirSync(join(folder, "steps")).toSorted()).toEqual(["files-main.ts", "replace-text.ts"]);
    expect(requests).toEqual(
      Array.from({ length: 2 }, () => ({ keepBytes: 5 * 1024 * 1024, readBytes: 6 * 1024 * 1024 })),
    );
  });

  it("have no diff if nothing changed", async () => {
    const { read, edit } = startFileTools();
    writeFileSync(join(folder, "workspace", "a.txt"), "a\n");
    const same = await edit.run({ edits: [{ path: "a.txt", action: "write", new_text: "a\n" }] }, call);
    expect(same).toEqual({
      output: { files: [{ path: "a.txt", done: "changed", size_bytes: 2 }] },
      isError: false,
    });
    expect(await read.run({ files: [{ path: "a.txt" }] }, call)).not.toHaveProperty("diff");
  });

  it("show what changed by its line, and a deleted file", async () => {
    const { edit } = startFileTools();
    const lines = Array.from({ length: 9 }, (_, index) => `${index + 1}\n`).join("");
    writeFileSync(join(folder, "workspace", "a.txt"), lines);
    writeFileSync(join(folder, "workspace", "b.txt"), "b\n");
    const replace = { path: "a.txt", action: "replace", old_text: "6", new_text: "six" };
    const { diff } = await edit.run({ edits: [replace, { path: "b.txt", action: "delete" }] }, call);
    expect(diff?.text).toBe(
      "--- a/a.txt\n+++ b/a.txt\n@@ -3,7 +3,7 @@\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n 9\n" +
        "--- a/b.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-b\n",
    );
  });

  it("fail if the program fails", async () => {
    const failed = startFileTools({ text: '\n{"error":"no space"}\n' });
    expect(await failed.read.run({ files: [{ path: "a" }] }, call)).toEqual({
      isError: true,
      output: { error: "no space" },
    });
    for (const text of ["", "broken", '{"results":7}', '{"results":[]}\nmore']) {
      const { read } = startFileTools({ text, exitCode: 9 });
      await expect(read.run({ files: [{ path: "a" }] }, call)).rejects.toThrow(
        "the files could not be accessed (exit code 9)",
      );
    }
  });

  it("accept 20 files, 50 edits, and paths without NUL", async () => {
    const { read, edit } = startFileTools({ text: '{"results":[]}' });
    const wrong = { isError: true, output: { error: expect.stringContaining("the input does not match the schema") } };
    const right = { isError: false, output: { files: [] } };
    const files = (count: number, path = "a") =>
      read.run({ files: Array.from({ length: count }, () => ({ path })) }, call);
    const edits = (count: number) =>
      edit.run({ edits: Array.from({ length: count }, () => ({ path: "a", action: "delete" })) }, call);
    expect(await Promise.all([files(20), edits(50)])).toEqual([right, right]);
    expect(await Promise.all([files(21), edits(51), files(0), edits(0), files(1, "a\0"), files(1, "")])).toEqual(
      Array.from({ length: 6 }, () => wrong),
    );
  });
});
