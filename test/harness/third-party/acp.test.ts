import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPlainSandbox } from "#harness/isolation/sandbox.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { ACP_AGENTS } from "#harness/third-party/acp/agents.ts";
import { connectAgent } from "#harness/third-party/acp/connection.ts";
import { buildStart } from "#harness/third-party/acp/script.ts";
import { answerPermission, findSession, toAcpServers, toSessionMark } from "#harness/third-party/acp/session.ts";
import { createUpdateReader } from "#harness/third-party/acp/updates.ts";
import { createMessageRecorder } from "#harness/third-party/message-recorder.ts";
import { ProcessTransport } from "#harness/tools/remote/mcp-process.ts";
import { cancelMessage } from "#shared/conversations/cancelled-turn.ts";
import type { Message } from "#shared/wire/conversation.ts";
import { agentRun } from "../support/agent-run.ts";
import { Repository } from "../support/repository.ts";

let repository: Repository;
beforeAll(() => {
  const agent = readFileSync(join(import.meta.dirname, "../support/acp-agent.mjs"), "utf8");
  repository = new Repository("acp", { "agent.mjs": agent, "a.txt": "old\n" });
});
afterAll(() => repository[Symbol.dispose]());

const acp = (prompt: string, { agent, command = "node agent.mjs", turns = [], ...context }: Given = {}) =>
  agentRun({
    prompt,
    turns,
    context: {
      ...context,
      agent_config: {
        repositories: [{ url: repository.url }],
        harness: { type: "acp", ...(agent === undefined ? { command } : { agent }) },
      },
    },
  });
interface Given {
  readonly agent?: "opencode";
  readonly command?: string;
  readonly turns?: Parameters<typeof agentRun>[0]["turns"];
  readonly mode?: "plan";
  readonly variables?: Record<string, string>;
  readonly mcp_servers?: Record<string, { command: string } | { url: string }>;
}

describe.each(["bubblewrap", "none"])("an agent of the Agent Client Protocol (%s)", (sandbox) => {
  it("works in the sandbox, and its texts, thoughts, plans and calls are the conversation", async () => {
    await using it = await acp("WORK on it.", {
      turns: [{ text: "from the model" }],
      variables: { PLANTED: "its variable" },
    });
    const { code } = await it.run({ RUNYARD_SANDBOX: sandbox });
    expect([code, it.plane.outcome]).toEqual([
      0,
      { success: true, summary: "Done: -32601, from the model, its variable." },
    ]);
    expect(it.standIn.seen[0]?.body.model, "the gateway's model").toMatch(/^anthropic\/claude-sonnet/);
    const blocks = it.plane.messages.flatMap(({ content }) => content);
    expect(blocks).toMatchObject([
      { type: "event", name: "acp_session", data: { session_id: expect.stringMatching(/^s-/) } },
      { type: "event", name: "agent_thought", data: { text: "I should look first." } },
      { type: "action", name: "todo", input: { items: [{ task: "Change it", state: "in_progress" }] } },
      { type: "action_result", name: "todo", state: "completed" },
      { type: "text", text: "I change the file." },
      { type: "action", name: "edit_files", category: "files", input: { path: "a.txt" } },
      {
        type: "action_result",
        name: "edit_files",
        state: "completed",
        diff: expect.stringContaining("-old\n+new"),
        summary: "+1 −1",
      },
      { type: "action", name: "run_command", category: "command", input: { command: "ls" } },
      { type: "action_result", name: "run_command", state: "completed", output: { text: "a.txt" } },
      { type: "text", text: "Done: -32601, from the model, its variable." },
    ]);
  });

  it("is refused what changes something in plan mode", async () => {
    await using it = await acp("WORK on it.", { mode: "plan", turns: [{ text: "from the model" }] });
    await it.run({ RUNYARD_SANDBOX: sandbox });
    const results = it.plane.messages.flatMap(({ content }) => content).filter(({ type }) => type === "action_result");
    expect(results).toMatchObject([{ name: "todo" }, { name: "edit_files", state: "failed" }, { name: "run_command" }]);
  });
});

