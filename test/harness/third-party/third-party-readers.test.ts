import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { claude } from "#harness/third-party/claude.ts";
import { codex } from "#harness/third-party/codex.ts";
import { findCommand, parseCommandOutput } from "#harness/third-party/command-output.ts";
import { gemini } from "#harness/third-party/gemini.ts";
import { createLines } from "#harness/third-party/lines.ts";
import { createMessageRecorder } from "#harness/third-party/message-recorder.ts";
import type { Message } from "#shared/wire/conversation.ts";

/** Live output without a reader. */
const live = { open: () => ({ push: () => {}, skip: () => {}, end: () => {} }) };
const redactor = createRedactor(["s3cr3t-value-of-the-run"]);
const SESSION = "accecc35-1925-4e37-8d7e-083eef3f9720";

/** Reads lines as this version of the agent prints them, and returns the result. */
function read(agent: typeof claude, lines: readonly unknown[], isBrokenOff = false) {
  const messages: Message[] = [];
  const recorder = createMessageRecorder((message) => messages.push(message), redactor, live);
  const reader = agent.reader(recorder);
  for (const line of lines) reader.read(line);
  if (isBrokenOff) recorder.breakOff();
  return { messages, finalMessage: recorder.takeFinalMessage(), ended: reader.ended(), session: reader.session() };
}

const action = (category: string, name: string, input: unknown) => ({ type: "action", category, name, input });
const result = (name: string, state: string, output: unknown) => ({ type: "action_result", name, state, output });

describe("createMessageRecorder", () => {
  it("ends the oldest of more than 64 open actions", () => {
    const messages: Message[] = [];
    const recorder = createMessageRecorder((message) => messages.push(message), redactor, live);
    for (let id = 0; id < 66; id++) recorder.action(String(id), { category: "command", name: `tool-${id}`, input: {} });
    const ended = messages.flatMap(({ content }) => content).filter(({ type }) => type === "action_result");
    expect(ended).toMatchObject(["tool-0", "tool-1"].map((name) => result(name, "failed", { interrupted: true })));
  });
});

