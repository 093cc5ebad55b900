import { describe, expect, it, vi } from "vitest";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { agentRun, use } from "../support/agent-run.ts";
import { newMark, sleepers } from "../support/processes.ts";
import { runHarness } from "../support/run-harness.ts";

vi.setConfig({ testTimeout: 240_000 });

const block = (tag: string, text: string) => `\`\`\`${tag}\n${text}\n\`\`\`\n`;
const blocksOf = (plane: FakeControlPlane) =>
  plane.messages.flatMap(({ role, content }) => content.map((one) => ({ role, ...one })));

describe("a runbook with a block in the background", () => {
  it("reaches its server from the next block, records its output, and ends it with the execution", async () => {
    const mark = newMark();
    const server = `sleep ${mark} &\nexec node -e 'require("http").createServer((_, it) => it.end("ok")).listen(8123, () => console.log("up"))'`;
    const client = `node -e 'fetch("http://127.0.0.1:8123").then((it) => it.text()).then(console.log)'`;
    await using plane = await FakeControlPlane.start({
      prompt: block("sh background", server) + block("sh", client),
    });
    const { code, log } = await runHarness(plane);
    expect([code, plane.outcome], log).toEqual([0, { success: true, summary: "Ran 2 commands." }]);
    expect(blocksOf(plane)).toMatchObject([
      { type: "action", name: "run_command", input: { command: server, background: true } },
      { type: "action_result", state: "completed", output: { command_id: "background-1", ports: [8123] } },
      { type: "action", name: "run_command", input: { command: client } },
      { type: "action_result", output: { exit_code: 0, stdout: "ok\n" } },
      { type: "action", name: "read_command", input: { command_id: "background-1" } },
      { type: "action_result", output: { state: "running", stdout: "up\n" } },
      { type: "text", text: "Ran 2 commands." },
    ]);
    expect(sleepers(mark)).toBe(0);
  });

  it("stops at a block that has failed already", async () => {
    await using plane = await FakeControlPlane.start({
      prompt: block("sh background", "exit 5") + block("sh", "echo unreached"),
    });
    await runHarness(plane);
    const summary = "Step 1 of 2 failed: `exit 5` failed to start: it ended with exit code 5.";
    expect([plane.outcome?.summary, plane.outputs.length]).toEqual([summary, 1]);
  });
});

describe("an agent with background commands", () => {
  it("uses one across several calls, each of which the conversation shows", async () => {
    await using it = await agentRun({
      prompt: "Try the server.",
      turns: [
        { tools: [use("run_command", { command: "read -r line; echo got $line; sleep 600", background: true })] },
        { tools: [use("write_command", { command_id: "background-1", text: "hello\n" })] },
        { tools: [use("read_command", { command_id: "background-1", wait_for: "got hello", timeout_seconds: 120 })] },
        { tools: [use("stop_command", { command_id: "background-1" })] },
        { tools: [use("write_command", { command_id: "background-2", text: "x" })] },
        { text: "Done." },
      ],
    });
    const { code, log } = await it.run();
    expect(code, log).toBe(0);
    const results = blocksOf(it.plane).filter(({ type }) => type === "action_result");
    expect(results).toMatchObject([
      { name: "run_command", title: expect.stringContaining("(background)"), state: "completed" },
      { name: "write_command", output: { written_bytes: 6 } },
      { name: "read_command", output: { matched: true, stdout: "got hello\n" } },
      { name: "stop_command", output: { state: "ended", reason: "it was stopped by stop_command" } },
      { name: "write_command", state: "failed", output: { error: expect.stringContaining("there are: background-1") } },
    ]);
  });

  it("is told which commands ended with the previous execution, once", async () => {
    const kind = { category: "command", name: "run_command" } as const;
    const messages = [
      {
        role: "assistant" as const,
        content: [{ type: "action" as const, id: "a", ...kind, input: { command: "npm start" } }],
      },
      {
        role: "tool" as const,
        content: [
          {
            ...{ type: "action_result" as const, action_id: "a", ...kind, state: "completed" as const },
            output: { command_id: "background-1", state: "running" },
          },
        ],
      },
    ];
    const note =
      "The background command background-1 (npm start) ended with the previous execution.\nStart again what you need.";
    await using it = await agentRun({
      prompt: "Go on.",
      turns: [
        { tools: [use("read_command", { command_id: "background-1" })] },
        { tools: [use("run_command", { command: "exit 0", background: true })] },
        { text: "Done." },
      ],
      context: { messages, own_messages: 2, next_sequence: 3 },
    });
    const { code, log } = await it.run();
    expect(code, log).toBe(0);
    expect(blocksOf(it.plane)).toMatchObject([
      { role: "system", text: note },
      { type: "action", name: "read_command" },
      { output: { error: "the background command background-1 ended with the previous execution: start it again" } },
      { type: "action", name: "run_command" },
      { output: { command_id: "background-2", state: "ended", exit_code: 0 } },
      { text: "Done." },
    ]);
    expect(JSON.stringify(it.asked(0))).toContain("ended with the previous execution");
  });
});