describe.concurrent("a turn of such an agent", () => {
  const sandbox = "none";
  const answers = (texts: readonly string[]) =>
    texts.filter((text) => text.startsWith("{")).map((text): { sessionId: string; text: string } => JSON.parse(text));

  it("continues the session of the turn before it, also in the next execution", async ({ expect }) => {
    await using it = await acp("one");
    it.plane.addFollowup("two");
    await it.run({ RUNYARD_SANDBOX: "bubblewrap" });
    it.plane.addFollowup("three");
    await it.run({ RUNYARD_SANDBOX: "bubblewrap" });
    const said = answers(it.plane.texts);
    expect(said.map(({ text }) => text.split("\n").at(-1))).toEqual(["one", "two", "three"]);
    expect(new Set(said.map(({ sessionId }) => sessionId)).size).toBe(1);
    expect(said[0]?.text, "the environment is described once").toContain("You work in your own sandbox");
    expect(said.slice(1).map(({ text }) => text)).toEqual(["two", "three"]);
    expect(it.plane.texts.join(), "what a loaded session replays is not new").not.toContain("replayed");
  });

  it("tells a session that it continues which instructions were cancelled", async ({ expect }) => {
    await using it = await acp("one");
    await it.run({ RUNYARD_SANDBOX: "bubblewrap" });
    it.plane.messages.push({ role: "user", content: [{ type: "text", text: "Not this." }] }, cancelMessage(0));
    if (it.plane.checkpoint !== undefined) it.plane.checkpoint.messages = it.plane.messages.length;
    it.plane.addFollowup("two");
    await it.run({ RUNYARD_SANDBOX: "bubblewrap" });
    expect(
      answers(it.plane.texts)
        .map(({ text }) => text)
        .at(-1),
    ).toMatch(/^The earlier instructions that you have not answered were cancelled\. [^\n]*\n\ntwo$/);
  });

  it("is cancelled at the end of an execution's time, and the next execution continues its session", async ({
    expect,
  }) => {
    await using it = await acp("WAIT");
    it.plane.lifetimeMs = 40_000;
    await it.run({ RUNYARD_SANDBOX: "bubblewrap" });
    expect(it.plane.shutdown).toMatchObject({ error: { category: "slice_ended" } });
    it.plane.lifetimeMs = 300_000;
    await it.run({ RUNYARD_SANDBOX: "bubblewrap" });
    const [after] = answers(it.plane.texts);
    expect(after?.text, "without the conversation as text").toBe("WAIT");
    const marks = it.plane.messages.flatMap(({ content }) => content).filter((block) => block.type === "event");
    expect(marks).toMatchObject([{ name: "acp_session", data: { session_id: after?.sessionId } }]);
  });

  it("gets the conversation in an execution with another directory", async ({ expect }) => {
    await using it = await acp("one");
    await it.run({ RUNYARD_SANDBOX: sandbox });
    it.plane.addFollowup("two");
    await it.run({ RUNYARD_SANDBOX: sandbox });
    const [first, second] = answers(it.plane.texts);
    expect(second?.sessionId).not.toBe(first?.sessionId);
    expect(second?.text).toMatch(/This conversation started without you[\s\S]*one[\s\S]*two$/);
  });

  it("gets the conversation if the session is gone", async ({ expect }) => {
    await using it = await acp("one", { command: 'rm -rf "$HOME/sessions"; node agent.mjs' });
    it.plane.addFollowup("two");
    await it.run({ RUNYARD_SANDBOX: sandbox });
    const [first, second] = answers(it.plane.texts);
    expect(first?.text, "nothing happened before the first turn").not.toContain("started without you");
    expect(second?.sessionId).not.toBe(first?.sessionId);
    expect(second?.text).toMatch(/This conversation started without you[\s\S]*two$/);
  });

  it("is cancelled by an interrupt, and the agent can save its session", async ({ expect }) => {
    await using it = await acp("WAIT");
    const harness = it.start({ RUNYARD_SANDBOX: sandbox });
    await expect.poll(() => it.plane.everything).toContain("acp_session");
    it.plane.interrupt = { number: 1, by: "Ada" };
    await expect.poll(() => it.plane.waits).toBe(1);
    it.plane.addFollowup("after");
    await harness.ended;
    const [after] = answers(it.plane.texts);
    expect(after?.text.split("\n").at(-1)).toBe("after");
    expect(it.plane.texts).toContain("Interrupted by Ada. Send a follow-up to continue.");
  });

  it("names what to install if the agent is not installed", async ({ expect }) => {
    await using it = await acp("x", { agent: "opencode" });
    await it.run({ RUNYARD_SANDBOX: sandbox, RUNYARD_AGENTS: "/nowhere" });
    expect(it.plane.outcome).toMatchObject({
      success: false,
      error_code: "operation_not_supported",
      summary: expect.stringMatching(
        /^The agent opencode is not installed .* opencode-\w+-\w+\. .*npm ci --prefix image/,
      ),
    });
  });

  it.each([
    ["ends", "CRASH", {}, "the agent has ended"],
    ["makes calls without end", "FLOOD", {}, "it has more than 5000 calls, plans and thoughts"],
    ["refuses the turn", "REFUSE", {}, "ended its turn with the reason refusal"],
    ["is no agent", "x", { command: "echo nothing here >&2" }, "the agent has ended: nothing here"],
    ["speaks another version", "x", { variables: { ACP_VERSION: "9" } }, "it speaks version 9 of the protocol"],
  ])("fails the run with the reason if it %s", async (_, prompt, given, reason) => {
    await using it = await acp(prompt, given);
    await it.run({ RUNYARD_SANDBOX: sandbox });
    expect(it.plane.outcome).toMatchObject({ success: false, summary: expect.stringContaining(reason) });
  });
});

