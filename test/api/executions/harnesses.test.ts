import { beforeEach, describe, expect, it, vi } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, workingRun } from "../../support/execution.ts";
import { stubModelSettings } from "../../support/gateway.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  stubModelSettings();
  plane = await createTestControlPlane();
  user = createClient(plane);
  return () => vi.unstubAllEnvs();
});

const resolved = async (config: Record<string, unknown>) => {
  const runId = await createRun(plane, { prompt: "hello", config });
  return (await user.get(`/agent/runs/${runId}`)).body.agent_config;
};
const refused = async (config: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  user.post("/agent/runs", { prompt: "hello", config, ...more });

describe("config.harness of a third-party agent", () => {
  it.each([
    ["claude", "anthropic/claude-opus-5-5"],
    ["codex", "openai/gpt-5.4"],
    ["gemini", "anthropic/claude-opus-5-5"],
  ])("is returned with a model that %s supports", async (type, model_id) => {
    expect(await resolved({ harness: { type } })).toMatchObject({ model_id, harness: { type, model_id } });
  });

  it("is refused with a reasoning level of its own for acp, which has none, in runs, schedules and identities", async () => {
    const harness = { type: "acp", agent: "opencode", reasoning_level: "high" };
    const detail = "reasoning_level: leave it out: an acp agent has none";
    const run = await refused({ harness });
    const schedule = { name: "n", cron_schedule: "@daily", prompt: "x", agent_config: { harness } };
    const stored = await user.post("/agent/schedules", schedule);
    const identity = await user.post("/agent/identities", { name: "level", harness });
    expect(
      [run, stored, identity].map(({ status, body }) => [status, body.error_code ?? body.type, body.detail]),
    ).toEqual([
      [422, expect.stringContaining("operation_not_supported"), `config.harness.${detail}`],
      [422, expect.stringContaining("operation_not_supported"), `agent_config.harness.${detail}`],
      [422, expect.stringContaining("operation_not_supported"), `harness.${detail}`],
    ]);
    expect(
      (await resolved({ harness: { type: "acp", agent: "opencode" }, reasoning_level: "high" })).reasoning_level,
    ).toBe("high");
  });

  it("is returned with its agent or command and any model for acp, which has one of them exactly if it is acp", async () => {
    const command = "npx -y some-agent --acp";
    expect(await resolved({ harness: { type: "acp", command } })).toMatchObject({
      model_id: "anthropic/claude-opus-5-5",
      harness: { type: "acp", command, model_id: "anthropic/claude-opus-5-5" },
    });
    const own = { type: "acp", command, model_id: "compatible/llama" };
    expect(await resolved({ harness: own })).toMatchObject({ harness: own });
    const named = { type: "acp", agent: "opencode", model_id: "openai/gpt-5.4" };
    expect(await resolved({ harness: named })).toMatchObject({ harness: named });
    const both = { type: "acp", command, agent: "opencode" };
    for (const harness of [{ type: "acp" }, both, { type: "claude", command }, { type: "claude", agent: "opencode" }]) {
      const { status, body } = await refused({ harness });
      expect([status, body.errors[0]]).toMatchObject([
        400,
        {
          path: "config.harness",
          message: "must have either an agent or a command if its type is acp, and neither otherwise",
        },
      ]);
    }
    const unknown = await refused({ harness: { type: "acp", agent: "another" } });
    expect([unknown.status, unknown.body.errors[0]]).toMatchObject([
      400,
      { path: "config.harness.agent", message: expect.stringContaining("opencode") },
    ]);
    const identity = await user.post("/agent/identities", { name: "a", harness: { type: "acp", command } });
    expect([identity.status, identity.body.harness]).toEqual([201, { type: "acp", command }]);
    const other = await user.post("/agent/identities", { name: "d", harness: { type: "acp", agent: "qwen-code" } });
    expect([other.status, other.body.harness]).toEqual([201, { type: "acp", agent: "qwen-code" }]);
    expect((await user.post("/agent/identities", { name: "b", harness: { type: "acp" } })).status).toBe(400);
    expect((await user.post("/agent/identities", { name: "c", base_harness: "acp" })).status).toBe(400);
    const approvals = [{ tool: "run_command" }];
    expect((await refused({ approvals, harness: { type: "acp", command } })).status).toBe(422);
    expect((await refused({ harness: { type: "acp", command } }, { execution_location: "LOCAL" })).status).toBe(422);
  });

  it("prefers its own model, and otherwise uses the run's model if it supports it", async () => {
    const own = { type: "claude", model_id: "anthropic/claude-sonnet-5-5", reasoning_level: "high" };
    expect(await resolved({ model_id: "openai/gpt-5.4", harness: own })).toMatchObject({
      model_id: "anthropic/claude-sonnet-5-5",
      harness: own,
    });
    const model_id = "compatible/llama";
    expect(await resolved({ model_id, harness: { type: "codex" } })).toMatchObject({ harness: { model_id } });
    const bedrock = "bedrock/global.anthropic.claude-sonnet-5-5";
    expect(await resolved({ model_id: bedrock, harness: { type: "claude" } })).toMatchObject({ model_id: bedrock });
  });

  it("skips the team's default model if it does not support it", async () => {
    await user.put(`/agent/teams/${plane.team}`, { settings: { default_model_id: "openai/gpt-5.4" } });
    expect(await resolved({ harness: { type: "claude" } })).toMatchObject({ model_id: "anthropic/claude-opus-5-5" });
  });

  it.each([
    [{ harness: { type: "claude", model_id: "openai/gpt-5.4" } }, "config.harness.model_id"],
    [{ harness: { type: "codex", model_id: "anthropic/claude-opus-5-5" } }, "config.harness.model_id"],
    [{ harness: { type: "gemini", model_id: "local/runbook" } }, "config.harness.model_id"],
    [{ harness: { type: "claude", model_id: "none" } }, "config.harness.model_id"],
    [{ model_id: "openai/gpt-5.4", harness: { type: "claude" } }, "config.model_id"],
  ])("returns 400 for an unusable model: %j", async (config, path) => {
    expect(await refused(config)).toMatchObject({ status: 400, body: { errors: [{ path }] } });
  });

  it("returns 422 without a usable model, for a LOCAL run, and for its own provider key", async () => {
    vi.stubEnv("MODEL_PROVIDERS", "openai");
    const none = await refused({ harness: { type: "claude" } });
    const local = await refused({ harness: { type: "codex" } }, { execution_location: "LOCAL" });
    for (const [response, named] of [
      [none, "config.harness.type"],
      [local, "config.harness.type"],
    ] as const) {
      expect(response).toMatchObject({ status: 422, body: { error_code: "operation_not_supported" } });
      expect(response.body.detail).toContain(named);
    }
  });

  it("is passed to the execution", async () => {
    const harness = await workingRun(plane, { prompt: "a", config: { harness: { type: "gemini" } } });
    const { body } = await harness.resolve();
    expect(body.context.agent_config).toMatchObject({
      harness: { type: "gemini", model_id: "anthropic/claude-opus-5-5" },
    });
  });
});