describe("lines of claude 2.1.330", () => {
  const createLine = (type: string, ...content: unknown[]) => ({ type, session_id: SESSION, message: { content } });
  const use = (id: string, name: string, input: unknown) => ({ type: "tool_use", id, name, input });
  const used = (id: string, content: unknown, is_error = false) => ({
    type: "tool_result",
    tool_use_id: id,
    content,
    is_error,
  });

  it("become texts, actions and results, and the last text is the final response", () => {
    const { messages, finalMessage, ended, session } = read(claude, [
      { type: "system", subtype: "init", session_id: SESSION, tools: ["Bash"] },
      createLine("assistant", { type: "thinking", thinking: "hm" }),
      createLine("assistant", { type: "text", text: "I look." }),
      createLine("assistant", use("t1", "Bash", { command: "ls", description: "list" })),
      createLine("user", used("t1", "a\nb")),
      createLine("assistant", use("t2", "Read", { file_path: "/a" }), use("t3", "mcp__box__ping", { n: 1 })),
      createLine("user", used("t2", [{ type: "text", text: "no such file" }], true)),
      createLine("user", used("t3", [{ type: "text", text: "pong" }, { type: "image" }])),
      createLine("assistant", { type: "text", text: "All done." }),
      { type: "result", subtype: "success", is_error: false, result: "All done.", session_id: SESSION },
    ]);
    expect(messages).toMatchObject([
      {
        role: "assistant",
        content: [{ type: "text", text: "I look." }, action("command", "run_command", { command: "ls" })],
      },
      { role: "tool", content: [result("run_command", "completed", { stdout: "a\nb" })] },
      { role: "assistant", content: [action("files", "read_files", { file_path: "/a" })] },
      {
        role: "assistant",
        content: [action("integration", "call_mcp_tool", { server: "box", tool: "ping", arguments: { n: 1 } })],
      },
      { role: "tool", content: [result("read_files", "failed", { stdout: "no such file" })] },
      { role: "tool", content: [result("call_mcp_tool", "completed", { stdout: "pong\n[image]" })] },
    ]);
    expect({ finalMessage, ended, session }).toEqual({
      finalMessage: "All done.",
      ended: { success: true, summary: "All done." },
      session: SESSION,
    });
    const ids = messages.flatMap(({ content }) => content.flatMap((block) => ("id" in block ? [block.id] : [])));
    expect(new Set(ids).size).toBe(3);
  });

  it("report a failure, and omit the texts of sub-agents", () => {
    const below = { ...createLine("assistant", { type: "text", text: "I am below." }), parent_tool_use_id: "t1" };
    const { finalMessage, ended } = read(claude, [
      below,
      { type: "result", subtype: "success", is_error: true, result: "There's an issue with the selected model." },
    ]);
    expect({ finalMessage, ended }).toEqual({
      finalMessage: "",
      ended: { success: false, summary: "There's an issue with the selected model." },
    });
    const failed = { type: "result", subtype: "error_during_execution", is_error: true, errors: ["a", "b"] };
    expect(read(claude, [failed]).ended).toEqual({ success: false, summary: "a; b" });
  });

  it.each([
    ["Bash", "command", "run_command"],
    ["Read", "files", "read_files"],
    ["Write", "files", "edit_files"],
    ["Edit", "files", "edit_files"],
    ["MultiEdit", "files", "edit_files"],
    ["NotebookEdit", "files", "edit_files"],
    ["Glob", "search", "search_files"],
    ["Grep", "search", "search_files"],
    ["WebFetch", "search", "WebFetch"],
    ["WebSearch", "search", "WebSearch"],
    ["TodoWrite", "documents", "create_plan"],
    ["ExitPlanMode", "documents", "create_plan"],
    ["Skill", "skill", "Skill"],
    ["mcp_box__ping", "integration", "mcp_box__ping"],
  ])("show the tool %s as %s %s", (tool, category, name) => {
    const { messages } = read(claude, [createLine("assistant", use("t1", tool, { a: 1 }))]);
    expect(messages).toMatchObject([{ content: [action(category, name, { a: 1 })] }]);
  });

  it("are ignored if they are of another kind or shape", () => {
    const { messages, finalMessage, ended, session } = read(claude, [
      "text",
      { type: "system", session_id: "no id", message: { content: [use("t0", "Bash", {})] } },
      { type: "assistant", message: { content: "A text." } },
      { type: "assistant" },
      createLine("user", { type: "text", text: "Of the user." }, use("t1", "Bash", {})),
      createLine("assistant", used("t1", "")),
      createLine("assistant", { type: "text" }, { type: "tool_use" }),
      { type: "result" },
      { ...createLine("assistant", { type: "text", text: "Mine." }), parent_tool_use_id: null },
      { type: "assistant", session_id: "no id", message: { content: [] } },
    ]);
    expect(messages).toMatchObject([{ role: "assistant", content: [action("integration", "unknown", {})] }]);
    expect({ finalMessage, ended, session }).toEqual({
      finalMessage: "Mine.",
      ended: { success: true, summary: "" },
      session: SESSION,
    });
  });

  it("have the text of any result", () => {
    const contents = [undefined, [{ type: "text", text: "a" }, {}, { type: "image" }], [7], { text: "b" }];
    const { messages } = read(claude, [
      createLine("assistant", ...contents.map((_, index) => use(`t${index}`, "Bash", {}))),
      createLine("user", ...contents.map((content, index) => used(`t${index}`, content))),
    ]);
    const outputs = messages.slice(contents.length).map(({ content: [block] }) => block);
    expect(outputs).toMatchObject(
      ["", "a\n[part]\n[image]", "", ""].map((stdout) => ({ state: "completed", output: { stdout } })),
    );
  });

  it("keep the name of an unknown tool, and end unfinished actions", () => {
    const { messages } = read(claude, [createLine("assistant", use("t1", "Monitor", { a: 1 }))], true);
    expect(messages).toMatchObject([
      { content: [action("integration", "Monitor", { a: 1 })] },
      { role: "tool", content: [result("Monitor", "failed", { interrupted: true })] },
    ]);
  });
});

