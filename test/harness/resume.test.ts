import { describe, expect, it } from "vitest";
import { startOf } from "#harness/resume.ts";
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
  startOf({ messages: [...earlier, ...own], own_messages: own.length });

describe("startOf", () => {
  it("begins with the prompt, also in a conversation that an earlier run began", () => {
    expect(start([], [])).toEqual({ from: "prompt", commandsDone: 0 });
    expect(start([user("before"), agent("answer")], [])).toEqual({ from: "prompt", commandsDone: 0 });
  });

  it("begins anew when an execution was lost in the middle of the first turn", () => {
    expect(start([agent("earlier run")], [result("completed")])).toEqual({ from: "prompt", commandsDone: 1 });
  });

  it("goes on with a follow-up that was taken up and not answered", () => {
    expect(start([], [result("completed"), agent("Ran."), user("and this"), result("completed")])).toEqual({
      from: "followup",
      message: "and this",
      commandsDone: 1,
    });
  });

  it("has nothing to do when all was answered, and ends as that turn ended", () => {
    expect(start([], [result("completed"), agent("Ran.")])).toEqual({
      from: "answer",
      last: { success: true, summary: "Ran." },
    });
    expect(start([], [result("failed"), agent("It failed.")])).toMatchObject({ last: { success: false } });
  });
});
