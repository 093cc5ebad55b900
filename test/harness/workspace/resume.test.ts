import { describe, expect, it } from "vitest";
import { findLastDirectory, findStart, isCancelledSince, toEndMark } from "#harness/engine/resume.ts";
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
const CANCEL: Message = { role: "user", content: [{ type: "event", name: "turn_cancelled", data: {} }] };
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
      from: "response",
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
    expect(start([], [result("completed"), question])).toEqual({ from: "response", last: failed });
    const own = [result("failed"), agent("The test fails, as it should.")];
    expect(findStart({ messages: own, own_messages: 2, agent_config: { model_id: "openai/gpt-5.4" } })).toEqual({
      from: "response",
      last: { success: true, summary: "The test fails, as it should." },
    });
  });

  it("continues where the last completed command of the turn ended", () => {
    const at = (
      working_directory: unknown,
      state: "completed" | "failed" = "completed",
      name = "run_command",
    ): Message => ({
      role: "tool",
      content: [
        { type: "action_result", action_id: "1", category: "command", name, state, output: { working_directory } },
      ],
    });
    const own = [at("/workspace/a"), at("/workspace/b"), at("/c", "failed"), at("/d", "completed", "read_files")];
    expect(start([], own)).toEqual({ from: "prompt", commandsDone: 2, workingDirectory: "/workspace/b" });
    expect(start([], [at(7)])).toEqual({ from: "prompt", commandsDone: 1 });
    expect(start([agent("earlier run")], [user("next")])).toMatchObject({ from: "followup", message: "next" });
    expect(start([], [at("/before"), agent("Ran."), user("next")])).toEqual({
      from: "followup",
      message: "next",
      commandsDone: 0,
    });
  });

  it("finds where the last command ended, whether it failed, but not one in the background", () => {
    const at = (output: unknown, name = "run_command"): Message => ({
      role: "tool",
      content: [{ type: "action_result", action_id: "1", category: "command", name, state: "failed", output }],
    });
    const server = at({ command_id: "background-1", working_directory: "/c" });
    const others = [server, at({ working_directory: "/d" }, "read_files"), at("denied"), agent("Ran.")];
    expect(findLastDirectory([at({ working_directory: "/a" }), at({ working_directory: "/b" }), ...others])).toBe("/b");
    expect(findLastDirectory(others)).toBeUndefined();
  });

  it("ends as cancelled if the open instruction was cancelled, but not if a later one is open", () => {
    const last = { success: false, summary: "The instruction was cancelled." };
    expect(start([], [user("a"), CANCEL])).toEqual({ from: "response", last });
    expect(start([], [CANCEL])).toEqual({ from: "response", last });
    expect(start([], [CANCEL, user("b")])).toMatchObject({ from: "followup", message: "b" });
    expect(start([], [CANCEL, agent("Ran.")])).toMatchObject({ from: "response", last: { summary: "Ran." } });
    expect(start([CANCEL], [])).toEqual({ from: "prompt", commandsDone: 0 });
    // A follow-up that was cancelled before it started has its own record of that.
    const cancelled = { ...user("b"), content: [...user("b").content, ...CANCEL.content] };
    expect(start([], [user("a"), agent("Ran."), cancelled])).toEqual({ from: "response", last });
  });

  it("fails if the end of the last turn cannot be read", () => {
    const mark = { type: "event", name: "turn_ended", data: { error_code: 7 } } as const;
    const other = { type: "event", name: "other", data: { success: false } } as const;
    const own = (block: typeof mark | typeof other): Message[] => [
      result("completed"),
      { role: "assistant", content: [{ type: "text", text: "Ran." }, block, { type: "text", text: "All." }] },
    ];
    expect(start([], own(mark))).toEqual({ from: "response", last: { success: false, summary: "Ran.\nAll." } });
    expect(start([], own(other))).toEqual({ from: "response", last: { success: true, summary: "Ran.\nAll." } });
    const failed = { success: false, summary: "", error_code: "invalid_request" } as const;
    const text = { type: "text", text: "Nothing." } as const;
    const read = start([], [{ role: "assistant", content: [text, ...toEndMark(failed)] }]);
    expect(read).toEqual({ from: "response", last: { ...failed, summary: "Nothing." } });
    expect(start([], [agent("Ran nothing.")]), "no command").toMatchObject({ last: { success: false } });
  });

  it("does not treat a message without a text as an instruction or a response", () => {
    const other = { type: "event", name: "other", data: {} } as const;
    const own: Message[] = [
      result("completed"),
      ...(["user", "assistant"] as const).map((role) => ({ role, content: [other] })),
    ];
    expect(start([], own)).toEqual({ from: "prompt", commandsDone: 1 });
  });

  it("does not treat text next to a tool use as a final response", () => {
    const action = { type: "action", id: "1", category: "command", name: "run_command", input: {} } as const;
    const step: Message = { role: "assistant", content: [{ type: "text", text: "I look." }, action] };
    expect(start([], [step, result("completed")])).toEqual({ from: "prompt", commandsDone: 1 });
  });
});

describe("toEndMark", () => {
  it("marks an unsuccessful turn with its known details", () => {
    expect(toEndMark({ success: true, summary: "Done." })).toEqual([]);
    expect(toEndMark({ success: false, summary: "No." })).toEqual([
      { type: "event", name: "turn_ended", data: { success: false } },
    ]);
    expect(toEndMark({ success: false, summary: "?", error_code: "invalid_request", blocked: true })).toEqual([
      { type: "event", name: "turn_ended", data: { success: false, error_code: "invalid_request", blocked: true } },
    ]);
  });
});

describe("isCancelledSince", () => {
  it("returns whether an instruction was cancelled after the last response", () => {
    expect(isCancelledSince([])).toBe(false);
    expect(isCancelledSince([CANCEL])).toBe(true);
    expect(isCancelledSince([agent("Ran."), user("x"), CANCEL])).toBe(true);
    expect(isCancelledSince([CANCEL, agent("Ran.")])).toBe(false);
    expect(isCancelledSince([CANCEL, user("x")])).toBe(true);
  });
});
