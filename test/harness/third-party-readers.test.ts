import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { claude } from "#harness/third-party/claude.ts";
import { codex } from "#harness/third-party/codex.ts";
import { gemini } from "#harness/third-party/gemini.ts";
import { createLines } from "#harness/third-party/lines.ts";
import { createMessageRecorder } from "#harness/third-party/message-recorder.ts";
import type { Message } from "#shared/wire/conversation.ts";

/** Live output that nobody reads. */
const live = { open: () => ({ push: () => {}, skip: () => {}, end: () => {} }) };
const redactor = createRedactor(["s3cr3t-value-of-the-run"]);
const SESSION = "accecc35-1925-4e37-8d7e-083eef3f9720";

/** What the lines of an agent become, as the agent of this version wrote them. */
function read(agent: typeof claude, lines: readonly unknown[], isBrokenOff = false) {
  const messages: Message[] = [];
  const recorder = createMessageRecorder((message) => messages.push(message), redactor, live);
  const reader = agent.reader(recorder);
  for (const line of lines) reader.read(line);
  if (isBrokenOff) recorder.breakOff();
  return { messages, answer: recorder.takeAnswer(), ended: reader.ended(), session: reader.session() };
}

const action = (category: string, name: string, input: unknown) => ({ type: "action", category, name, input });
const result = (name: string, state: string, output: unknown) => ({ type: "action_result", name, state, output });

describe("lines of claude 2.1.330", () => {
  const said = (type: string, ...content: unknown[]) => ({ type, session_id: SESSION, message: { content } });
  const use = (id: string, name: string, input: unknown) => ({ type: "tool_use", id, name, input });
  const used = (id: string, content: unknown, is_error = false) => ({
    type: "tool_result",
    tool_use_id: id,
    content,
    is_error,
  });

  it("become texts, actions and results, and the last text is the final response", () => {
    const { messages, answer, ended, session } = read(claude, [
      { type: "system", subtype: "init", session_id: SESSION, tools: ["Bash"] },
      said("assistant", { type: "thinking", thinking: "hm" }),
      said("assistant", { type: "text", text: "I look." }),
      said("assistant", use("t1", "Bash", { command: "ls", description: "list" })),
      said("user", used("t1", "a\nb")),
      said("assistant", use("t2", "Read", { file_path: "/a" }), use("t3", "mcp__box__ping", { n: 1 })),
      said("user", used("t2", [{ type: "text", text: "no such file" }], true)),
      said("user", used("t3", [{ type: "text", text: "pong" }, { type: "image" }])),
      said("assistant", { type: "text", text: "All done." }),
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
    expect({ answer, ended, session }).toEqual({
      answer: "All done.",
      ended: { success: true, summary: "All done." },
      session: SESSION,
    });
    const ids = messages.flatMap(({ content }) => content.flatMap((block) => ("id" in block ? [block.id] : [])));
    expect(new Set(ids).size).toBe(3);
  });

  it("report a failure, and omit the texts of sub-agents", () => {
    const below = { ...said("assistant", { type: "text", text: "I am below." }), parent_tool_use_id: "t1" };
    const { answer, ended } = read(claude, [
      below,
      { type: "result", subtype: "success", is_error: true, result: "There's an issue with the selected model." },
    ]);
    expect({ answer, ended }).toEqual({
      answer: "",
      ended: { success: false, summary: "There's an issue with the selected model." },
    });
    const failed = { type: "result", subtype: "error_during_execution", is_error: true, errors: ["a", "b"] };
    expect(read(claude, [failed]).ended).toEqual({ success: false, summary: "a; b" });
  });

  it("keep the name of an unknown tool, and end unfinished actions", () => {
    const { messages } = read(claude, [said("assistant", use("t1", "Monitor", { a: 1 }))], true);
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

  it("have a diff without line numbers if the agent reports none", () => {
    for (const more of [{}, { tool_use_result: { filePath: "/w/a.py", structuredPatch: [{ lines: ["rm -rf"] }] } }])
      expect(steps(more)[1]).toMatchObject({ diff: expect.stringMatching(/\n@@\n-a\n\+\*\*\*\n$/) });
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
  ])("have the command of %s", (wrapped, text) => {
    const { messages } = read(codex, [item("item.started", { ...command, command: wrapped, status: "in_progress" })]);
    expect(messages).toMatchObject([{ content: [{ name: "run_command", input: { command: text } }] }]);
  });

  it("become actions with exit codes, and the last message is the final response", () => {
    const { messages, answer, ended, session } = read(codex, [
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
    expect({ answer, ended, session }).toEqual({
      answer: "All done.",
      ended: { success: true, summary: "" },
      session: SESSION,
    });
  });

  it("report why a turn failed", () => {
    const lines = [
      { type: "error", message: "stream disconnected" },
      { type: "turn.failed", error: { message: "stream disconnected before completion" } },
    ];
    expect(read(codex, lines).ended).toEqual({ success: false, summary: "stream disconnected before completion" });
  });
});

describe("lines of gemini 0.61.0", () => {
  it("are joined to texts, and become actions and results", () => {
    const { messages, answer, ended, session } = read(gemini, [
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
    expect({ answer, ended, session }).toEqual({
      answer: "All done.",
      ended: { success: true, summary: "" },
      session: SESSION,
    });
  });

  it("report why it failed", () => {
    const lines = [{ type: "result", status: "error", error: { type: "ApiError", message: "quota" } }];
    expect(read(gemini, lines).ended).toEqual({ success: false, summary: "quota" });
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
});

describe("the installed versions", () => {
  it("are those of these lines and of the documentation", () => {
    const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
    const { dependencies } = JSON.parse(read("image/package.json"));
    expect(dependencies).toEqual({
      [claude.package]: "2.1.330",
      [codex.package]: "0.169.0",
      [gemini.package]: "0.61.0",
    });
    for (const [name, version] of Object.entries(dependencies))
      expect(read("docs/third-party-harnesses.md")).toContain(`(https://www.npmjs.com/package/${name}) | ${version} |`);
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
    const evil = "../../../../../../etc/passwd-0000-aaaa";
    expect(claude.parseSession(`{"sessionId":"${evil}"}\n`, "/")).toBeUndefined();
    expect(
      gemini.parseSession(`${JSON.stringify({ sessionId: evil, startTime: "2026-11-21T22:30:" })}\n`, "/"),
    ).toBeUndefined();
    const meta = { type: "session_meta", payload: { id: SESSION, timestamp: "$(touch /x)" } };
    expect(codex.parseSession(`${JSON.stringify(meta)}\n`, "/")).toBeUndefined();
  });
});
