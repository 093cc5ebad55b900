import { describe, expect, it } from "vitest";
import { isCancelledSince } from "#harness/engine/resume.ts";
import { cancelMessage } from "#shared/conversations/cancelled-turn.ts";
import type { Message } from "#shared/wire/conversation.ts";
import { FakeControlPlane } from "../../lab/fake-control-plane.ts";
import { agentRun } from "../harness/support/agent-run.ts";
import { runHarness } from "../harness/support/run-harness.ts";

const sh = (command: string) => `\`\`\`sh\n${command}\n\`\`\``;
const userMessage = (text: string): Message => ({
  role: "user",
  content: [{ type: "text", text }],
  message_ids: ["prompt"],
});
const agentMessage = (text: string): Message => ({ role: "assistant", content: [{ type: "text", text }] });
const begun: Message = {
  role: "assistant",
  content: [{ type: "action", id: "1", category: "command", name: "run_command", input: { command: "rm -r old" } }],
};
const cancelled = cancelMessage(0);
/** The resolve-prompt context of a run that was cancelled in its first turn. */
const context = (prompt: string) => ({
  messages: [userMessage(prompt), begun, cancelled],
  own_messages: 3,
  next_sequence: 3,
});

describe("the model local/runbook", () => {
  it("runs the commands of the follow-up and none of the cancelled ones, begun or not", async () => {
    await using plane = await FakeControlPlane.start({ prompt: "", context: context(sh("echo old")) });
    plane.addFollowup(sh("echo never begun"));
    plane.addFollowup(sh("echo new"));
    plane.followups.splice(0, 1, ...plane.followups.slice(0, 1).map((it) => ({ ...it, cancelled: true as const })));
    await runHarness(plane);
    expect(plane.outputs).toEqual(["new\n"]);
    expect(plane.outcome).toEqual({ success: true, summary: "Ran one command." });
    expect(plane.storedFollowups).toBe(2);
    const [first, second] = plane.messages;
    expect(first, "a follow-up that never began stays in the conversation, marked as cancelled").toMatchObject({
      role: "user",
      message_ids: ["followup-1"],
      content: [{ text: sh("echo never begun") }, { type: "text" }, { type: "event", name: "turn_cancelled" }],
    });
    expect(second).toMatchObject({ message_ids: ["followup-2"], content: [{ text: sh("echo new") }] });
  });
});

describe("an agent with a language model", () => {
  it("gets a note that the rest was cancelled, and then the follow-up", async () => {
    await using it = await agentRun({
      prompt: "",
      turns: [{ text: "Listed." }],
      context: context("Delete the old releases."),
    });
    it.plane.addFollowup("List them.");
    await it.run();
    expect(it.plane.outcome).toEqual({ success: true, summary: "Listed." });
    const shown = it.asked(0).map((message) => JSON.stringify(message));
    const text = shown.join("\n");
    expect(text.indexOf("Delete the old releases.")).toBeLessThan(text.indexOf("The run was cancelled here."));
    expect(text.indexOf("The run was cancelled here.")).toBeLessThan(text.indexOf("List them."));
    expect(text.match(/Delete the old releases\./g), "it is not requested again").toHaveLength(1);
    expect(text).not.toContain("Go on from where you stopped.");
    expect(shown.at(-1)).toContain("List them.");
  });
});

describe("a third-party agent", () => {
  it.each([
    ["the first turn was cancelled", [userMessage("a"), begun, cancelled], true],
    ["a later turn was cancelled", [userMessage("a"), agentMessage("b"), userMessage("c"), cancelled], true],
    ["the follow-up was begun by an expired execution", [userMessage("a"), cancelled, userMessage("b"), begun], true],
    ["the follow-up got a response", [userMessage("a"), cancelled, userMessage("b"), agentMessage("c")], false],
    ["nothing was cancelled", [userMessage("a"), agentMessage("b")], false],
  ] as const)("gets a cancel after which it sent nothing: %s", (_, messages, expected) => {
    expect(isCancelledSince(messages)).toBe(expected);
  });
});