describe("steps of third-party agents", () => {
  const line = (type: string, content: object, more: object = {}) => ({
    type,
    message: { content: [content] },
    ...more,
  });
  const edit = { file_path: "/w/a.py", old_string: "a\n", new_string: "s3cr3t-value-of-the-run\n" };
  const use = { type: "tool_use", id: "t1", name: "Edit", input: edit };
  const end = { type: "tool_result", tool_use_id: "t1", content: "The file was updated." };
  const steps = (more: object = {}) =>
    read(claude, [line("assistant", use), line("user", end, more)]).messages.flatMap(({ content }) => content);

  it("have a title, a summary and the redacted diff that the agent reports", () => {
    const lines = [" x", "-a", "+s3cr3t-value-of-the-run"];
    const patch = [{ oldStart: 4, oldLines: 2, newStart: 4, newLines: 2, lines }];
    expect(steps({ tool_use_result: { filePath: "/w/a.py", structuredPatch: patch } })).toMatchObject([
      { title: "Edit /w/a.py", input: { new_string: "***\n" } },
      {
        title: "Edit /w/a.py",
        summary: "+1 −1",
        diff: "--- a//w/a.py\n+++ b//w/a.py\n@@ -4,2 +4,2 @@\n x\n-a\n+***\n",
      },
    ]);
  });

  it("have a title without secrets", () => {
    const { messages } = read(claude, [
      line("assistant", {
        type: "tool_use",
        id: "t",
        name: "Bash",
        input: { command: "curl s3cr3t-value-of-the-run" },
      }),
    ]);
    expect(messages.flatMap(({ content }) => content)).toMatchObject([{ title: "curl ***" }]);
  });

  it("have a diff without line numbers if the agent reports none", () => {
    const hunk = { oldStart: 1, oldLines: 0, newStart: 1, newLines: 1, lines: ["+x"] };
    const withHunks = (...structuredPatch: object[]) => ({ tool_use_result: { filePath: "/w/a.py", structuredPatch } });
    for (const more of [
      {},
      withHunks({ lines: ["rm -rf"] }),
      withHunks({ ...hunk, lines: ["+x\ny"] }),
      withHunks({ ...hunk, lines: ["rm +x"] }),
      withHunks({ ...hunk, newStart: -1 }),
      withHunks({ ...hunk, oldLines: 0.5 }),
      withHunks(...Array.from({ length: 1_001 }, () => hunk)),
    ])
      expect(steps(more)[1]).toMatchObject({ diff: expect.stringMatching(/\n@@\n-a\n\+\*\*\*\n$/) });
    const most = withHunks(...Array.from({ length: 1_000 }, () => hunk));
    expect(steps(most)[1]).toMatchObject({ summary: "+1000 −0" });
    expect(steps(withHunks())[1]).toMatchObject({ diff: expect.stringContaining("-a\n+***") });
  });

  it("have no diff if they failed, changed several files at once, or have not both texts", () => {
    const diffsOf = (...lines: object[]) =>
      read(claude, lines)
        .messages.flatMap(({ content }) => content)
        .flatMap((block) => (block.type === "action_result" ? [block.diff] : []));
    expect(diffsOf(line("assistant", use), line("user", { ...end, is_error: true }))).toEqual([undefined]);
    for (const input of [
      { ...edit, old_string: 7 },
      { ...edit, new_string: undefined },
    ])
      expect(diffsOf(line("assistant", { ...use, input }), line("user", end))).toEqual([undefined]);
    expect(diffsOf(line("assistant", { ...use, name: "Bash" }), line("user", end))).toEqual([undefined]);
    const patch = [{ oldStart: 4, oldLines: 0, newStart: 4, newLines: 1, lines: ["+of one file"] }];
    const both = {
      type: "user",
      message: { content: [{ ...end, tool_use_id: "t2" }, end] },
      tool_use_result: { filePath: "/w/a.py", structuredPatch: patch },
    };
    const uses = [line("assistant", { ...use, id: "t2", name: "Write", input: {} }), line("assistant", use)];
    expect(diffsOf(...uses, both)).toEqual([undefined, expect.stringContaining("-a\n+***")]);
    const elsewhere = { path: "/w/b.py", old_string: "a\n", new_string: "b\n" };
    expect(diffsOf(line("assistant", { ...use, input: elsewhere }), line("user", end))).toEqual([
      "--- a//w/b.py\n+++ b//w/b.py\n@@\n-a\n+b\n",
    ]);
  });
});

