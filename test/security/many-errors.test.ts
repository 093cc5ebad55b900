import { beforeEach, describe, expect, it } from "vitest";
import { createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { workingRun } from "../support/execution.ts";

let plane: TestControlPlane;
let user: ReturnType<typeof createClient>;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const list = (length: number, value: unknown) => Array.from({ length }, () => value);
const map = (length: number, value: unknown) =>
  Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, value]));

describe("a request with very many wrong fields", () => {
  it.each([
    ["attachments", { attachments: list(100_000, {}) }],
    ["attachments of wrong types", { attachments: list(100_000, 1) }],
    ["MCP servers", { config: { mcp_servers: map(100_000, { url: 1 }) } }],
    ["a list of MCP servers", { config: { mcp_servers: list(100_000, { name: 1 }) } }],
    ["metadata", { metadata: map(100_000, 1) }],
    ["skills", { config: { skills: list(100_000, "") } }],
  ])("is refused within seconds, naming the first: %s", async (_, members) => {
    const start = process.cpuUsage();
    const { status, body } = await user.post("/agent/runs", { prompt: "a", ...members });
    expect(status).toBe(400);
    expect(body.errors.length).toBeLessThan(5);
    expect(process.cpuUsage(start).user).toBeLessThan(5_000_000);
  });

  it("with up to ten thousand values names all of them", async () => {
    const { status, body } = await user.post("/agent/runs", { prompt: "a", metadata: map(9_000, 1) });
    expect([status, body.errors.length]).toEqual([400, 9_000]);
  });
});

describe("a message of a run", () => {
  const nest = (levels: number): unknown => (levels === 0 ? 1 : [nest(levels - 1)]);
  const toMessage = (output: unknown) => ({
    role: "tool",
    content: [{ type: "action_result", action_id: "a", category: "command", name: "n", state: "completed", output }],
  });

  it.each([
    [400, 200],
    [500, 400],
    [3_000, 400],
  ])("with a value of %s levels gets %s, and never 500", async (levels, expected) => {
    const run = await workingRun(plane);
    const body = { execution_id: run.execution_id, first_sequence: 1, messages: [toMessage(nest(levels))] };
    expect((await run.client.post("/harness-support/messages", body)).status).toBe(expected);
  });
});
