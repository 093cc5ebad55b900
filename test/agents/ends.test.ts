import { describe, expect, it, vi } from "vitest";
import { createClient } from "../support/client.ts";
import { mcp_servers } from "./support/mcp-servers.ts";
import { Stage } from "./support/play.ts";

// Third-party agents take a minute to start on a busy machine.
vi.setConfig({ testTimeout: 600_000 });

const harness = (type: string) => ({ prompt: "Work.", config: { harness: { type } } });
/** A command of codex, which polls it if it takes longer than this. */
const exec = (cmd: string) => ({ tools: [{ name: "exec_command", input: { cmd, yield_time_ms: 30_000 } }] });

/** Waits until the run's conversation has an action. */
const begun = (stage: Stage, runId: string): Promise<void> =>
  expect
    .poll(async () => (await stage.blocks(runId)).some(({ type }) => type === "action"), { interval: 100 })
    .toBe(true);

describe("a run with a third-party agent", () => {
  it.each(["claude", "codex", "gemini"])("ends FAILED with the error of %s when its model refuses", async (type) => {
    await using stage = await Stage.make();
    const runId = await stage.create(harness(type));
    stage.models.otherwise = { status: 400 };
    await stage.execute([]);
    const { state, status_message } = await stage.shown(runId);
    expect(state).toBe("FAILED");
    expect(status_message.message).toMatch(
      new RegExp(`^The harness ${type} ended with exit code \\d+: .*returns 400`, "s"),
    );
  });

  it("reports how to install a missing agent", async () => {
    await using stage = await Stage.make();
    const runId = await stage.create(harness("claude"));
    await stage.execute([], { environment: { RUNYARD_AGENTS: "/nowhere" } });
    expect(await stage.shown(runId)).toMatchObject({
      state: "FAILED",
      status_message: {
        error_code: "operation_not_supported",
        message: expect.stringContaining("npm ci --prefix image"),
      },
    });
    expect(stage.models.seen).toEqual([]);
  });

  it.each(["claude", "codex", "gemini"])("works with %s without bubblewrap", async (type) => {
    await using stage = await Stage.make();
    const runId = await stage.create(harness(type));
    await stage.execute([{ text: "Done." }], { environment: { RUNYARD_SANDBOX: "none" } });
    expect(await stage.shown(runId), stage.log).toMatchObject({ state: "SUCCEEDED" });
    expect((await stage.transcript(runId)).length).toBeGreaterThan(100);
  });

  it.each(["claude", "codex", "gemini"])("plans with %s in plan mode", async (type) => {
    await using stage = await Stage.make();
    const runId = await stage.create({ ...harness(type), mode: "plan" });
    await stage.execute([{ text: "First this, then that." }]);
    expect(await stage.shown(runId), stage.log).toMatchObject({ state: "SUCCEEDED" });
    expect((await stage.blocks(runId)).at(-1)).toMatchObject({ text: "First this, then that." });
    expect(JSON.stringify(stage.models.seen[0]?.body)).toMatch(/plan mode/i);
  });

  it("gets the conversation as text if it has no session of its own for it", async () => {
    await using stage = await Stage.make();
    const first = await stage.create(harness("codex"));
    await stage.execute([{ ...exec("echo one"), text: "I look." }, { text: "It is one." }]);
    await stage.create({ ...harness("claude"), prompt: "And then?", conversation_id: first });
    await stage.execute([{ text: "Two." }]);
    const request = JSON.stringify(stage.models.seen.at(-1)?.body.messages);
    for (const text of ["I look.", "echo one", "It is one.", "And then?"]) expect(request).toContain(text);
    expect(request).toContain("This conversation started without you");
  });

  it.each([
    ["claude", { name: "Bash", input: { command: "tail -f /dev/null", description: "waits", timeout: 600_000 } }],
    ["codex", exec("tail -f /dev/null").tools[0]],
    ["gemini", { name: "run_shell_command", input: { command: "tail -f /dev/null", description: "waits" } }],
  ])("is interrupted by an interrupting follow-up with %s, and continues in the same session", async (type, tool) => {
    await using stage = await Stage.make();
    const runId = await stage.create(harness(type));
    const executing = stage.execute([{ tools: tool === undefined ? [] : [tool] }, { text: "Stopped." }]);
    await begun(stage, runId);
    const interrupt = { message: "Never mind.", policy: "interrupt" };
    await createClient(stage.plane).post(`/agent/runs/${runId}/followups`, interrupt);
    await executing;
    expect(await stage.shown(runId), stage.log).toMatchObject({ state: "SUCCEEDED" });
    const blocks = await stage.blocks(runId);
    expect(blocks.filter(({ type }) => type !== "event")).toMatchObject([
      { text: "Work." },
      { type: "action", input: { command: "tail -f /dev/null" } },
      { type: "action_result", state: "failed", output: { interrupted: true } },
      { role: "assistant", text: "Interrupted by follow-up 1." },
      { role: "user", text: "Never mind." },
      { role: "assistant", text: "Stopped." },
    ]);
    const last = JSON.stringify(stage.models.seen.at(-1)?.body);
    for (const text of ["Work.", "Never mind."]) expect(last).toContain(text);
  });

  it("is interrupted at the end of its execution's time, and the next execution continues its session and workspace", async () => {
    await using stage = await Stage.make();
    const startedAt = Date.now();
    await stage.create(harness("codex"));
    await stage.execute([{ text: "Started." }]);
    // As long as this machine needs to reach the second command, and less than until the agent polls it.
    const lifetimeMs = 20_000 + 1.2 * (Date.now() - startedAt);
    const runId = await stage.create(harness("codex"));
    await stage.execute([exec("echo half > half.txt"), exec("sleep 3000")], { lifetimeMs });
    expect(await stage.shown(runId), stage.log).toMatchObject({ state: "QUEUED" });
    await stage.execute([exec("cat half.txt"), { text: "Whole." }]);
    expect(await stage.shown(runId), stage.log).toMatchObject({ state: "SUCCEEDED" });
    const blocks = await stage.blocks(runId);
    expect(blocks.at(-2)).toMatchObject({ type: "action_result", output: { stdout: "half\n" } });
    expect(blocks.at(-1)).toMatchObject({ role: "assistant", text: "Whole." });
    const last = JSON.stringify(stage.models.seen.at(-1)?.body.input);
    for (const text of ["echo half", "sleep 3000", "You were interrupted"]) expect(last).toContain(text);
  });

  it.each(["claude", "codex", "gemini"])("ends with %s as soon as its budget is spent", async (type) => {
    await using stage = await Stage.make();
    const runId = await stage.create({ prompt: "Work.", config: { harness: { type }, budget_usd: 0.0001 } });
    await stage.execute([]);
    expect(await stage.shown(runId), stage.log).toMatchObject({
      state: "FAILED",
      status_message: { error_code: "budget_exceeded" },
    });
    expect(stage.models.seen).toEqual([]);
  });

  it("is killed with all its processes when the run is cancelled", async () => {
    await using stage = await Stage.make();
    const runId = await stage.create(harness("codex"));
    const executing = stage.execute([exec("sleep 300")]);
    await begun(stage, runId);
    expect((await createClient(stage.plane).post(`/agent/runs/${runId}/cancel`)).status).toBe(200);
    await executing;
    expect(await stage.shown(runId)).toMatchObject({ state: "CANCELLED" });
    expect(stage.log).toContain('"kind":"cancelled"');
  });
});

describe.each(["claude", "codex", "gemini"])("the MCP servers of a run with the harness %s", (type) => {
  it("are available to the agent", async () => {
    await using stage = await Stage.make();
    const runId = await stage.create({ prompt: "Work.", config: { harness: { type }, mcp_servers } });
    await stage.execute([{ text: "Done." }]);
    expect(await stage.shown(runId), stage.log).toMatchObject({ state: "SUCCEEDED" });
    expect(JSON.stringify(stage.models.seen[0]?.body)).toContain("weigh");
  });
});