describe("lines of codex 0.169.0", () => {
  const item = (type: string, members: object) => ({ type, item: members });
  const command = { id: "item_1", type: "command_execution", command: "/bin/bash -lc 'echo '\"'\"'hi'\"'\"''" };

  it.each([
    ["/bin/bash -lc 'ls -l'", "ls -l"],
    [`/bin/bash -lc "grep -rn 'fetch(' src"`, "grep -rn 'fetch(' src"],
    [`bash -lc "echo 'a'"' $HOME "b"'`, `echo 'a' $HOME "b"`],
    ["/bin/bash -lc pwd", "pwd"],
    ["/bin/bash -lc 'a' b", "/bin/bash -lc 'a' b"],
    ["npm test", "npm test"],
    ["/usr/local/bin/zsh -c ls", "ls"],
    ["sh -lc 'a\nb'", "a\nb"],
    ["sh -lc ls\\ -l", "ls -l"],
    [`sh -c "a \\"b\\" \\$c \\n"`, 'a "b" $c \\n'],
    ["sh -lc ''", ""],
    ["sh -lc 'a", "sh -lc 'a"],
    ["fish -lc ls", "fish -lc ls"],
    ["echo sh -c ls", "echo sh -c ls"],
    ["bin/sh -c ls", "bin/sh -c ls"],
  ])("have the command of %s", (wrapped, text) => {
    const { messages } = read(codex, [item("item.started", { ...command, command: wrapped, status: "in_progress" })]);
    expect(messages).toMatchObject([{ content: [{ name: "run_command", input: { command: text } }] }]);
  });

  it("become actions with exit codes, and the last message is the final response", () => {
    const { messages, finalMessage, ended, session } = read(codex, [
      { type: "thread.started", thread_id: SESSION },
      { type: "turn.started" },
      item("item.completed", { id: "item_0", type: "error", message: "Model metadata not found." }),
      item("item.completed", { id: "item_a", type: "agent_message", text: "I will." }),
      item("item.started", { ...command, aggregated_output: "", exit_code: null, status: "in_progress" }),
      item("item.completed", { ...command, aggregated_output: "hi\n", exit_code: 3, status: "failed" }),
      item("item.completed", {
        id: "item_2",
        type: "file_change",
        changes: [{ path: "/a", kind: "add" }],
        status: "completed",
      }),
      item("item.completed", { id: "item_3", type: "agent_message", text: "All done." }),
      { type: "turn.completed", usage: { input_tokens: 200 } },
    ]);
    expect(messages).toMatchObject([
      { content: [{ type: "text", text: "I will." }, action("command", "run_command", { command: "echo 'hi'" })] },
      { content: [result("run_command", "failed", { exit_code: 3, stdout: "hi\n" })] },
      { content: [action("files", "edit_files", { changes: [{ path: "/a", kind: "add" }] })] },
      { content: [result("edit_files", "completed", {})] },
    ]);
    expect({ finalMessage, ended, session }).toEqual({
      finalMessage: "All done.",
      ended: { success: true, summary: "" },
      session: SESSION,
    });
  });

  it.each([
    [
      { type: "mcp_tool_call", server: "box", tool: "ping", arguments: { n: 1 } },
      action("integration", "call_mcp_tool", { server: "box", tool: "ping", arguments: { n: 1 } }),
    ],
    [{ type: "web_search", query: "q", other: 1 }, action("search", "web_search", { query: "q" })],
    [{ type: "todo_list", items: [1], other: 1 }, action("documents", "create_plan", { items: [1] })],
    [{ type: "command_execution" }, action("command", "run_command", { command: "" })],
    [{ type: "file_change", changes: [], other: 1 }, action("files", "edit_files", { changes: [] })],
  ])("become an action as soon as it starts: %j", (members, shown) => {
    const started = { id: "item_1", ...members };
    const { messages } = read(codex, [item("item.started", started), item("item.completed", started)]);
    expect(messages).toMatchObject([{ content: [shown] }, { content: [{ state: "completed" }] }]);
    const { input } = { input: undefined, ...messages[0]?.content[0] };
    expect(input).toEqual(shown.input);
  });

  it("become an action at its end, if they are of an unknown type", () => {
    const members = { text: "t", command: "c", aggregated_output: "o", exit_code: 1, message: "m", more: 2 };
    const unknown = { id: "item_1", type: "new_tool", ...members, status: "completed" };
    const started = item("item.started", { ...unknown, status: "in_progress" });
    expect(read(codex, [started]).messages).toEqual([]);
    const { messages } = read(codex, [started, item("item.completed", unknown), item("item.updated", unknown)]);
    expect(messages).toMatchObject([{ content: [{ name: "new_tool", category: "integration" }] }, {}]);
    const { input } = { input: undefined, ...messages[0]?.content[0] };
    expect(input).toEqual({ command: "c", message: "m", more: 2 });
  });

  it.each([
    [{ result: "r", error: "e" }, "completed", { result: "r" }],
    [{ result: null, error: "e" }, "completed", { result: "e" }],
    [{ status: "failed", error: "e" }, "failed", { result: "e" }],
    [{ status: "declined", error: null }, "denied", {}],
    [{}, "completed", {}],
    [{ type: "command_execution", status: "declined" }, "denied", { exit_code: null, stdout: "" }],
  ])("have the result of %j", (members, state, output) => {
    const { messages } = read(codex, [item("item.completed", { id: "1", type: "web_search", ...members })]);
    const [block] = messages[1]?.content ?? [];
    expect(block).toMatchObject({ type: "action_result", state });
    expect(block).toHaveProperty("output", output);
  });

  it("are ignored if they are of another kind or shape", () => {
    const { messages, finalMessage, ended, session } = read(codex, [
      "text",
      { type: "thread.started", thread_id: "no id" },
      { type: "item.started" },
      { type: "item.completed" },
      item("item.completed", { id: "1", type: "reasoning", text: "hm" }),
      item("item.completed", { id: "2", type: "agent_message" }),
    ]);
    expect({ messages, finalMessage, ended, session }).toEqual({
      messages: [],
      finalMessage: "",
      ended: undefined,
      session: undefined,
    });
  });

  it("report why a turn failed", () => {
    const earlier = [{ type: "error", message: "cut" }, { type: "error" }, { type: "turn.failed", error: null }];
    expect(read(codex, earlier).ended).toEqual({ success: false, summary: "cut" });
    expect(read(codex, [{ type: "turn.failed" }]).ended).toEqual({ success: false, summary: "" });
    const lines = [
      { type: "error", message: "stream disconnected" },
      { type: "turn.failed", error: { message: "stream disconnected before completion" } },
    ];
    expect(read(codex, lines).ended).toEqual({ success: false, summary: "stream disconnected before completion" });
  });
});