describe("the start of an agent that comes with the sandbox", () => {
  const start = (name: string, modelId: string, model_apis?: Record<string, "messages">) => {
    const agent = ACP_AGENTS.find((one) => one.name === name);
    if (agent === undefined) throw new Error(`there is no ${name}`);
    const sandbox = { programs: "/opt/agents", node: "/opt/node" };
    return buildStart(agent, modelId, { sandbox, context: model_apis === undefined ? {} : { model_apis } });
  };

  it.each([
    ["anthropic/claude", "@ai-sdk/anthropic", "/anthropic/v1", "claude"],
    ["openai/gpt", "@ai-sdk/openai", "/openai/v1", "gpt"],
    ["compatible/qwen/q'3", "@ai-sdk/openai-compatible", "/openai/v1", "qwen/q'3"],
    ["own/claude", "@ai-sdk/anthropic", "/anthropic/v1", "claude"],
  ])("configures opencode for %s", (modelId, npm, path, model) => {
    const script =
      `port=7 HOME=$(mktemp -d)\nmkdir() { :; }\n${start("opencode", modelId, { "own/claude": "messages" })}`
        .replaceAll(/ > "\$HOME"\S+/g, " > /dev/null")
        .replace(/^exec (.*)$/m, 'printf "%s" "$OPENCODE_CONFIG_CONTENT"');
    const config = JSON.parse(execFileSync("bash", ["-c", script], { encoding: "utf8" }));
    expect([config.model, config.provider.runyard.npm]).toEqual([`runyard/${model}`, npm]);
    expect(config.provider.runyard.options.baseURL).toBe(`http://127.0.0.1:7${path}`);
  });

  it.each([
    ["anthropic/claude", "anthropic"],
    ["openai/gpt", "openai-responses"],
    ["compatible/llama", "openai"],
  ])("tells qwen-code the API of %s", (modelId, type) => {
    expect(start("qwen-code", modelId)).toMatch(
      new RegExp(`exec '/opt/node' '/opt/agents/node_modules/@qwen-code/.*' '--acp' '--auth-type' '${type}' '--model'`),
    );
  });
});

