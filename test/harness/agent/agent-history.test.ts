import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { buildHistory } from "#harness/agent/history.ts";
import { submitPlan } from "#harness/agent/plan.ts";
import type { ToolUse, TurnOutcome } from "#harness/engine/engine.ts";
import { defineTool, type Tool } from "#harness/engine/tool.ts";
import type { Block, Message } from "#shared/wire/conversation.ts";

const text = (role: Message["role"], ...texts: string[]): Message => ({
  role,
  content: texts.map((one) => ({ type: "text", text: one })),
});
const action = (id: string, input: unknown = { a: 1 }): Block => ({
  ...{ type: "action", id, category: "command", name: "run_command", input },
});
const result = (action_id: string, state: "completed" | "failed" | "running", output: unknown): Message => ({
  role: "tool",
  content: [{ type: "action_result", action_id, category: "command", name: "run_command", state, output }],
});

/** The messages for the model. */
function history(own: readonly Message[], { earlier = [], opening = ["Go."], instructions = ["x"] }: Given = {}) {
  const conversation = [...earlier, ...own];
  const context = { messages: conversation, own_messages: own.length };
  return buildHistory({ instructions, conversation }, { opening, context }).map(({ role, content }) => {
    const shown = content.map((block) => {
      if (block.type === "textBlock") return block.text;
      if (block.type === "toolUseBlock") return `${block.name} ${block.toolUseId} ${JSON.stringify(block.input)}`;
      if (block.type !== "toolResultBlock") return block.type;
      return `${block.toolUseId} ${block.status}: ${block.content.map((part) => (part.type === "textBlock" ? part.text : "")).join()}`;
    });
    return [role, ...shown];
  });
}
interface Given {
  readonly earlier?: readonly Message[];
  readonly opening?: readonly string[];
  readonly instructions?: readonly string[];
}

describe("buildHistory", () => {
  it("has the first instructions in their place, after the messages of earlier runs", () => {
    const earlier = [text("user", "before"), text("assistant", "answered")];
    expect(history([], { opening: ["Skill.", "Go."] })).toEqual([["user", "Skill.", "Go."]]);
    expect(history([text("assistant", "Done.")], { earlier })).toEqual([
      ["user", "before"],
      ["assistant", "answered"],
      ["user", "Go."],
      ["assistant", "Done."],
    ]);
    expect(history([], { earlier, opening: [] }).at(-1)).toEqual(["user", "Continue where you stopped."]);
  });

  it("has the whole text of the current follow-up in place of the recorded one", () => {
    const own = [text("assistant", "Done."), text("user", "first"), text("assistant", "Yes."), text("user", "tru…")];
    expect(history(own, { instructions: ["truncated", "text"] }).slice(1)).toEqual([
      ["assistant", "Done."],
      ["user", "first"],
      ["assistant", "Yes."],
      ["user", "truncated\n\ntext"],
    ]);
    const earlier = [text("user", "before")];
    expect(history([text("assistant", "Done.")], { earlier, instructions: ["Go."] })[0]).toEqual(["user", "before"]);
  });

  it("has each call with its result, and marks unknown results", () => {
    const calls: Message = {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        action("1"),
        action("2", "no object"),
        action("3", [1]),
        action("4"),
      ],
    };
    const own = [
      calls,
      result("2", "failed", { no: 1 }),
      result("1", "completed", undefined),
      result("4", "running", {}),
    ];
    const unknown = "error: interrupted with an unknown result: check the state before you retry";
    expect(history([...own, result("9", "completed", "of no call")]).slice(1)).toEqual([
      [
        "assistant",
        "I look.",
        'run_command 1 {"a":1}',
        "run_command 2 {}",
        "run_command 3 {}",
        'run_command 4 {"a":1}',
      ],
      ["user", "1 success: null", "2 error: no: 1", `3 error: ${unknown}`, `4 error: ${unknown}`],
    ]);
  });

  it("omits what is empty, and begins with a user message", () => {
    const empty: Message = { role: "assistant", content: [{ type: "event", name: "turn_ended", data: {} }] };
    const earlier = [text("assistant", "before"), text("user", " "), empty];
    expect(history([text("assistant", "", "Done.")], { earlier })).toEqual([
      ["user", "[The earlier instructions are not shown.]"],
      ["assistant", "before"],
      ["user", "Go."],
      ["assistant", "Done."],
    ]);
  });

  it("has cancelled first instructions once", () => {
    const cancelled: Message = { ...text("user", "Go, but cancelled."), message_ids: ["prompt"] };
    const own = [cancelled, text("user", "Next.")];
    const expected = [
      ["user", "Go, but cancelled."],
      ["user", "x"],
    ];
    expect(history(own, { opening: [] })).toEqual(expected);
    expect(history(own)).toEqual([["user", "Go."], ...expected]);
  });
});

describe("submitPlan", () => {
  const used: ToolUse[] = [];
  const plan = defineTool({
    ...{ name: "create_plan", description: "", category: "documents" as const, readsOnly: true },
    input: v.object({}),
    run: async () => ({ output: {} }),
  });
  const tools = (all: readonly Tool[], isError = false) => ({
    all,
    runCommand: () => Promise.reject(new Error("runs nothing")),
    startCommand: () => Promise.reject(new Error("runs nothing")),
    use: async (_: Tool, use: ToolUse) => {
      used.push(use);
      return { output: { error: "no plans" }, isError };
    },
  });
  const outcome = (summary: string, success = true): TurnOutcome => ({ success, summary });

  it("submits the final response, with its first heading or line as the title", async () => {
    for (const summary of ["Intro.\n\n  ## The plan\n# Later", "\n First \nline", "#", "", `# ${"x".repeat(130)}`]) {
      expect(await submitPlan(outcome(summary), false, tools([plan]))).toEqual(outcome(summary));
      expect(used.at(-1)?.input).toMatchObject({ content: summary });
    }
    expect(used.splice(0).map(({ input }) => Object(input).title)).toEqual([
      ...["The plan", "First", "Plan", "Plan", "x".repeat(120)],
    ]);
  });

  it("submits nothing if there is a plan, no success or no such tool", async () => {
    await submitPlan(outcome("x"), true, tools([plan]));
    await submitPlan(outcome("x", false), false, tools([plan]));
    await submitPlan(outcome("x"), false, tools([]));
    expect(used).toEqual([]);
  });

  it("fails with the reason and the response if the plan is refused", async () => {
    expect(await submitPlan(outcome("My plan"), false, tools([plan], true))).toEqual({
      success: false,
      summary: 'The plan could not be submitted: {"error":"no plans"}\n\nMy plan',
    });
  });
});