describe("lines of gemini 0.61.0", () => {
  it("are joined to texts, and become actions and results", () => {
    const { messages, finalMessage, ended, session } = read(gemini, [
      { type: "init", session_id: SESSION, model: "m" },
      { type: "message", role: "user", content: "Write a file" },
      { type: "message", role: "assistant", content: "I will ", delta: true },
      { type: "message", role: "assistant", content: "write.", delta: true },
      { type: "tool_use", tool_name: "run_shell_command", tool_id: "r1", parameters: { command: "ls" } },
      { type: "tool_result", tool_id: "r1", status: "success", output: "hi" },
      { type: "tool_use", tool_name: "write_file", tool_id: "r2", parameters: { file_path: "a" } },
      { type: "tool_result", tool_id: "r2", status: "error", error: { message: "denied" } },
      { type: "message", role: "assistant", content: "All ", delta: true },
      { type: "message", role: "assistant", content: "done.", delta: true },
      { type: "result", status: "success", stats: {} },
    ]);
    expect(messages).toMatchObject([
      { content: [{ type: "text", text: "I will write." }, action("command", "run_command", { command: "ls" })] },
      { content: [result("run_command", "completed", { stdout: "hi" })] },
      { content: [action("files", "edit_files", { file_path: "a" })] },
      { content: [result("edit_files", "failed", { stdout: "denied" })] },
    ]);
    expect({ finalMessage, ended, session }).toEqual({
      finalMessage: "All done.",
      ended: { success: true, summary: "" },
      session: SESSION,
    });
  });

  it.each([
    ["run_shell_command", "command", "run_command"],
    ["read_file", "files", "read_files"],
    ["read_many_files", "files", "read_files"],
    ["list_directory", "files", "read_files"],
    ["replace", "files", "edit_files"],
    ["write_file", "files", "edit_files"],
    ["glob", "search", "search_files"],
    ["grep_search", "search", "search_files"],
    ["write_todos", "documents", "create_plan"],
    ["exit_plan_mode", "documents", "create_plan"],
    ["activate_skill", "skill", "activate_skill"],
    ["other", "integration", "other"],
  ])("show the tool %s as %s %s", (tool_name, category, name) => {
    const { messages } = read(gemini, [{ type: "tool_use", tool_name, tool_id: "1", parameters: { a: 1 } }]);
    expect(messages).toMatchObject([{ content: [action(category, name, { a: 1 })] }]);
  });

  it("show calls of MCP servers", () => {
    const { messages } = read(gemini, [{ type: "tool_use", tool_name: "mcp_box_ping", tool_id: "1", parameters: {} }]);
    const input = { tool: "mcp_box_ping", arguments: {} };
    expect(messages).toMatchObject([{ content: [action("integration", "call_mcp_tool", input)] }]);
  });

  it("are ignored if they are of another kind or shape, and separate texts", () => {
    const { messages, finalMessage, ended, session } = read(gemini, [
      "text",
      { type: "other", session_id: SESSION },
      { type: "init", session_id: "no id" },
      { type: "message", role: "assistant", content: "One", delta: true },
      { type: "message", role: "assistant", content: "Two" },
      { type: "message", role: "assistant", content: "!", delta: true },
      { type: "message", role: "user", content: "Hello." },
      { type: "message", role: "assistant", content: "Three", delta: true },
      { type: "message", role: "assistant" },
    ]);
    expect({ messages, finalMessage, ended, session }).toEqual({
      messages: [],
      finalMessage: "One\n\nTwo!\n\nThree",
      ended: undefined,
      session: undefined,
    });
  });

  it("have a name and a result even if the agent says nothing about them", () => {
    const { messages } = read(gemini, [{ type: "tool_use" }, { type: "tool_result", error: null }]);
    expect(messages).toMatchObject([
      { content: [action("integration", "unknown", {})] },
      { content: [result("unknown", "failed", { stdout: "" })] },
    ]);
  });

  it("report why it failed", () => {
    const lines = [{ type: "result", status: "error", error: { type: "ApiError", message: "quota" } }];
    expect(read(gemini, lines).ended).toEqual({ success: false, summary: "quota" });
    const earlier = [
      { type: "error", message: "stream disconnected" },
      { type: "error" },
      { type: "message", role: "user", content: "Hello." },
      { type: "result", status: "error" },
    ];
    expect(read(gemini, earlier).ended).toEqual({ success: false, summary: "stream disconnected" });
  });
});

