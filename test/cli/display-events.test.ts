import { describe, expect, it } from "vitest";
import { activityAfter } from "../../cli/src/follow/activity.ts";
import { toDisplayEvents } from "../../cli/src/follow/display-events.ts";
import { LiveLines } from "../../cli/src/follow/live-lines.ts";

const AT = "2026-05-18T19:00:00.000Z";
const EARLIER = "2026-05-18T18:59:59.000Z";

const show = (type: string, data: unknown) =>
  toDisplayEvents({ type, occurred_at: AT, data }).map(({ at: _, ...event }) => event);
const say = (role: string, ...content: unknown[]) => show("messages", { messages: [{ role, content }] });

describe("toDisplayEvents", () => {
  it("shows a summary of the conversation as a step", () => {
    const data = { summary: "Fixed the parser.", kept_messages: 4, files: [] };
    expect(say("system", { type: "event", name: "conversation_compacted", data })).toEqual([
      {
        kind: "step",
        type: "conversation_compacted",
        name: "summarized",
        detail: "Fixed the parser.",
        failed: false,
      },
    ]);
    expect(say("system", { type: "event", name: "turn_cancelled", data: {} })).toEqual([]);
  });

  it.each([
    ["run_succeeded", { state: "SUCCEEDED", message: "Done." }, undefined, "Done."],
    ["worker_container_ready", { state: "INPROGRESS" }, "sandbox ready", undefined],
    ["setup_environment_resolution", {}, "prepared", undefined],
    ["setup_repo_clone", { detail: "d", message: "m" }, "cloned", "d"],
    ["setup_commands", { message: "m", filepath: "f" }, "setup", "m"],
    ["setup_mcp_servers", { filepath: "f", title: "t" }, "MCP server", "f"],
    ["setup_skill_loading", { title: "t", url: "u" }, "loaded skill", "t"],
    ["checkpoint_saved", { url: "u" }, "checkpoint", "u"],
    ["artifact_created", {}, "artifact", undefined],
    ["artifact_created", { title: " ", url: "u" }, "artifact", "u"],
    ["artifact_created", { title: "" }, "artifact", undefined],
    ["user_notified", {}, "notification", undefined],
    ["run_waiting", { detail: "position 2" }, "", "position 2"],
    ["some_new_event", { detail: 7 }, "some new event", undefined],
    ["setup_started", { step: "setup_environment_resolution" }, "preparing …", undefined],
    ["setup_started", { step: "setup_repo_clone", detail: "shop" }, "cloning …", "shop"],
    ["setup_started", { step: "setup_mcp_servers" }, "connecting to MCP server …", undefined],
    ["setup_started", { step: "setup_skill_loading" }, "loading skill …", undefined],
    ["setup_started", {}, "setup …", undefined],
    [
      "model_retry",
      { attempt: 2, of: 5, next_in_ms: 1_500, reason: "busy" },
      "model failed",
      "attempt 2 of 5, next in 1.5 s: busy",
    ],
    ["model_retry", { attempt: 1 }, "model failed", "attempt 1: no reason was given"],
  ])("names the step %s with %j", (type, data, name, detail) => {
    expect(show(type, data)).toEqual([expect.objectContaining({ kind: "step", type, name, detail, failed: false })]);
  });

  it("passes on states, durations and failures of steps, and no calls of the model", () => {
    expect(show("setup_commands", { state: "INPROGRESS", duration_ms: 9, is_error: true })).toEqual([
      { kind: "step", type: "setup_commands", state: "INPROGRESS", name: "setup", durationMs: 9, failed: true },
    ]);
    expect([show("model_called", {}), show("messages", { messages: 1 })]).toEqual([[], []]);
  });

  it("shows texts of the agent, commands and other actions, and nothing of unknown blocks", () => {
    const action = { type: "action", id: "a", name: "edit" };
    expect(say("user", { type: "text", text: "mine" })).toEqual([]);
    expect(
      say(
        "assistant",
        { type: "text", text: "hi", message_id: "m1" },
        { ...action, input: { command: "ls" } },
        { ...action, input: { command: "ls" }, title: "List" },
        { ...action, input: { path: "x" } },
        { ...action, input: {} },
        { ...action, input: null },
        { ...action, input: "text", title: "Say" },
        { type: "thinking" },
      ),
    ).toEqual([
      { kind: "text", text: "hi", id: "m1" },
      { kind: "action", id: "a", title: "", input: "ls", isCommand: true },
      { kind: "action", id: "a", title: "List", input: "ls", isCommand: true },
      { kind: "action", id: "a", title: "edit", input: '{\n  "path": "x"\n}', isCommand: false },
      { kind: "action", id: "a", title: "edit", input: "", isCommand: false },
      { kind: "action", id: "a", title: "edit", input: "", isCommand: false },
      { kind: "action", id: "a", title: "Say", input: "text", isCommand: false },
    ]);
  });

  it.each([
    [{ state: "completed", output: { exit_code: 0, stdout: "o", stderr: "e" } }, "exit 0", "o\ne", true, false],
    [{ state: "failed", output: { exit_code: null, output: "x" } }, "failed", "x", true, true],
    [{ state: "completed", output: { exit_code: null } }, "completed", "", true, false],
    [{ state: "completed", output: { found: 1 } }, "completed", '{\n  "found": 1\n}', true, false],
    [{ state: "completed", output: "text", title: "Look" }, "done", "text", false, false],
    [{ state: "failed", output: "text", title: "Look" }, "failed", "text", false, true],
    [{ state: "completed", output: "text", summary: "3 lines" }, "3 lines", "text", false, false],
  ])("summarizes the result %j", (block, summary, output, showsOutput, failed) => {
    expect(say("tool", { type: "action_result", action_id: "a", ...block })).toEqual([
      {
        kind: "result",
        id: "a",
        title: Reflect.get(block, "title"),
        diff: undefined,
        summary,
        output,
        showsOutput,
        failed,
      },
    ]);
  });

  it("joins a result with the action directly before it, and takes the sandbox's time unless it is later", () => {
    const action = { type: "action", id: "a", name: "run", input: { command: "ls" } };
    const result = { type: "action_result", action_id: "a", state: "completed", output: {} };
    const messages = [
      { role: "assistant", content: [action], timestamp: EARLIER },
      { role: "tool", content: [result], timestamp: AT },
      { role: "tool", content: [result, { ...action, id: "b" }], timestamp: "2026-05-18T19:00:01.000Z" },
      { role: "tool", content: [result] },
    ];
    const found = toDisplayEvents({ type: "messages", occurred_at: AT, data: { messages } });
    expect(found.map(({ kind, at }) => [kind, at])).toEqual([
      ["result", EARLIER],
      ["result", AT],
      ["action", AT],
      ["result", AT],
    ]);
    expect(found[0]).toMatchObject({ action: { id: "a", input: "ls", isCommand: true } });
    expect(found[1]).not.toHaveProperty("action");
  });
});