describe("answerPermission", () => {
  const options = ["reject_once", "allow_always", "allow_once"].map((kind) => ({ optionId: kind, name: kind, kind }));
  it.each([
    ["normal", "execute", "allow_once"],
    ["plan", "read", "allow_once"],
    ["plan", "execute", "reject_once"],
    ["plan", undefined, "reject_once"],
  ] as const)("in the mode %s answers a call of the kind %s with %s", (mode, kind, optionId) => {
    const answer = answerPermission({ toolCall: { kind }, options }, mode);
    expect(answer).toEqual({ outcome: { outcome: "selected", optionId } });
  });

  it("cancels where no option fits", () => {
    expect(answerPermission({ options: [] }, "normal")).toEqual({ outcome: { outcome: "cancelled" } });
  });
});

describe("connectAgent", () => {
  it("ends a request that the agent does not read", async () => {
    const folder = mkdtempSync(join(tmpdir(), "acp-"));
    const host = { workspace: folder, home: folder, tmp: folder, output: folder, steps: folder };
    const sandbox = createPlainSandbox({ host, runId: "run-1", marker: {} }, "none");
    const executionId = crypto.randomUUID();
    const place = { sandbox, host, executionId, workingDirectory: "/", redactor: createRedactor([]) };
    const signal = new AbortController().signal;
    const transport = new ProcessTransport({ command: "sleep", args: ["100"], env: undefined }, { ...place, signal });
    const connection = await connectAgent(transport, { request: () => undefined, notification: () => {} });
    const text = "x".repeat(1024 * 1024);
    const request = connection.request("session/prompt", { text }, AbortSignal.timeout(100));
    await expect(request).rejects.toThrow("timeout");
    await transport.close();
    rmSync(folder, { recursive: true });
  });
});