describe("the output of commands of third-party agents", () => {
  const commands = ["sleep 1", `echo "it's" && sleep 1`];
  const script = `eval 'echo "it'"'"'s" && sleep 1' < /dev/null`;
  it.each([
    ["claude", claude],
    ["gemini", gemini],
  ] as const)("is shown for the running command of %s that the shell was started with", (name, agent) => {
    const shown: unknown[] = [];
    const messages: Message[] = [];
    const observed = {
      open: (id: string) => ({
        push: (chunk: Buffer) => shown.push([id, chunk.toString()]),
        skip: (bytes: number) => shown.push([id, bytes]),
        end: () => shown.push([id, "end"]),
      }),
    };
    const recorder = createMessageRecorder((message) => messages.push(message), redactor, observed);
    const reader = agent.reader(recorder);
    for (const [index, command] of commands.entries()) {
      const id = `call-${index}`;
      reader.read(
        name === "claude"
          ? { type: "assistant", message: { content: [{ type: "tool_use", id, name: "Bash", input: { command } }] } }
          : { type: "tool_use", tool_id: id, tool_name: "run_shell_command", parameters: { command } },
      );
    }
    const output = (text: string, skipped = 0) => reader.output?.({ script, skipped, data: Buffer.from(text) });
    output("one\n");
    output("two\n", 7);
    reader.output?.({ script: "unknown", skipped: 0, data: Buffer.from("lost") });
    reader.read(
      name === "claude"
        ? { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "call-1", content: "" }] } }
        : { type: "tool_result", tool_id: "call-1", status: "success", output: "" },
    );
    const second = messages.flatMap(({ content }) => content)[1];
    const id = second?.type === "action" ? second.id : undefined;
    expect(shown).toEqual([
      [id, "one\n"],
      [id, 7],
      [id, "two\n"],
      [id, "end"],
    ]);
  });

  it.each([
    ["claude", claude],
    ["gemini", gemini],
  ] as const)("is shown for the second of two equal commands of %s once the first has ended", (name, agent) => {
    const shown: string[] = [];
    const messages: Message[] = [];
    const observed = { open: (id: string) => ({ push: () => void shown.push(id), skip: () => {}, end: () => {} }) };
    const reader = agent.reader(createMessageRecorder((message) => messages.push(message), redactor, observed));
    for (const id of ["first", "second"]) {
      const [use, end] =
        name === "claude"
          ? [
              {
                type: "assistant",
                message: { content: [{ type: "tool_use", id, name: "Bash", input: { command: "ls" } }] },
              },
              { type: "user", message: { content: [{ type: "tool_result", tool_use_id: id, content: "" }] } },
            ]
          : [
              { type: "tool_use", tool_id: id, tool_name: "run_shell_command", parameters: { command: "ls" } },
              { type: "tool_result", tool_id: id, status: "success", output: "" },
            ];
      reader.read(use);
      reader.output?.({ script: "ls", skipped: 0, data: Buffer.from("a\n") });
      reader.read(end);
    }
    const actions = messages
      .flatMap(({ content }) => content)
      .flatMap((block) => (block.type === "action" ? [block.id] : []));
    expect([shown, actions.length]).toEqual([actions, 2]);
  });
});

