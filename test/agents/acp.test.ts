import { describe, expect, it, vi } from "vitest";
import { createClient } from "../support/client.ts";
import type { Turn } from "../support/model-shapes.ts";
import type { SeenCall } from "../support/model-stand-in.ts";
import { mcp_servers } from "./support/mcp-servers.ts";
import { Stage } from "./support/play.ts";

// Third-party agents take a minute to start on a busy machine.
vi.setConfig({ testTimeout: 900_000 });

type Call = NonNullable<Turn["tools"]>[number];
interface Agent {
  readonly agent: "opencode" | "qwen-code";
  /** A call of the agent's own tool for commands. */
  readonly command: (text: string) => Call;
  /** A call of the agent's own tool that writes a file. */
  readonly write: (path: string, content: string) => Call;
  /** A call of the agent's own tool that replaces a text. */
  readonly edit: (path: string, before: string, after: string) => Call;
}

const opencode: Agent = {
  agent: "opencode",
  command: (command) => ({ name: "bash", input: { command, description: "a command" } }),
  write: (filePath, content) => ({ name: "write", input: { filePath, content } }),
  edit: (filePath, oldString, newString) => ({ name: "edit", input: { filePath, oldString, newString } }),
};
const qwen: Agent = {
  agent: "qwen-code",
  command: (command) => ({ name: "run_shell_command", input: { command, is_background: false } }),
  write: (file_path, content) => ({ name: "write_file", input: { file_path, content } }),
  edit: (file_path, old_string, new_string) => ({ name: "edit", input: { file_path, old_string, new_string } }),
};

type Scripted = Turn | ((workspace: string) => Turn);

