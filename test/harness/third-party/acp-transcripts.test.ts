import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { ACP_AGENTS } from "#harness/third-party/acp/agents.ts";
import { answerPermission, Initialized, Opened, Prompted } from "#harness/third-party/acp/session.ts";
import { createUpdateReader } from "#harness/third-party/acp/updates.ts";
import { createMessageRecorder } from "#harness/third-party/message-recorder.ts";
import type { Message } from "#shared/wire/conversation.ts";

// biome-ignore lint/suspicious/noExplicitAny: the messages of agents have every shape.
type Line = any;

/** What a real agent sent in one turn, without its list of commands. The first line says which one and when. */
function readTranscript(name: string): { readonly head: Line; readonly lines: readonly Line[] } {
  const text = readFileSync(join(import.meta.dirname, `../support/acp/${name}.jsonl`), "utf8");
  const [head, ...lines] = text
    .trimEnd()
    .split("\n")
    .map((line): Line => JSON.parse(line));
  return { head, lines };
}

/** Reads a turn as the harness does, and returns the blocks of the conversation and the requests that the agent made. */
function replay(lines: readonly Line[]) {
  const messages: Message[] = [];
  const redactor = createRedactor([]);
  const send = (message: Message) => void messages.push(message);
  const live = { open: () => ({ push: () => {}, skip: () => {}, end: () => {} }) };
  const recorder = createMessageRecorder(send, redactor, live);
  const updates = createUpdateReader({ recorder, send, redactor, onExceeded: () => {} });
  const answers: unknown[] = [];
  const declined: string[] = [];
  for (const { id, method, params } of lines) {
    if (method === "session/update") updates.read(params.update);
    else if (method === "session/request_permission") {
      updates.read({ sessionUpdate: "tool_call_update", ...params.toolCall });
      answers.push(answerPermission(params, "normal"));
    } else if (method !== undefined && id !== undefined) declined.push(method);
  }
  updates.end();
  const blocks = messages.flatMap(({ content }) => content);
  return { blocks, answers, declined, response: recorder.takeFinalMessage() };
}

const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });
const toEdit = (title: string) => ({ type: "action", name: "edit_files", title: `${title} /workspace/note.txt` });
const edited = { type: "action_result", name: "edit_files", state: "completed" };

describe.each([
  ["opencode", "once", ["fs/write_text_file", "fs/write_text_file"]],
  ["qwen-code", "proceed_once", ["craft/drainMidTurnQueue"]],
])("a turn of %s that edits a file twice and runs a command", (name, allowed, methods) => {
  const { head, lines } = readTranscript(`${name}-new`);

  it("becomes actions with their inputs, results and diffs", () => {
    const { blocks, response } = replay(lines);
    expect(blocks).toMatchObject([
      { type: "text", text: "I will." },
      toEdit("Write"),
      edited,
      toEdit("Edit"),
      { ...edited, diff: expect.stringMatching(/-one[^+]*\+made/) },
      { type: "action", name: "run_command", input: { command: expect.stringMatching(/^cat note\.txt/) } },
      { type: "action_result", name: "run_command", output: { text: expect.stringContaining("made\n0") } },
    ]);
    expect(response).toBe("There it is.");
  });

  it("asks for permissions that are granted once, and for methods that are declined", () => {
    const { answers, declined } = replay(lines);
    expect(answers).toEqual([selected(allowed), selected(allowed), selected(allowed)]);
    expect([...new Set(declined)]).toEqual([...new Set(methods)]);
  });

  it("has the responses of a known agent that can load sessions", () => {
    expect(ACP_AGENTS.map((agent) => agent.name)).toContain(name);
    expect(head.agent).toBe(name);
    const results = lines.filter((line) => "result" in line).map(({ result }) => result);
    expect(v.is(Initialized, results[0])).toBe(true);
    expect(results[0]).toMatchObject({ protocolVersion: 1, agentCapabilities: { loadSession: true } });
    expect(v.is(Opened, results[1])).toBe(true);
    expect(v.is(Prompted, results[2])).toBe(true);
  });
});

describe.each(["opencode", "qwen-code"])("a turn of %s that continues a session", (name) => {
  it("begins with the messages before it, which the harness does not record", () => {
    const { lines } = readTranscript(`${name}-load`);
    const loaded = lines.findIndex(({ id, method }) => id === 2 && method === undefined);
    expect(loaded).toBeGreaterThan(1);
    expect(JSON.stringify(lines.slice(0, loaded))).toContain("tail -f /dev/null");
    expect(replay(lines.slice(loaded))).toMatchObject({ blocks: [], response: "Stopped." });
  });
});
