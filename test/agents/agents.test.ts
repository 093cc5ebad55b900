import { describe, expect, it, vi } from "vitest";
import { createClient } from "../support/client.ts";
import type { Turn } from "../support/model-shapes.ts";
import { Stage } from "./support/play.ts";

// Third-party agents take a minute to start on a busy machine.
vi.setConfig({ testTimeout: 600_000 });

interface Agent {
  readonly type: "claude" | "codex" | "gemini";
  /** The run's model if it names none for its harness. */
  readonly model: string;
  /** The provider's path that its calls reach. */
  readonly path: string;
  /** A call of the agent's own tool for commands. */
  readonly command: (text: string) => NonNullable<Turn["tools"]>[number];
  /** The beginning of its session file. */
  readonly firstLine: RegExp;
}

const claude: Agent = {
  type: "claude",
  model: "anthropic/claude-opus-5-5",
  path: "/v1/messages",
  command: (command) => ({ name: "Bash", input: { command, description: "a command" } }),
  firstLine: /"sessionId":/,
};
const codex: Agent = {
  type: "codex",
  model: "openai/gpt-5.4",
  path: "/v1/responses",
  command: (cmd) => ({ name: "exec_command", input: { cmd } }),
  firstLine: /"type":"session_meta"/,
};
const gemini: Agent = {
  type: "gemini",
  model: "anthropic/claude-opus-5-5",
  path: "/v1/messages",
  command: (command) => ({ name: "run_shell_command", input: { command, description: "a command" } }),
  firstLine: /"sessionId":/,
};
const agents = [claude, codex, gemini];

describe.each(agents)("a run with the harness $type", ({ type, model, path, command, firstLine }) => {
  // @contract runs.config.harness-others: The harnesses claude, codex and gemini are supported.
  it("runs commands and a follow-up in the sandbox, and the next execution continues its session", async () => {
    await using stage = await Stage.make();
    const user = createClient(stage.plane);
    const config = { harness: { type, reasoning_level: "high" }, base_prompt: "Speak like a pirate.", budget_usd: 5 };
    const runId = await stage.create({ prompt: "Make a file.", config });
    await user.post(`/agent/runs/${runId}/followups`, { message: "And a second one." });
    await stage.execute([
      { text: "I will.", tools: [command("mkdir -p output && echo made > output/made.txt && pwd && id -u")] },
      { text: "There it is." },
      { tools: [command("cat output/made.txt")] },
      { text: "It says so." },
    ]);
    expect(await stage.shown(runId), stage.log).toMatchObject({
      state: "SUCCEEDED",
      agent_config: { model_id: model, harness: { type, model_id: model } },
      request_usage: { inference_cost: expect.any(Number), total_tokens: 480 },
      artifacts: [{ artifact_type: "FILE", data: { filepath: "made.txt" } }],
    });
    const blocks = await stage.blocks(runId);
    const action = { role: "assistant", type: "action", category: "command", name: "run_command" };
    const result = {
      role: "tool",
      type: "action_result",
      category: "command",
      name: "run_command",
      state: "completed",
    };
    expect(blocks).toMatchObject([
      { role: "user", text: "Make a file." },
      { role: "assistant", text: "I will." },
      action,
      { ...result, output: { stdout: expect.stringContaining("/workspace\n1000") } },
      { role: "assistant", text: "There it is." },
      { role: "user", text: "And a second one." },
      action,
      { ...result, output: { stdout: expect.stringContaining("made") } },
      { role: "assistant", text: "It says so." },
    ]);
    const raw = await stage.transcript(runId);
    expect(raw.split("\n")[0]).toMatch(firstLine);
    expect(raw).toContain("made.txt");

    await user.post(`/agent/runs/${runId}/followups`, { message: "And now?" });
    await stage.execute([{ text: "Nothing more." }]);
    expect(await stage.shown(runId), stage.log).toMatchObject({ state: "SUCCEEDED" });
    expect((await stage.blocks(runId)).at(-1)).toMatchObject({ role: "assistant", text: "Nothing more." });
    expect((await stage.transcript(runId)).length).toBeGreaterThan(raw.length);

    const { seen } = stage.models;
    expect(new Set(seen.map((call) => call.path))).toEqual(new Set([path]));
    expect(new Set(seen.map((call) => call.body.model))).toEqual(new Set([model.split("/")[1]]));
    expect(JSON.stringify(seen[0]?.body)).toContain("Speak like a pirate.");
    expect(JSON.stringify(seen[0]?.body).includes('"effort":"high"')).toBe(type !== "gemini");
    const last = JSON.stringify(seen.at(-1)?.body);
    for (const text of ["Make a file.", "made.txt", "There it is.", "And a second one.", "And now?"])
      expect(last).toContain(text);
    expect(JSON.stringify(seen[0]?.body)).not.toContain('"google_web_search"');
    const asked = stage.server.seen.filter(
      (call) => call.method === "GET" && call.path === "/harness-support/transcript",
    );
    expect(asked.map(({ status }) => status)).toEqual([302]);
    const sent = stage.server.seen.map(({ text }) => text).join("\n");
    for (const { key } of stage.plane.started) expect(sent + stage.log + raw).not.toContain(key);
  });
});
