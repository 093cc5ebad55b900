import { beforeEach, describe, expect, it } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { type Harness, workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let harness: Harness;
beforeEach(async () => {
  plane = await createTestControlPlane();
  harness = await workingRun(plane, { prompt: "Fix all of it." });
});

const at = (second: number) => `2026-05-18T19:00:0${second}.000Z`;
const use = (id: string, name: string, second: number) => ({
  role: "assistant",
  content: [{ type: "action", id, category: "integration", name, input: {} }],
  timestamp: at(second),
});
const result = (id: string, name: string, output: unknown, second: number) => ({
  role: "tool",
  content: [{ type: "action_result", action_id: id, category: "integration", name, state: "completed", output }],
  timestamp: at(second),
});
const userMessage = (text: string) => ({ role: "user", content: [{ type: "text", text }] });

async function stepsAfter(...messages: unknown[]) {
  const { execution_id } = harness;
  const { status } = await harness.support("messages", { execution_id, first_sequence: 1, messages });
  expect(status).toBe(200);
  return (await createClient(plane).get(`/agent/runs/${harness.run_id}/conversation`)).body.steps;
}

describe("work delegated by an agent", () => {
  // @contract runs.conversation.delegated: Delegated work is a step within a step.
  it("is one step per child run within the step that started it", async () => {
    const ended = { run_id: "child-1", title: "Fix the test", state: "SUCCEEDED", text: "It is fixed." };
    const [step] = await stepsAfter(
      use("1", "start_agent", 1),
      result("1", "start_agent", ended, 5),
      use("2", "start_agent", 6),
      result("2", "start_agent", { run_id: "child-2", state: "QUEUED" }, 6),
    );
    expect(step.messages).toHaveLength(5);
    expect(step.steps).toEqual([
      {
        id: "child-1",
        description: "Fix the test",
        summary: "It is fixed.",
        started_at: at(5),
        completed_at: at(5),
        messages: [],
        steps: [],
      },
      { id: "child-2", started_at: at(6), messages: [], steps: [] },
    ]);
  });

  // @contract runs.conversation.delegated
  it("has its final message once the end is reported, by the same tool use or a later one", async () => {
    const agents = [
      { run_id: "child-1", title: "One", state: "SUCCEEDED", text: "x".repeat(3_000) },
      { run_id: "child-2", error: "gone" },
      { run_id: "unknown", text: "started elsewhere" },
      7,
    ];
    const [step] = await stepsAfter(
      result("1", "start_agent", { run_id: "child-1", state: "QUEUED" }, 1),
      result("2", "start_agent", { run_id: "child-2", state: "QUEUED" }, 2),
      result("3", "wait_for_agents", { agents }, 3),
    );
    expect(step.steps).toEqual([
      {
        id: "child-1",
        description: "One",
        summary: "x".repeat(1_000),
        started_at: at(1),
        completed_at: at(3),
        messages: [],
        steps: [],
      },
      { id: "child-2", started_at: at(2), messages: [], steps: [] },
    ]);
  });

  it("belongs to the turn that started it, and is omitted if the sandbox reports it wrongly", async () => {
    const steps = await stepsAfter(
      result("1", "start_agent", { run_id: "child-1", state: "QUEUED" }, 1),
      userMessage("and now?"),
      result("2", "wait_for_agents", { agents: [{ run_id: "child-1", text: "done" }] }, 2),
      result("3", "start_agent", { run_id: 7 }, 3),
      result("4", "start_agent", "none", 3),
      result("5", "run_command", { run_id: "child-2" }, 3),
      result("6", "wait_for_agents", { agents: "none" }, 3),
    );
    expect(steps.map((step: { steps: { id: string }[] }) => step.steps.map(({ id }) => id))).toEqual([["child-1"], []]);
  });
});
