import { describe, expect, it } from "vitest";
import { Stage } from "../../agents/support/play.ts";
import { createClient } from "../../support/client.ts";
import { SONNET } from "../../support/gateway.ts";
import { command, use } from "../support/agent-run.ts";
import { Repository } from "../support/repository.ts";

describe("an agent's run over the API, with the service's own gateway", () => {
  it("is executed with retries, and continues with a follow-up in another execution", async () => {
    using repository = new Repository("sums", { "sum.txt": "1 + 1 = 3\n" });
    await using stage = await Stage.make();
    const run = await stage.create({
      prompt: "Correct the sum.",
      config: { model_id: SONNET, repositories: [{ url: repository.url }], budget_usd: 1 },
    });
    const edit = { path: "sum.txt", action: "replace", old_text: "= 3", new_text: "= 2" };
    await stage.execute([
      { status: 529 },
      { text: "I correct it.", tools: [use("edit_files", { edits: [edit] })] },
      { text: "Half of a word", cutAfter: 3 },
      command('cat sum.txt; cp sum.txt "$RUNYARD_OUTPUT/"'),
      { text: "The sum is 2 now." },
    ]);
    expect(await stage.shown(run)).toMatchObject({
      state: "SUCCEEDED",
      artifacts: expect.arrayContaining([
        expect.objectContaining({ data: expect.objectContaining({ filename: "sum.txt" }) }),
        expect.objectContaining({
          data: expect.objectContaining({ git: expect.objectContaining({ insertions: 1, deletions: 1 }) }),
        }),
      ]),
    });
    expect(await stage.blocks(run)).toMatchObject([
      { role: "user", text: "Correct the sum." },
      { role: "assistant", text: "I correct it." },
      { role: "assistant", type: "action", category: "files", name: "edit_files" },
      { role: "tool", type: "action_result", state: "completed" },
      { role: "assistant", type: "action", category: "command", name: "run_command" },
      { role: "tool", type: "action_result", output: { stdout: "1 + 1 = 2\n" } },
      { role: "assistant", text: "The sum is 2 now." },
    ]);
    const user = createClient(stage.plane);
    expect((await user.get(`/agent/runs/${run}/response`)).body).toMatchObject({ text: "The sum is 2 now." });
    const { request_usage } = await stage.shown(run);
    expect(request_usage.total_tokens).toBeGreaterThan(300);
    expect(request_usage.inference_cost).toBeGreaterThan(0);

    await user.post(`/agent/runs/${run}/followups`, { message: "What does the file say now?" });
    await stage.execute([command("cat sum.txt"), { text: "It says 2." }]);
    expect(await stage.shown(run)).toMatchObject({ state: "SUCCEEDED" });
    expect((await stage.blocks(run)).slice(-3)).toMatchObject([
      { type: "action", name: "run_command" },
      { output: { stdout: "1 + 1 = 2\n" } },
      { text: "It says 2." },
    ]);
    const shown = JSON.stringify(stage.models.seen.at(-1)?.body.messages);
    for (const text of ["Correct the sum.", "I correct it.", "The sum is 2 now.", "What does the file say now?"])
      expect(shown).toContain(text);
  });

  it("ends FAILED with budget_exceeded when its budget is spent, and keeps all that it has done", async () => {
    await using stage = await Stage.make();
    const run = await stage.create({ prompt: "Spend it.", config: { model_id: SONNET, budget_usd: 0.1 } });
    await stage.execute([{ ...command("echo paid"), usage: { input: 48_000 } }, command("true"), { text: "More." }]);
    expect(await stage.shown(run)).toMatchObject({
      state: "FAILED",
      status_message: { error_code: "budget_exceeded" },
    });
    expect((await stage.blocks(run)).filter(({ type }) => type !== "event")).toMatchObject([
      { text: "Spend it." },
      { type: "action", input: { command: "echo paid" } },
      { type: "action_result", output: { stdout: "paid\n" } },
      { text: expect.stringContaining("The run's budget is spent") },
    ]);
  });

  it("is BLOCKED by a question, and the answer continues it", async () => {
    await using stage = await Stage.make();
    const run = await stage.create({ prompt: "Paint it.", config: { model_id: SONNET } });
    await stage.execute([{ tools: [use("ask_user", { question: "Red or blue?" })] }]);
    expect(await stage.shown(run)).toMatchObject({ state: "BLOCKED", status_message: { message: "Red or blue?" } });
    await createClient(stage.plane).post(`/agent/runs/${run}/followups`, { message: "Blue." });
    await stage.execute([{ text: "It is blue." }]);
    expect(await stage.shown(run)).toMatchObject({ state: "SUCCEEDED" });
    const messages: { role: string }[] = stage.models.seen.at(-1)?.body.messages;
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
  });

  it.each(["bedrock/global.anthropic.claude-sonnet-5-5", "openai/gpt-5.4", "compatible/llama"])(
    "is executed with %s",
    async (model_id) => {
      await using stage = await Stage.make();
      const run = await stage.create({ prompt: "Say it.", config: { model_id } });
      await stage.execute([command("echo said"), { text: "It is said." }]);
      expect(await stage.shown(run)).toMatchObject({ state: "SUCCEEDED", request_usage: { total_tokens: 240 } });
      expect((await stage.blocks(run)).slice(1)).toMatchObject([
        { type: "action", input: { command: "echo said" } },
        { type: "action_result", output: { stdout: "said\n" } },
        { text: "It is said." },
      ]);
    },
    60_000,
  );

  it("continues the conversation of an earlier run, whose prompt the model gets too", async () => {
    await using stage = await Stage.make();
    const first = await stage.create({ prompt: "My number is 7.", config: { model_id: SONNET } });
    await stage.execute([{ text: "I keep it in mind." }]);
    const { conversation_id } = await stage.shown(first);
    const second = await stage.create({ prompt: "What is it?", conversation_id, config: { model_id: SONNET } });
    await stage.execute([{ text: "It is 7." }]);
    expect(await stage.shown(second)).toMatchObject({ state: "SUCCEEDED" });
    const messages: { role: string; content: { text: string }[] }[] = stage.models.seen.at(-1)?.body.messages;
    expect(messages.map(({ role, content }) => [role, content[0]?.text])).toEqual([
      ["user", "My number is 7."],
      ["assistant", "I keep it in mind."],
      ["user", "What is it?"],
    ]);
  });

  it("in plan mode ends with a plan and changes nothing", async () => {
    await using stage = await Stage.make();
    const run = await stage.create({ prompt: "Plan it.", mode: "plan", config: { model_id: SONNET } });
    const plan = use("create_plan", { title: "The plan", content: "1. Begin." });
    await stage.execute([{ tools: [plan] }, { text: "Planned." }]);
    expect(await stage.shown(run)).toMatchObject({
      state: "SUCCEEDED",
      artifacts: [{ artifact_type: "PLAN", data: { title: "The plan" } }],
    });
  });
});