describe("activityAfter", () => {
  it.each([
    ["run_waiting", { detail: "position 2" }, "position 2"],
    ["run_waiting", {}, "waiting for capacity"],
    ["model_retry", { attempt: 1 }, "waiting for the model"],
    ["agent_started", {}, "agent at work"],
    ["setup_started", { step: "setup_repo_clone", detail: "shop" }, "cloning … shop"],
    ["setup_started", {}, "setup …"],
    ["setup_commands", {}, "setup"],
    ["run_queued", { state: "QUEUED" }, "queued"],
    ["run_pending", { state: "PENDING" }, "starting the sandbox"],
    ["run_claimed", { state: "CLAIMED" }, "claimed by a worker"],
    ["run_started", { state: "INPROGRESS" }, "setup"],
    ["run_failed", { state: "FAILED" }, "FAILED"],
    ["checkpoint_saved", {}, undefined],
    ["messages", { messages: [{ role: "assistant", content: [{ type: "text", text: "x" }] }] }, "agent at work"],
    [
      "messages",
      { messages: [{ role: "assistant", content: [{ type: "action", id: "a", name: "edit", input: 1 }] }] },
      "edit",
    ],
  ])("of %s with %j is %s", (type, data, activity) => {
    expect(toDisplayEvents({ type, occurred_at: AT, data }).map(activityAfter)).toEqual([activity]);
  });
});

describe("LiveLines", () => {
  const frame = (offset: number, text: string, action_id = "a") => ({
    action_id,
    stream: "stdout" as const,
    offset,
    text,
  });

  it("returns each complete line once, marks what is missing, and finishes with the rest", () => {
    const lines = new LiveLines();
    expect([lines.has("a"), lines.has(undefined), lines.finish("a", "x")]).toEqual([false, false, undefined]);
    expect(lines.take(frame(0, "é\nt"))).toEqual(["é"]);
    expect(lines.take(frame(4, "wo\nth"))).toEqual(["two"]);
    expect([lines.has("a"), lines.has("b")]).toEqual([true, false]);
    expect(lines.finish("a", "é\ntwo\nthree\n")).toBe("three\n");
    expect(lines.has("a")).toBe(false);
    expect(lines.take(frame(0, "one\ntw"))).toEqual(["one"]);
    expect(lines.take(frame(7, "x\nend"))).toEqual(["[…]", "x"]);
    expect(lines.finish("a", "one\ntwo\nx\nend of it\n")).toBe("end of it");
    lines.take(frame(0, "cut\n", "b"));
    expect(lines.finish("b", "something else")).toBe("");
    lines.take({ message_id: "m", stream: "text", offset: 0, text: "Hel" });
    expect(lines.finish("m", "Hello")).toBe("Hello");
  });

  it("compares no more than 65,536 characters of an output", () => {
    const [kept, longer] = ["x".repeat(65_535), "x".repeat(65_536)].map((text) => `${text}\n`);
    const lines = new LiveLines();
    lines.take(frame(0, kept ?? ""));
    expect(lines.finish("a", `${kept}rest`)).toBe("rest");
    lines.take(frame(0, longer ?? ""));
    expect(lines.finish("a", `${longer}rest`)).toBe("");
  });
});
