import { beforeEach, describe, expect, it } from "vitest";
import { findStart } from "#harness/engine/resume.ts";
import type { Message } from "#shared/wire/conversation.ts";
import { createClient } from "../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../support/control-plane.ts";
import { createHarness, createRun, deliver, type Harness, nextExecution, workingRun } from "../support/execution.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});

const PROMPT = "Delete the old releases";
const cancel = (id: string, query = "") => createClient(plane).post(`/agent/runs/${id}/cancel${query}`);
const followUp = async (id: string, body: object) => {
  expect((await createClient(plane).post(`/agent/runs/${id}/followups`, body)).status).toBe(200);
};
/** Returns the context of the run's next execution, and where that execution starts. */
async function resume(): Promise<{
  harness: Harness;
  resolved: ResponseBody["body"];
  start: ReturnType<typeof findStart>;
}> {
  const harness = await nextExecution(plane);
  const { status, body } = await harness.resolve();
  expect(status).toBe(200);
  return { harness, resolved: body, start: findStart({ ...body.context, agent_config: {} }) };
}
const listTexts = (messages: readonly Message[]) =>
  messages.flatMap(({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])));
const listExecuted = (followups: readonly { message: string; cancelled?: true }[]) =>
  followups.filter(({ cancelled }) => cancelled !== true).map(({ message }) => message);

// @contract runs.followups.cancelled
describe("a follow-up to a cancelled run", () => {
  it("is executed without the prompt if the run was cancelled while it waited", async () => {
    const id = await createRun(plane, { prompt: PROMPT });
    await cancel(id);
    await followUp(id, { message: "List them" });
    const { resolved, start } = await resume();
    expect(resolved.prompt).not.toContain(PROMPT);
    expect(start).toMatchObject({ from: "response" });
    expect(listExecuted(resolved.context.followups)).toEqual(["List them"]);
  });

  it("is executed without the prompt if the run was cancelled in its first turn", async () => {
    const run = await workingRun(plane, { prompt: PROMPT });
    await run.support("messages", { execution_id: run.execution_id, first_sequence: 1, messages: [action("1")] });
    await cancel(run.run_id);
    await run.shutDown();
    await followUp(run.run_id, { message: "List them" });
    const { resolved, start } = await resume();
    expect(resolved.prompt).not.toContain(PROMPT);
    expect(start).toMatchObject({ from: "response" });
    expect(listTexts(resolved.context.messages)[0], "the cancelled instruction stays in the conversation").toBe(PROMPT);
    expect(listTexts(resolved.context.messages).at(-1)).toContain("cancelled");
  });

  it("is executed without an earlier follow-up that was cancelled, begun or not", async () => {
    const run = await workingRun(plane, { prompt: "Say hello" });
    await run.messages(1, "Hello");
    await followUp(run.run_id, { message: PROMPT });
    await followUp(run.run_id, { message: "and the tags" });
    const message = { role: "user", content: [{ type: "text", text: PROMPT }], message_ids: ["followup-1"] };
    await run.support("messages", { execution_id: run.execution_id, first_sequence: 2, messages: [message] });
    await run.beat(1);
    await cancel(run.run_id);
    await followUp(run.run_id, { message: "List them" });
    const { harness, resolved, start } = await resume();
    expect(start).toMatchObject({ from: "response" });
    expect(resolved.context.followups).toMatchObject([
      { number: 2, message: "and the tags", cancelled: true },
      { number: 3, message: "List them" },
    ]);
    expect(resolved.context.followups[1]).not.toHaveProperty("cancelled");
    // A heartbeat returns them in the same way.
    expect((await harness.beat(1)).body.followups).toEqual(resolved.context.followups);
    expect((await harness.beat(2)).body.followups).toMatchObject([{ number: 3 }]);
  });

  it("is executed without the cancelled ones even if its own execution expires", async () => {
    const run = await workingRun(plane, { prompt: PROMPT });
    await run.support("messages", { execution_id: run.execution_id, first_sequence: 1, messages: [action("1")] });
    await cancel(run.run_id);
    await followUp(run.run_id, { message: "List them" });
    const { harness } = await resume();
    const next = (await harness.beat(0)).status;
    expect(next).toBe(200);
    await harness.messages(3, "I look");
    await harness.shutDown({ error: { category: "test", message: "gone" } });
    const { resolved, start } = await resume();
    expect(resolved.prompt).toBe("");
    expect(start).toMatchObject({ from: "response" });
    expect(listExecuted(resolved.context.followups)).toEqual(["List them"]);
    expect(listTexts(resolved.context.messages)).not.toContain("I look");
  });

  it("is executed without the cancelled ones after each of several cancels", async () => {
    const id = await createRun(plane, { prompt: PROMPT });
    await cancel(id);
    await followUp(id, { message: "first" });
    await cancel(id);
    await followUp(id, { message: "second" });
    const { resolved, start } = await resume();
    expect(start).toMatchObject({ from: "response" });
    expect(listExecuted(resolved.context.followups)).toEqual(["second"]);
    expect(resolved.context.followups[0]).toMatchObject({ message: "first", cancelled: true });
  });

  it("keeps the cancelled instruction in the conversation, marked as cancelled", async () => {
    const id = await createRun(plane, { prompt: PROMPT });
    await cancel(id);
    await followUp(id, { message: "List them" });
    const { body } = await createClient(plane).get(`/agent/runs/${id}/conversation`);
    const messages = body.steps.flatMap((step: { messages: Message[] }) => step.messages);
    expect(listTexts(messages)[0]).toBe(PROMPT);
    expect(messages[1]).toMatchObject({
      role: "system",
      content: [{ type: "text" }, { type: "event", name: "turn_cancelled" }],
    });
    const { events } = (await createClient(plane).get(`/agent/runs/${id}/events?after=0`)).body;
    expect(events.map(({ sequence }: { sequence: number }) => sequence)).toEqual(
      events.map((_: unknown, index: number) => index + 1),
    );
  });

  it("without a message continues the cancelled instruction, as requested", async () => {
    const run = await workingRun(plane, { prompt: PROMPT });
    await cancel(run.run_id);
    await followUp(run.run_id, {});
    const { resolved, start } = await resume();
    expect(resolved.prompt).toBe(PROMPT);
    expect(start).toMatchObject({ from: "prompt" });
  });

  it("is written once if the request is repeated", async () => {
    const id = await createRun(plane, { prompt: PROMPT });
    await cancel(id);
    const headers = { "idempotency-key": "k" };
    for (let time = 0; time < 3; time++)
      expect(
        (await createClient(plane).post(`/agent/runs/${id}/followups`, { message: "List them" }, { headers })).status,
      ).toBe(200);
    const { resolved } = await resume();
    expect(resolved.context.messages).toHaveLength(2);
    expect(resolved.context.followups).toHaveLength(1);
  });
});

describe("a run that continues the conversation of a cancelled one", () => {
  it("gets the earlier instruction marked as cancelled", async () => {
    const first = await workingRun(plane, { prompt: PROMPT });
    await cancel(first.run_id);
    await deliver(plane);
    const id = await createRun(plane, { prompt: "List them", conversation_id: first.run_id });
    const second = createHarness(plane, await plane.dispatch(id));
    const { prompt, context } = (await second.resolve()).body;
    expect(prompt).toBe("List them");
    expect(listTexts(context.messages)).toEqual([PROMPT, expect.stringContaining("cancelled")]);
  });
});

const action = (id: string): Message => ({
  role: "assistant",
  content: [{ type: "action", id, category: "command", name: "run_command", input: { command: "ls" } }],
});