describe("createUpdateReader", () => {
  const create = () => {
    const messages: Message[] = [];
    const redactor = createRedactor([]);
    const send = (message: Message) => void messages.push(message);
    const live = { open: () => ({ push: () => {}, skip: () => {}, end: () => {} }) };
    const exceeded: string[] = [];
    const updates = createUpdateReader({
      ...{ recorder: createMessageRecorder(send, redactor, live), send, redactor },
      onExceeded: () => void exceeded.push("exceeded"),
    });
    const blocks = (type: string) => messages.flatMap(({ content }) => content).filter((block) => block.type === type);
    return { updates, messages, blocks, exceeded };
  };
  const toContent = (text: string) => [{ type: "content", content: { type: "text", text } }];

  it("keeps what an update of a call does not name, or names as null", () => {
    const { updates, blocks } = create();
    const call = { toolCallId: "1", kind: "execute", title: "ls", content: toContent("a.txt") };
    updates.read({ sessionUpdate: "tool_call", ...call, status: "in_progress" });
    updates.read({ sessionUpdate: "tool_call_update", toolCallId: "1", content: null });
    updates.read({ sessionUpdate: "tool_call_update", toolCallId: "1", content: null, status: "completed" });
    expect(blocks("action_result")).toMatchObject([{ name: "run_command", output: { text: "a.txt" } }]);
  });

  it("ends the oldest of more than 64 open calls, also of those that have not begun", () => {
    const { updates, blocks } = create();
    for (const status of ["in_progress", "pending"])
      for (let count = 0; count < 50; count++)
        updates.read({
          sessionUpdate: "tool_call",
          toolCallId: `${status}-${count}`,
          title: `${status}-${count}`,
          status,
        });
    const results = blocks("action_result");
    expect(results).toHaveLength(36);
    expect(results[0]).toMatchObject({ name: "in_progress-0", state: "failed", output: { interrupted: true } });
    for (let count = 0; count < 50; count++)
      updates.read({ sessionUpdate: "tool_call", toolCallId: `new-${count}`, status: "pending" });
    expect(blocks("action").length, "those that had begun, and those that were ended").toBe(86);
    expect(blocks("action_result")).toHaveLength(86);
    updates.end();
    expect([blocks("action").length, blocks("action_result").length]).toEqual([150, 150]);
  });

  it("records a call that waits for its input when it has one", () => {
    const { updates, blocks } = create();
    const call = { sessionUpdate: "tool_call", toolCallId: "1", kind: "execute", title: "Shell", status: "pending" };
    updates.read({ ...call, rawInput: {} });
    updates.read({ ...call, sessionUpdate: "tool_call_update", rawInput: { cwd: "/" } });
    expect(blocks("action")).toEqual([]);
    updates.read({ ...call, sessionUpdate: "tool_call_update", rawInput: { command: "ls" } });
    updates.read({ sessionUpdate: "tool_call", toolCallId: "2", kind: "edit", status: "pending", rawInput: {} });
    updates.read({ sessionUpdate: "tool_call", toolCallId: "3", status: "pending", rawInput: "text" });
    expect(blocks("action")).toMatchObject([{ input: { command: "ls" } }, { input: "text" }]);
  });

  it("shows a plan again when it has changed", () => {
    const { updates, blocks } = create();
    for (const status of ["pending", "pending", "completed"])
      updates.read({ sessionUpdate: "plan", entries: [{ content: "Change it", status }] });
    expect(blocks("action").map((block) => "input" in block && block.input)).toEqual([
      { items: [{ task: "Change it", state: "pending" }] },
      { items: [{ task: "Change it", state: "done" }] },
    ]);
  });

  it("reports once a turn of more than 5000 calls, plans and thoughts, and records no more of them", () => {
    const { updates, blocks, exceeded } = create();
    const content = { type: "text", text: "Hm." };
    for (let count = 0; count < 3000; count++) {
      updates.read({ sessionUpdate: "agent_thought_chunk", content });
      updates.read({ sessionUpdate: "tool_call", toolCallId: `${count}`, title: "x", status: "completed" });
    }
    updates.end();
    expect(exceeded).toEqual(["exceeded"]);
    expect(blocks("action").length + blocks("event").length).toBeLessThanOrEqual(5002);
  });

  it("keeps no large content of an open call", () => {
    const { updates, blocks } = create();
    const call = { sessionUpdate: "tool_call_update", toolCallId: "1" };
    updates.read({ ...call, rawOutput: "small", content: toContent("x".repeat(1024 * 1024)), status: "in_progress" });
    updates.read({ ...call, status: "completed" });
    updates.read({ ...call, content: toContent("x".repeat(1024 * 1024)), status: "completed" });
    expect(blocks("action_result")).toMatchObject([
      { output: { result: "small" } },
      { output: { text: expect.stringContaining("bytes omitted") } },
    ]);
  });

  it("reads a part of an endless thought", () => {
    const { updates, messages } = create();
    const content = { type: "text", text: "x".repeat(1024 * 1024) };
    for (let count = 0; count < 600; count++) updates.read({ sessionUpdate: "agent_thought_chunk", content });
    updates.end();
    expect(messages).toMatchObject([{ content: [{ name: "agent_thought", data: { text: "x".repeat(16 * 1024) } }] }]);
  });
});

describe("the session of an agent", () => {
  it("is found in the conversation for the same command alone", () => {
    const marks = [toSessionMark("s-1", "a"), toSessionMark("s-2", "a")];
    expect([findSession(marks, "a"), findSession(marks, "b"), findSession([], "a")]).toEqual([
      "s-2",
      undefined,
      undefined,
    ]);
  });

  it("gets the run's MCP servers, those with a URL only if the agent supports HTTP", () => {
    const servers = [
      ["files", { address: { command: "npx", args: ["x"], env: { A: "b" } }, tools: {} }],
      ["web", { address: { url: "https://mcp.example", headers: { H: "v" } }, tools: {} }],
    ] as const;
    const files = { name: "files", command: "npx", args: ["x"], env: [{ name: "A", value: "b" }] };
    const web = { type: "http", name: "web", url: "https://mcp.example", headers: [{ name: "H", value: "v" }] };
    expect(toAcpServers(servers, true)).toEqual({ converted: [files, web], refused: [] });
    expect(toAcpServers(servers, false)).toEqual({ converted: [files], refused: ["web"] });
  });
});