/** Answers the calls of the agent's own loop in order; its side tasks, such as titles, offer no `skill`. */
function script(stage: Stage, ...turns: Scripted[]): SeenCall[] {
  const own: SeenCall[] = [];
  stage.models.otherwise = (call) => {
    const tools: { name?: string; function?: { name: string } }[] = call.body.tools ?? [];
    if (!tools.some((tool) => (tool.name ?? tool.function?.name) === "skill")) return {};
    own.push(call);
    const [, workspace = "/"] = /Your workspace is ([^\s"\\]+)\./.exec(JSON.stringify(call.body)) ?? [];
    const turn = turns.shift() ?? { text: "Nothing more." };
    return typeof turn === "function" ? turn(workspace) : turn;
  };
  return own;
}

const environment = { RUNYARD_SANDBOX: "none" };
const action = { role: "assistant", type: "action" };
const result = { role: "tool", type: "action_result", state: "completed" };

describe.each([opencode, qwen])("a run with the agent $agent", ({ agent, command, write, edit }) => {
  const run = (prompt: string, config: object = {}, more: object = {}) => ({
    prompt,
    config: { harness: { type: "acp", agent }, ...config },
    ...more,
  });

  it("edits a file and runs a command in the sandbox, and the next execution continues its session", async () => {
    await using stage = await Stage.make();
    const runId = await stage.create(run("Make a file.", { base_prompt: "Speak like a pirate.", budget_usd: 5 }));
    const calls = script(
      stage,
      (workspace) => ({ text: "I will.", tools: [write(`${workspace}/note.txt`, "one\n")] }),
      (workspace) => ({ tools: [edit(`${workspace}/note.txt`, "one", "made")] }),
      { tools: [command("cat note.txt && mkdir -p output && cp note.txt output/ && id -u")] },
      { text: "There it is." },
    );
    await stage.execute([]);
    expect(await stage.shown(runId), stage.log).toMatchObject({
      state: "SUCCEEDED",
      agent_config: { harness: { type: "acp", agent, model_id: "anthropic/claude-opus-5-5" } },
      request_usage: { inference_cost: expect.any(Number) },
      artifacts: [{ artifact_type: "FILE", data: { filepath: "note.txt" } }],
    });
    const blocks = await stage.blocks(runId);
    expect(blocks).toMatchObject([
      { role: "user", text: "Make a file." },
      { type: "event", name: "acp_session" },
      { role: "assistant", text: "I will." },
      { ...action, category: "files", name: "edit_files" },
      { ...result, name: "edit_files" },
      { ...action, category: "files", name: "edit_files" },
      { ...result, name: "edit_files", diff: expect.stringMatching(/-one[^+]*\+made/) },
      { ...action, category: "command", name: "run_command", input: { command: expect.stringContaining("cat note") } },
      { ...result, name: "run_command" },
      { role: "assistant", text: "There it is." },
    ]);
    expect(JSON.stringify(blocks.at(-2)?.["output"])).toMatch(/made.*1000/);
    expect(JSON.stringify(calls[0]?.body)).toContain("Speak like a pirate.");

    await createClient(stage.plane).post(`/agent/runs/${runId}/followups`, { message: "And now?" });
    script(stage, { tools: [command("cat note.txt")] }, { text: "It says so." });
    await stage.execute([]);
    expect(await stage.shown(runId), stage.log).toMatchObject({ state: "SUCCEEDED" });
    const after = await stage.blocks(runId);
    expect(after.at(-1)).toMatchObject({ role: "assistant", text: "It says so." });
    expect(JSON.stringify(after.at(-2)?.["output"])).toContain("made");
    expect(
      after.filter(({ name }) => name === "acp_session"),
      "one session",
    ).toHaveLength(1);
    const last = JSON.stringify(
      stage.models.seen.findLast(({ body }) => JSON.stringify(body).includes("And now?"))?.body,
    );
    for (const text of ["Make a file.", "note.txt", "There it is."]) expect(last).toContain(text);
    expect(last).not.toContain("started without you");
    const sent = stage.server.seen.map(({ text }) => text).join("\n");
    for (const { key } of stage.plane.started) expect(sent + stage.log).not.toContain(key);
  });

  it("is refused what changes something in plan mode", async () => {
    await using stage = await Stage.make();
    const runId = await stage.create(run("Work.", {}, { mode: "plan" }));
    script(stage, (workspace) => ({ tools: [write(`${workspace}/output/note.txt`, "made\n")] }), {
      text: "First this, then that.",
    });
    await stage.execute([], { environment });
    const { artifacts } = await stage.shown(runId);
    expect(artifacts, stage.log).toEqual([]);
    const results = (await stage.blocks(runId)).filter(({ type }) => type === "action_result");
    expect(results).toMatchObject([{ name: "edit_files", state: "failed" }]);
  });

  it("is refused the tools of MCP servers in plan mode, since they do not say what they change", async () => {
    await using stage = await Stage.make();
    const runId = await stage.create(run("Weigh.", { mcp_servers }, { mode: "plan" }));
    script(
      stage,
      { tools: [{ name: agent === "opencode" ? "box_weigh" : "mcp__box__weigh", input: {} }] },
      { text: "No." },
    );
    await stage.execute([], { environment });
    const results = (await stage.blocks(runId)).filter(({ type }) => type === "action_result");
    expect(results, stage.log).toMatchObject([{ state: "failed" }]);
  });

  it("is cancelled by an interrupting follow-up, and continues in the same session", async () => {
    await using stage = await Stage.make();
    const runId = await stage.create(run("Work."));
    script(stage, { text: "I wait.", tools: [command("tail -f /dev/null")] }, { text: "Stopped." });
    const executing = stage.execute([], { environment });
    await expect
      .poll(async () => (await stage.blocks(runId)).some(({ type }) => type === "action"), { timeout: 600_000 })
      .toBe(true);
    const interrupt = { message: "Never mind.", policy: "interrupt" };
    await createClient(stage.plane).post(`/agent/runs/${runId}/followups`, interrupt);
    await executing;
    expect(await stage.shown(runId), stage.log).toMatchObject({ state: "SUCCEEDED" });
    const blocks = await stage.blocks(runId);
    expect(blocks).toMatchObject([
      { text: "Work." },
      { name: "acp_session" },
      { text: "I wait." },
      { type: "action", input: { command: "tail -f /dev/null" } },
      { type: "action_result", name: "run_command" },
      { role: "assistant", text: "Interrupted by follow-up 1." },
      { type: "event" },
      { role: "user", text: "Never mind." },
      { role: "assistant", text: "Stopped." },
    ]);
    const last = JSON.stringify(
      stage.models.seen.findLast(({ body }) => JSON.stringify(body).includes("Never mind."))?.body,
    );
    expect(last).toContain("Work.");
  });

  it("gets the run's MCP servers", async () => {
    await using stage = await Stage.make();
    const runId = await stage.create(run("Work.", { mcp_servers }));
    const calls = script(stage, { text: "Done." });
    await stage.execute([], { environment });
    expect(await stage.shown(runId), stage.log).toMatchObject({ state: "SUCCEEDED" });
    expect(JSON.stringify(calls[0]?.body)).toContain("weigh");
  });
});
