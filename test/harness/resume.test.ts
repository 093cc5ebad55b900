import { describe, expect, it } from "vitest";
import { findStart, toEndMark } from "#harness/engine/resume.ts";
import type { Message } from "#shared/wire/conversation.ts";

const agent = (text: string): Message => ({ role: "assistant", content: [{ type: "text", text }] });
const user = (text: string): Message => ({
  role: "user",
  content: [{ type: "text", text }],
  message_ids: ["followup-1"],
});
const result = (state: "completed" | "failed"): Message => ({
  role: "tool",
  content: [{ type: "action_result", action_id: "1", category: "command", name: "run_command", state, output: {} }],
});
const start = (earlier: Message[], own: Message[]) =>
  findStart({ messages: [...earlier, ...own], own_messages: own.length, agent_config: {} });

describe("findStart", () => {
  it("begins with the prompt, also in a conversation that an earlier run began", () => {
    expect(start([], [])).toEqual({ from: "prompt", commandsDone: 0 });
    expect(start([user("before"), agent("answer")], [])).toEqual({ from: "prompt", commandsDone: 0 });
  });

  it("starts over when an execution expired in the middle of the first turn", () => {
    expect(start([agent("earlier run")], [result("completed")])).toEqual({ from: "prompt", commandsDone: 1 });
  });

  it("continues with an unanswered follow-up", () => {
    expect(start([], [result("completed"), agent("Ran."), user("and this"), result("completed")])).toEqual({
      from: "followup",
      message: "and this",
      commandsDone: 1,
    });
  });

  it("has nothing to do when every turn ended, and ends like the last one", () => {
    expect(start([], [result("completed"), agent("Ran.")])).toEqual({
      from: "answer",
      last: { success: true, summary: "Ran." },
    });
    expect(start([], [result("failed"), agent("It failed.")])).toMatchObject({ last: { success: false } });
  });

  it("prefers the turn's own outcome to that of its last command", () => {
    const failed = { success: false, summary: "Which one?", blocked: true };
    const question: Message = {
      role: "assistant",
      content: [{ type: "text", text: "Which one?" }, ...toEndMark(failed)],
    };
    expect(start([], [result("completed"), question])).toEqual({ from: "answer", last: failed });
    const own = [result("failed"), agent("The test fails, as it should.")];
    expect(findStart({ messages: own, own_messages: 2, agent_config: { model_id: "openai/gpt-5.4" } })).toEqual({
      from: "answer",
      last: { success: true, summary: "The test fails, as it should." },
    });
  });

  it("does not treat text next to a tool use as a final response", () => {
    const action = { type: "action", id: "1", category: "command", name: "run_command", input: {} } as const;
    const step: Message = { role: "assistant", content: [{ type: "text", text: "I look." }, action] };
    expect(start([], [step, result("completed")])).toEqual({ from: "prompt", commandsDone: 1 });
  });
});