describe("the output of third-party agents", () => {
  it("is truncated if it is long, deep or has many members, and stays well formed", () => {
    const messages: Message[] = [];
    const recorder = createMessageRecorder((message) => messages.push(message), redactor, live);
    let deep: unknown = "end";
    for (let index = 0; index < 20; index++) deep = [deep];
    const input = { long: "x".repeat(100_000), deep, many: Array.from({ length: 1_000 }, () => 1), bad: "a\0\ud800" };
    recorder.action("1", { category: "files", name: "n".repeat(300), input });
    const [block] = messages[0]?.content ?? [];
    const text = JSON.stringify(block);
    expect(text.length).toBeLessThan(20_000);
    expect(text).toContain("bytes omitted");
    expect(text).toContain("[... omitted ...]");
    expect(block).toMatchObject({ name: "n".repeat(128), input: { bad: "a\ufffd\ufffd" } });
  });

  it("keeps texts of 16 KiB whole, and the ends of longer ones", () => {
    const messages: Message[] = [];
    const recorder = createMessageRecorder((message) => messages.push(message), redactor, live);
    const half = 8 * 1024;
    const [start, end] = ["a".repeat(half), "b".repeat(half)];
    let [deep, nested]: unknown[] = ["end", "end"];
    for (let level = 0; level < 8; level++) deep = { in: deep };
    for (let level = 0; level < 7; level++) nested = [nested];
    const input = {
      exact: start + end,
      long: `${start}é!${end}`,
      many: Array.from({ length: 201 }, (_, index) => index),
      members: Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`m${index}\0`, null])),
      deep,
      nested,
    };
    recorder.action("1", { category: "files", name: "\0", input });
    const { input: shown } = { input: undefined, ...messages[0]?.content[0] };
    let omitted: unknown = "[... omitted ...]";
    for (let level = 0; level < 7; level++) omitted = { in: omitted };
    expect(shown).toEqual({
      exact: start + end,
      long: `${start}\n[... 3 bytes omitted ...]\n${end}`,
      many: Array.from({ length: 200 }, (_, index) => index),
      members: Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`m${index}\ufffd`, null])),
      deep: omitted,
      nested,
    });
  });

  it("has the text before an action with it, cut at 128 KiB and trimmed", () => {
    const messages: Message[] = [];
    const recorder = createMessageRecorder((message) => messages.push(message), redactor, live);
    recorder.text(` a\0${"x".repeat(128 * 1024)}`);
    recorder.action("1", { category: "files", name: "a", input: 7 });
    recorder.text("b ");
    recorder.text(" c");
    recorder.more("d\n");
    expect(messages).toMatchObject([
      {
        content: [
          { type: "text", text: `a\ufffd${"x".repeat(128 * 1024 - 5)}` },
          { type: "action", input: 7 },
        ],
      },
    ]);
    expect([recorder.takeFinalMessage(), recorder.takeFinalMessage()]).toEqual(["b \n\n cd", ""]);
  });

  it("is redacted before it is cut, and read in part where it is endless", () => {
    const recorder = createMessageRecorder(() => {}, redactor, live);
    recorder.text(`${"x".repeat(128 * 1024 - 10)}s3cr3t-value-of-the-run`);
    expect(recorder.takeFinalMessage()).not.toContain("s3cr3t");
    for (let count = 0; count < 600; count++) recorder.more("x".repeat(1024 * 1024));
    expect(recorder.takeFinalMessage().length).toBe(128 * 1024);
  });

  it("ignores results without an action, and second results", () => {
    const messages: Message[] = [];
    const recorder = createMessageRecorder((message) => messages.push(message), redactor, live);
    recorder.result("none", "completed", {});
    recorder.action("1", { category: "files", name: "a", input: {} });
    recorder.result("1", "completed", {});
    recorder.result("1", "completed", {});
    recorder.breakOff();
    expect(messages).toHaveLength(2);
  });

  it("is parsed across chunks, and non-JSON lines count as noise", () => {
    const seen: unknown[] = [];
    const lines = createLines((line) => seen.push(line));
    const bytes = Buffer.from('Warning: é\n{"a":"é"}\n{broken\n\n{"b":2}');
    for (const byte of bytes) lines.push(Buffer.from([byte]));
    lines.end();
    expect(seen).toEqual([{ a: "é" }, { b: 2 }]);
    expect(lines.noise()).toBe("Warning: é\n{broken");
  });

  it("has JSON objects only, and the last 2,000 bytes of noise", () => {
    const seen: unknown[] = [];
    const lines = createLines((line) => seen.push(line));
    lines.push(Buffer.from(`[1]\n7\n${"x".repeat(3_000)}\n  \n{"a":1}`));
    lines.end();
    lines.end();
    expect(seen).toEqual([{ a: 1 }]);
    expect(lines.noise()).toBe("x".repeat(1_999));
    const short = createLines(() => {});
    short.push(Buffer.from("[1]\n7\n"));
    expect(short.noise()).toBe("[1]\n7");
  });

  it("drops the rest of a line of more than 32 Mi characters", () => {
    const seen: unknown[] = [];
    const lines = createLines((line) => seen.push(line));
    const longest = 32 * 1024 * 1024;
    const start = '{"a":"';
    lines.push(Buffer.from(start + "x".repeat(longest - start.length - 2)));
    lines.push(Buffer.from('"}dropped\n{"b":1}\n'));
    expect(seen.map((line) => Object.keys(Object(line)))).toEqual([["a"], ["b"]]);
  });
});

describe("the installed versions", () => {
  it("are those of these lines and of the documentation", () => {
    const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
    const { dependencies, optionalDependencies } = JSON.parse(read("image/package.json"));
    const opencode = { "opencode-linux-arm64": "1.18.18", "opencode-linux-x64": "1.18.18" };
    expect({ ...dependencies, ...optionalDependencies }).toEqual({
      [claude.package]: "2.1.330",
      [codex.package]: "0.169.0",
      [gemini.package]: "0.61.0",
      "@qwen-code/qwen-code": "0.24.4",
      ...opencode,
    });
    const documentation = read("docs/third-party-harnesses.md") + read("docs/acp.md");
    for (const [name, version] of Object.entries({ ...dependencies, "opencode-ai": opencode["opencode-linux-x64"] }))
      expect(documentation).toContain(`(https://www.npmjs.com/package/${name}) | ${version} |`);
    const { packages } = JSON.parse(read("image/package-lock.json"));
    for (const name of ["@qwen-code/qwen-code", ...Object.keys(opencode)])
      expect(packages[`node_modules/${name}`].integrity).toMatch(/^sha512-/);
  });
});

