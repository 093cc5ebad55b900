import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { agentRun, command, use } from "../support/agent-run.ts";
import { measureExecution } from "../support/execution-time.ts";

describe("a follow-up", () => {
  it("continues the whole conversation", async () => {
    await using it = await agentRun({
      prompt: "Write one.",
      systemPrompt: "You love brevity.",
      turns: [command("echo one > n.txt"), { text: "Written." }, command("cat n.txt"), { text: "It says one." }],
    });
    it.plane.addFollowup("What does it say?");
    await it.run();
    expect(it.plane.outcome).toEqual({ success: true, summary: "It says one." });
    expect(it.plane.outputs.at(-1)).toBe("one\n");
    const shown = it.asked(2);
    expect(shown.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
    expect(JSON.stringify(shown[0])).toContain("Write one.");
    expect(shown[1].content).toMatchObject([{ type: "tool_use", name: "run_command" }]);
    expect(shown[2].content).toMatchObject([{ type: "tool_result", tool_use_id: shown[1].content[0].id }]);
    expect(JSON.stringify(shown[3])).toContain("Written.");
    expect(JSON.stringify(shown[4])).toContain("What does it say?");
    expect(JSON.stringify(it.standIn.seen[0]?.body.system)).toContain("You love brevity.");
  });

  it("that interrupts ends the turn, and the model gets its progress", async () => {
    await using it = await agentRun({
      prompt: "Wait.",
      turns: [command("echo begun; sleep 30"), { text: "Stopped." }],
    });
    const harness = it.start();
    await expect.poll(() => it.plane.messages.length).toBe(1);
    it.plane.addFollowup("Stop that.", "interrupt");
    await harness.ended;
    expect(it.plane.outcome).toEqual({ success: true, summary: "Stopped." });
    const shown = it.asked(1);
    expect(shown[2].content).toMatchObject([{ type: "tool_result", is_error: true }]);
    expect(shown[2].content[0].content).toContain("interrupted");
    expect(JSON.stringify(shown.at(-1))).toContain("Stop that.");
  });

  it("that interrupts does not wait for the model's response", async () => {
    await using it = await agentRun({
      prompt: "Think.",
      turns: [{ text: "Too late.", after: sleep(60_000) }, { text: "Stopped." }],
    });
    const harness = it.start();
    await expect.poll(() => it.standIn.seen.length).toBe(1);
    it.plane.addFollowup("Stop that.", "interrupt");
    await harness.ended;
    expect(it.plane.outcome).toEqual({ success: true, summary: "Stopped." });
    expect(it.plane.texts).not.toContain("Too late.");
  });
});

describe("another execution", () => {
  const earlier = (name: string, rest: object) => ({
    role: "assistant" as const,
    content: [
      {
        type: "action" as const,
        id: name,
        category: "command" as const,
        name: "run_command",
        input: { command: name },
      },
    ],
    ...rest,
  });

  it("of an unfinished turn continues it, and knows that a tool was interrupted", async () => {
    const done = earlier("first", {});
    const result = {
      role: "tool" as const,
      content: [
        {
          type: "action_result" as const,
          action_id: "first",
          category: "command" as const,
          name: "run_command",
          state: "completed" as const,
          output: { exit_code: 0, stdout: "made\n" },
        },
      ],
    };
    const broken = earlier("second", {});
    const before = { role: "assistant" as const, content: [{ type: "text" as const, text: "An earlier run's word." }] };
    await using it = await agentRun({
      prompt: "Do both.",
      turns: [{ text: "Both are done." }],
      context: { messages: [before, done, result, broken], own_messages: 3, next_sequence: 4 },
    });
    await it.run();
    expect(it.plane.outcome).toEqual({ success: true, summary: "Both are done." });
    const shown = it.asked(0);
    // No API accepts a conversation that begins with the model.
    expect(shown[0].role).toBe("user");
    expect(JSON.stringify(shown[1])).toContain("An earlier run's word.");
    expect(JSON.stringify(shown[2])).toContain("Do both.");
    expect(shown[4].content[0]).toMatchObject({ tool_use_id: "first", is_error: false });
    expect(shown[6].content[0]).toMatchObject({ tool_use_id: "second", is_error: true });
    expect(shown[6].content[0].content).toContain("interrupted");
  });

  it("of a run without its own prompt asks the model to continue the conversation", async () => {
    const createMessage = (role: "user" | "assistant", text: string) => ({
      role,
      content: [{ type: "text" as const, text }],
    });
    await using it = await agentRun({
      prompt: "",
      turns: [{ text: "Going on." }],
      context: {
        messages: [createMessage("user", "Do it."), createMessage("assistant", "Half is done.")],
        own_messages: 0,
      },
    });
    await it.run();
    expect(it.plane.outcome).toEqual({ success: true, summary: "Going on." });
    expect(it.asked(0).map(({ role, content }) => [role, content[0].text])).toEqual([
      ["user", "Do it."],
      ["assistant", "Half is done."],
      ["user", "Continue where you stopped."],
    ]);
  });
});

describe("the end of a turn", () => {
  it("comes when its model goes on with calls that fail in the same way", async () => {
    const turns = Array.from({ length: 20 }, (_, index) => ({ tools: [use("no_such_tool", { index })] }));
    await using it = await agentRun({ prompt: "Go on for ever.", turns });
    await it.run();
    expect(it.standIn.seen).toHaveLength(16);
    expect(it.plane.outcome).toMatchObject({
      success: false,
      summary: expect.stringContaining("no_such_tool had the same error 16 times in a row"),
    });
  });

  it("is FAILED when the budget is spent", async () => {
    const error = { type: "permission_error", message: "budget_exceeded: the run has spent its $0.50" };
    await using it = await agentRun({
      prompt: "Spend.",
      turns: [{ status: 403, raw: JSON.stringify({ type: "error", error }) }],
    });
    await it.run();
    expect(it.plane.outcome).toEqual({
      success: false,
      summary: "The run's budget is spent: budget_exceeded: the run has spent its $0.50",
    });
    expect(it.standIn.seen).toHaveLength(1);
  });

  it("is FAILED when the model refuses", async () => {
    await using refusing = await agentRun({ prompt: "No.", turns: [{ text: "I will not.", stop: "refusal" }] });
    await refusing.run();
    expect(refusing.plane.outcome).toEqual({
      success: false,
      summary: "The model refused to respond. It said: I will not.",
    });
  });

  it.each([400, 404, 422])("is FAILED when a request is refused with %i", async (status) => {
    await using refused = await agentRun({ prompt: "No.", turns: [{ status }] });
    await refused.run();
    expect(refused.plane.outcome).toEqual({
      success: false,
      summary: `The model request failed: the stand-in returns ${status}`,
      error_code: "invalid_request",
    });
  });

  it("is immediate when the run's key is revoked", async () => {
    await using it = await agentRun({ prompt: "Hello.", turns: [{ status: 401 }] });
    const { code } = await it.run();
    expect([code, it.plane.outcome]).toEqual([0, undefined]);
    expect(it.standIn.seen).toHaveLength(1);
  });

  it("does not come with a truncated response: the model continues", async () => {
    await using it = await agentRun({
      prompt: "Tell.",
      turns: [{ text: "Once upon ", stop: "max_tokens" }, { text: "a time." }],
    });
    await it.run();
    expect(it.plane.outcome).toEqual({ success: true, summary: "Once upon a time." });
    expect(it.asked(1).map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  it("has the question of an agent that asks its user", async () => {
    await using it = await agentRun({
      prompt: "Choose.",
      turns: [{ tools: [use("ask_user", { question: "Red or blue?" }), use("run_command", { command: "echo no" })] }],
    });
    await it.run();
    expect(it.plane.outcome).toEqual({ success: false, blocked: true, summary: "Red or blue?" });
    expect(it.plane.results).toHaveLength(1);
    expect(it.standIn.seen).toHaveLength(1);
  });
});

describe("a conversation", () => {
  it("that exceeds the model's context is summarized by it, and the task is kept", async () => {
    const fill = command("head -c 15000 /dev/urandom | base64 -w0 | head -c 16000");
    const full = { ...fill, usage: { input: 160_000 } };
    await using it = await agentRun({
      prompt: "Read it all.",
      turns: [...Array.from({ length: 12 }, () => fill), full, { text: "SUMMARY: many were read." }, { text: "Read." }],
    });
    await it.run();
    expect(it.plane.outcome).toEqual({ success: true, summary: "Read." });
    const [summarizing, after] = it.standIn.seen.slice(-2);
    expect(summarizing?.body.tools).toBeUndefined();
    expect(JSON.stringify(summarizing?.body.messages)).toContain("[uses run_command");
    const shown = JSON.stringify(after?.body.messages);
    expect(shown).toContain("Read it all.");
    expect(shown).toContain("SUMMARY: many were read.");
    expect(after?.body.messages.length).toBeLessThan(it.standIn.seen.at(-3)?.body.messages.length);
    // The record of the run has everything.
    expect(it.plane.results).toHaveLength(13);
  });
});

describe("a conversation that the model rejects as too long", () => {
  const error = { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" };
  const tooLong = { status: 400, raw: JSON.stringify({ type: "error", error }) };

  it("is summarized, and the turn continues", async () => {
    const steps = Array.from({ length: 5 }, (_, index) => command(`echo ${index}`));
    await using it = await agentRun({
      prompt: "Go on.",
      turns: [...steps, tooLong, { text: "SUMMARY: five were done." }, { text: "Done." }],
    });
    await it.run();
    expect(it.plane.outcome).toEqual({ success: true, summary: "Done." });
    expect(JSON.stringify(it.asked(-1))).toContain("SUMMARY: five were done.");
  });

  it("ends the turn FAILED at once if nothing can be left out", async () => {
    await using it = await agentRun({ prompt: "Go on.", turns: [tooLong] });
    await it.run();
    expect(it.plane.outcome).toMatchObject({
      success: false,
      summary: expect.stringContaining("exceeds the model's context window: 210000 tokens"),
    });
    expect(it.standIn.seen).toHaveLength(1);
  });
});

describe("plan mode", () => {
  it("provides no tool that changes anything, and stores the final response as a plan", async () => {
    await using it = await agentRun({
      prompt: "Plan it.",
      turns: [command("echo changed > a.txt"), { text: "# How to do it\n\n1. Do it." }],
      context: { mode: "plan" },
    });
    await it.run();
    const names: string[] = it.standIn.seen[0]?.body.tools.map(({ name }: { name: string }) => name);
    expect(names).toContain("read_files");
    expect(names).not.toContain("run_command");
    expect(names).not.toContain("edit_files");
    expect(it.plane.results[0]).toMatchObject({ error: expect.stringContaining("there is no tool") });
    expect(it.plane.callsTo("report-artifact").map(({ body }) => body)).toMatchObject([
      { artifact_type: "PLAN", data: { title: "How to do it", content: "# How to do it\n\n1. Do it." } },
    ]);
    expect(it.plane.outcome).toMatchObject({ success: true });
  });
});

describe.concurrent("the end of an execution's time", () => {
  it("is continued if it comes before the model's response, and nothing is repeated", async () => {
    await using it = await agentRun({
      prompt: "Count.",
      turns: [
        command("echo 1 >> n.txt"),
        { text: "Too late.", after: sleep(600_000, undefined, { ref: false }) },
        command("echo 2 >> n.txt; cat n.txt"),
        { text: "Counted." },
      ],
    });
    // Long enough for the first command on a busy machine.
    it.plane.lifetimeMs = 40_000;
    const first = await it.run();
    expect([first.code, it.plane.outcome], first.log).toEqual([0, undefined]);
    expect(it.plane.shutdown).toMatchObject({ error: { category: "slice_ended" } });
    it.plane.lifetimeMs = 300_000;
    await it.run();
    expect(it.plane.outcome).toEqual({ success: true, summary: "Counted." });
    expect(it.plane.outputs).toEqual(["", "1\n2\n"]);
  });

  it("ends a command in time to save its result and the workspace, and the next execution continues", async () => {
    await using it = await agentRun({
      prompt: "Wait.",
      turns: [command("echo kept > file; sleep 300"), command("cat file"), { text: "Done." }],
    });
    // A tenth of it is for saving the workspace: as long as a whole execution takes now.
    const lifetimeMs = Math.max(20_000, 10 * (await measureExecution()));
    it.plane.lifetimeMs = lifetimeMs;
    const begun = Date.now();
    await it.run();
    expect(it.plane.shutdown).toMatchObject({ error: { category: "slice_ended" } });
    expect(it.plane.results).toMatchObject([{ exit_code: 124, timed_out: true }]);
    const [saved] = it.plane.callsTo("upload-snapshot");
    expect(saved?.at, "before nothing may run any more").toBeLessThan(begun + lifetimeMs - 2_000);
    it.plane.lifetimeMs = 300_000;
    await it.run();
    expect(it.plane.outputs.at(-1)).toBe("kept\n");
    expect(it.plane.outcome).toEqual({ success: true, summary: "Done." });
  });
});
