import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentRun, use } from "../support/agent-run.ts";
import { bundledServer } from "../support/mcp-stage.ts";
import { newMark, sleepers } from "../support/processes.ts";
import { Repository } from "../support/repository.ts";

const TOKEN = "token-of-the-tracker-0001";
const HEADER = "Bearer header-of-the-tracker-0001";

let repository: Repository;
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), "harness-test-"));
  bundledServer("everything", folder);
  repository = new Repository("servers", { "everything.mjs": readFileSync(join(folder, "everything.mjs"), "utf8") });
  rmSync(folder, { recursive: true });
});
afterAll(() => repository[Symbol.dispose]());

const configured = (servers: Record<string, object>) => ({
  agent_config: { repositories: [{ url: repository.url }] },
  mcp_servers: servers,
});
const everything = { command: "node", args: ["everything.mjs", "stdio"], env: { TRACKER_TOKEN: TOKEN } };

describe.each(["bubblewrap", "none"])("a run with MCP servers (%s)", (sandbox) => {
  it("offers the servers' tools to its model, reports each connection, and reveals no values", async () => {
    await using it = await agentRun({
      prompt: "Look at the tracker.",
      context: configured({
        tracker: everything,
        off: { command: "sh", args: ["-c", "touch /workspace/output/started"], disabled: true },
        gone: { url: "http://127.0.0.1:9/mcp", headers: { authorization: HEADER } },
      }),
      turns: [
        { tools: [use("call_mcp_tool", { server: "tracker", tool: "get-env" })] },
        { tools: [use("mcp__tracker__echo", { message: "hello" })] },
        { tools: [use("read_mcp_resource", { server: "tracker" })] },
        { tools: [use("get_mcp_prompt", { server: "tracker" })] },
        { tools: [use("run_command", { command: "env; cat /run/runyard/* || true" })] },
        { tools: [use("call_mcp_tool", { server: "gone", tool: "x" })] },
        { text: `The token is ${TOKEN}, the header ${HEADER.slice("Bearer ".length)}.` },
      ],
    });
    const { code, log } = await it.run({ RUNYARD_SANDBOX: sandbox });
    expect([code, it.plane.outcome]).toEqual([0, { success: true, summary: "The token is ***, the header ***." }]);
    const connections = it.plane.events.filter(({ event_name }) => event_name === "setup_mcp_servers");
    expect(connections.map(({ payload }) => payload)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ is_error: false, detail: "tracker: 13 tools", latency_ms: expect.any(Number) }),
        expect.objectContaining({ is_error: true, detail: "gone: 127.0.0.1 is an address that runs may not call" }),
      ]),
    );
    expect(it.plane.events.at(-1)?.event_name, "they are there when the agent starts").toBe("agent_started");
    const uses = it.plane.messages.flatMap(({ content }) => content).filter(({ type }) => type === "action_result");
    expect(uses).toMatchObject([
      {
        name: "call_mcp_tool",
        category: "integration",
        state: "completed",
        output: { text: expect.stringContaining('"TRACKER_TOKEN": "***"') },
      },
      { name: "call_mcp_tool", state: "completed", output: { text: "Echo: hello" } },
      ...[{ output: { resources: expect.any(Array) } }, { output: { prompts: expect.any(Array) } }],
      { name: "run_command", state: "completed" },
      { name: "call_mcp_tool", state: "failed", output: { error: expect.stringContaining("gone is not available") } },
    ]);
    for (const text of [it.plane.everything, log, JSON.stringify(it.standIn.seen)]) {
      expect(text.includes(TOKEN)).toBe(false);
      expect(text.includes(HEADER.slice("Bearer ".length))).toBe(false);
    }
    const [first] = it.standIn.seen;
    const { tools } = first?.body ?? { tools: [] };
    const offered = tools.find(({ name }: { name: string }) => name === "call_mcp_tool");
    expect(offered.description).toContain("Server tracker: all tools begin with mcp__tracker__");
    const sum = tools.find(({ name }: { name: string }) => name === "mcp__tracker__get-sum");
    expect(sum.input_schema).toMatchObject({ properties: { a: { type: "number" } }, required: ["a", "b"] });
    const calls = it.plane.messages.flatMap(({ content }) => content).filter(({ type }) => type === "action");
    expect(calls[1]).toMatchObject({
      name: "call_mcp_tool",
      input: { server: "tracker", tool: "echo", arguments: { message: "hello" } },
    });
    expect(offered.description).toContain("Server gone is not available");
  });

  it("ends all of their processes when it ends or is cancelled", async () => {
    for (const way of ["ends", "cancelled"]) {
      const mark = newMark();
      const script = `sleep ${mark} & exec node everything.mjs stdio`;
      await using it = await agentRun({
        prompt: "Look.",
        context: configured({ tracker: { command: "bash", args: ["-c", script] } }),
        turns: [
          {
            tools: [
              use("call_mcp_tool", {
                server: "tracker",
                tool: "trigger-long-running-operation",
                arguments: { duration: way === "ends" ? 1 : 600, steps: 1 },
              }),
            ],
          },
          { text: "Done." },
        ],
      });
      const harness = it.start({ RUNYARD_SANDBOX: sandbox });
      await expect.poll(() => it.plane.messages.length).toBeGreaterThan(0);
      expect(sleepers(mark)).toBe(1);
      if (way === "cancelled") it.plane.cancelled = true;
      const { code } = await harness.ended;
      expect(code).toBe(0);
      await expect.poll(() => sleepers(mark)).toBe(0);
      if (way === "ends") expect(it.plane.outcome).toEqual({ success: true, summary: "Done." });
      else expect(it.plane.outcome).toBeUndefined();
    }
  });
});

describe("a run whose agent asks its user", () => {
  it("ends with the question, and continues with the answer", async () => {
    await using it = await agentRun({
      prompt: "Choose a database.",
      turns: [
        { text: "I have to ask.", tools: [use("ask_user", { question: "Which one?", options: ["a", "b"] })] },
        { text: "Then b it is." },
      ],
    });
    expect((await it.run()).code).toBe(0);
    expect(it.plane.outcome).toEqual({ success: false, blocked: true, summary: "Which one? (a / b)" });
    expect(it.plane.texts.at(-1)).toBe("Which one? (a / b)");
    it.plane.outcome = undefined;
    it.plane.checkpoint = { generation: "g", files: [], messages: it.plane.messages.length, followups: 0 };
    it.plane.addFollowup("b");
    expect((await it.run()).code).toBe(0);
    expect(it.plane.outcome).toEqual({ success: true, summary: "Then b it is." });
    const request = JSON.stringify(it.asked(-1));
    for (const part of ["Choose a database.", "Which one?", "b"]) expect(request).toContain(part);
  });
});