describe("an agent's session", () => {
  it("is found by its file, where the agent looks for it", () => {
    const line = `{"type":"queue-operation","sessionId":"${SESSION}"}\n`;
    expect(claude.parseSession(line, "/workspace/a.b_c")).toEqual({
      id: SESSION,
      path: `.claude/projects/-workspace-a-b-c/${SESSION}.jsonl`,
    });
    const meta = { type: "session_meta", payload: { id: SESSION, timestamp: "2026-11-21T22:30:19.711Z" } };
    expect(codex.parseSession(`${JSON.stringify(meta)}\n{}`, "/")).toEqual({
      id: SESSION,
      path: `.codex/sessions/2026/11/21/rollout-2026-11-21T22-30-19-${SESSION}.jsonl`,
    });
    const first = { sessionId: SESSION, startTime: "2026-11-21T22:30:57.055Z", kind: "main" };
    expect(gemini.parseSession(`${JSON.stringify(first)}\n{}`, "/")).toEqual({
      id: SESSION,
      path: `.gemini/tmp/workspace/chats/session-2026-11-21T22-30-accecc35.jsonl`,
    });
  });

  it("is rejected in a file of another agent, or with a path outside", () => {
    for (const agent of [claude, codex, gemini]) {
      expect(agent.parseSession("", "/")).toBeUndefined();
      expect(agent.parseSession('{"type":"run","run_id":"1"}\n', "/")).toBeUndefined();
    }
    const build = (members: object, type = "session_meta") =>
      `${JSON.stringify({ type, payload: { id: SESSION, timestamp: "2026-11-21T22:30:19", ...members } })}\n`;
    expect(codex.parseSession(build({}), "/")).toBeDefined();
    for (const file of [
      build({}, "other"),
      build({ id: "../x" }),
      build({ timestamp: "x2026-11-21T22:30:19" }),
      build({ timestamp: "2026-11-21T22:30:1" }),
      build({ timestamp: "2026-11-21 22:30:19" }),
    ])
      expect(codex.parseSession(file, "/")).toBeUndefined();
    const first = (startTime: string) => `${JSON.stringify({ sessionId: SESSION, startTime })}\n`;
    expect(gemini.parseSession(first("2026-11-21T22:30:"), "/")).toBeDefined();
    for (const startTime of ["x2026-11-21T22:30:", "2026-11-21T22:30", "2026-1-21T22:30:"])
      expect(gemini.parseSession(first(startTime), "/")).toBeUndefined();
    const late = `${" ".repeat(65_536)}{"sessionId":"${SESSION}"}`;
    expect([claude.parseSession(late, "/"), claude.parseSession(late.slice(100), "/")]).toEqual([
      undefined,
      { id: SESSION, path: `.claude/projects/-/${SESSION}.jsonl` },
    ]);
    const evil = "../../../../../../etc/passwd-0000-aaaa";
    expect(claude.parseSession(`{"sessionId":"${evil}"}\n`, "/")).toBeUndefined();
    expect(
      gemini.parseSession(`${JSON.stringify({ sessionId: evil, startTime: "2026-11-21T22:30:" })}\n`, "/"),
    ).toBeUndefined();
    const meta = { type: "session_meta", payload: { id: SESSION, timestamp: "$(touch /x)" } };
    expect(codex.parseSession(`${JSON.stringify(meta)}\n`, "/")).toBeUndefined();
  });
});

describe("the pattern of a session's files", () => {
  it("is where each agent stores them", () => {
    expect([claude, codex, gemini].map(({ sessionFiles }) => sessionFiles(SESSION))).toEqual([
      `"$HOME"/.claude/projects/*/${SESSION}.jsonl`,
      `"$HOME"/.codex/sessions/*/*/*/rollout-*-${SESSION}.jsonl`,
      `"$HOME"/.gemini/tmp/workspace/chats/session-*-accecc35.jsonl`,
    ]);
  });
});

describe("findCommand", () => {
  const commands = new Map([
    ["short", "npm test"],
    ["long", "npm test -- 'a b'"],
    ["other", "ls"],
  ]);

  it("finds the longest command in a script, whatever its quotes and white space are", () => {
    expect(findCommand(commands, 'bash -c "npm  test -- \\"a b\\""')).toBe("long");
    expect(findCommand(commands, "eval 'npm test' < /dev/null")).toBe("short");
    expect(findCommand(new Map([...commands].toReversed()), "npm test -- a b")).toBe("long");
    expect(findCommand(commands, "git status")).toBeUndefined();
  });
});

describe("parseCommandOutput", () => {
  it("decodes what a tap sent, and ignores anything else", () => {
    const sent = { script: "ls", skipped: 0, data: Buffer.from("a\0").toString("base64") };
    expect(parseCommandOutput(sent)).toEqual({ script: "ls", skipped: 0, data: Buffer.from("a\0") });
    for (const wrong of [{ skipped: -1 }, { skipped: 0.5 }, { data: "?" }, { script: 7 }])
      expect(parseCommandOutput({ ...sent, ...wrong })).toBeUndefined();
    expect(parseCommandOutput("text")).toBeUndefined();
  });
});
