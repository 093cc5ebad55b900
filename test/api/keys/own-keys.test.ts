import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { toUsd } from "#shared/records/money.ts";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { startedRun, workingRun } from "../../support/execution.ts";
import { createGateway, type Gateway, stubModelSettings } from "../../support/gateway.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";

let plane: TestControlPlane;
let standIn: ModelStandIn;
let gateway: Gateway;
let user: Client;
beforeEach(async () => {
  stubModelSettings();
  plane = await createTestControlPlane();
  standIn = await ModelStandIn.start();
  gateway = createGateway(plane, standIn);
  user = createClient(plane);
  for (const [name, value] of [
    ["TEAM_KEY", "the-key-of-the-team"],
    ["RUN_KEY", "the-key-of-the-run"],
  ]) {
    expect((await user.post("/agent/secrets", { name, value })).status).toBe(201);
  }
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await standIn[Symbol.asyncDispose]();
});

const setKeys = (provider_keys: Record<string, string> | null) =>
  user.put(`/agent/teams/${plane.team}`, { settings: { provider_keys } });
const sentKeys = () => standIn.seen.map(({ headers }) => headers["x-api-key"] ?? headers.authorization);
const usageOf = async (runId: string) => (await user.get(`/agent/runs/${runId}`)).body.request_usage;

describe("the keys of a team for providers", () => {
  // @contract teams.provider-keys: provider_keys names the team's own keys for the providers of models.
  it("are used for its runs' calls of these providers, and of no others", async () => {
    expect(await setKeys({ anthropic: "TEAM_KEY" })).toMatchObject({
      status: 200,
      body: { settings: { provider_keys: { anthropic: "TEAM_KEY" } } },
    });
    const run = await workingRun(plane);
    await gateway.messages(run.key);
    await gateway.chat(run.key);
    const foreign = await workingRun(plane, undefined, plane.otherKey);
    await gateway.messages(foreign.key);
    expect(sentKeys()).toEqual(["the-key-of-the-team", "Bearer the-key-of-openai", "the-key-of-anthropic"]);
    expect((await setKeys(null)).body.settings.provider_keys).toEqual({});
    await gateway.messages(run.key);
    expect(sentKeys().at(-1)).toBe("the-key-of-anthropic");
  });

  it("are refused for a provider without keys and a secret that the team does not have", async () => {
    for (const [provider_keys, words] of [
      [{ bedrock: "TEAM_KEY" }, "has no keys"],
      [{ google: "TEAM_KEY" }, "is not a provider of this deployment"],
      [{ anthropic: "NONE" }, "the team has no secret of the name NONE"],
    ] as const) {
      const path = `settings.provider_keys.${Object.keys(provider_keys)[0]}`;
      expect(await setKeys(provider_keys)).toMatchObject({
        status: 400,
        body: { errors: [{ path, message: expect.stringContaining(words) }] },
      });
    }
    const made = await user.post("/agent/teams", {
      name: "New",
      settings: { provider_keys: { anthropic: "TEAM_KEY" } },
    });
    expect(made).toMatchObject({ status: 400, body: { errors: [{ path: "settings.provider_keys.anthropic" }] } });
  });

  // @contract runs.item.byok: usage_type is byok for a key of the team or the run.
  it("are billed apart: tokens are marked, the run's budget counts them, and the team's month does not", async () => {
    await setKeys({ anthropic: "TEAM_KEY" });
    const run = await workingRun(plane, { prompt: "a", config: { budget_usd: 1 } });
    await gateway.messages(run.key);
    const month = async () => (await user.get(`/agent/teams/${plane.team}`)).body.month.spent_usd;
    expect(await month()).toBe(0);
    await setKeys({});
    await gateway.messages(run.key);
    expect(await month()).toBeGreaterThan(0);
    expect(await usageOf(run.run_id)).toMatchObject({
      inference_cost_usd: 0.0008,
      total_tokens: 240,
      model_token_usage: [
        { model_id: "anthropic/claude-sonnet-5-5", total_tokens: 120 },
        { model_id: "anthropic/claude-sonnet-5-5", total_tokens: 120, usage_type: "byok" },
      ],
    });
    const budget = plane.table.all().find(({ sk, pk }) => pk === keys.budget(run.run_id).pk && sk === "BUDGET");
    expect(toUsd(Number(budget?.["cost"]))).toBe(0.0008);
  });

  it("are never replaced by the deployment's key, and errors name the secret without the key", async () => {
    await setKeys({ anthropic: "TEAM_KEY" });
    const run = await workingRun(plane);
    const error = { type: "authentication_error", message: "invalid x-api-key: the-key-of-the-team" };
    standIn.turns.push({ status: 401, raw: JSON.stringify({ type: "error", error }) });
    const refused = await gateway.messages(run.key);
    const text = await refused.text();
    expect(text).toContain("Check the key in the team's secret TEAM_KEY.");
    expect(text).toContain("invalid x-api-key: [redacted]");
    expect(text).not.toContain("the-key-of-the-team");
    expect((await user.delete("/agent/secrets/TEAM_KEY")).status).toBe(204);
    const missing = await gateway.messages(run.key);
    expect(await missing.text()).toContain("the secret TEAM_KEY, which is the key for anthropic, does not exist");
    expect(standIn.seen).toHaveLength(1);
  });

  it("are in no error that a provider returns with the status 200, streamed or not", async () => {
    await setKeys({ anthropic: "TEAM_KEY" });
    const run = await workingRun(plane);
    const raw = JSON.stringify({ type: "error", error: { type: "api_error", message: "bad: the-key-of-the-team" } });
    const streamed = { raw: `event: error\ndata: ${raw}\n\n`, headers: { "content-type": "text/event-stream" } };
    for (const turn of [{ raw }, { raw: "bad: the-key-of-the-team" }, streamed]) {
      standIn.otherwise = turn;
      const text = await (await gateway.messages(run.key, { stream: turn === streamed })).text();
      expect(text).toContain("bad: [redacted]");
      expect(text).not.toContain("the-key-of-the-team");
    }
  });

  it("do not get into sandboxes, although an environment names the secret", async () => {
    await setKeys({ anthropic: "TEAM_KEY" });
    const secrets = [{ name: "TEAM_KEY" }, { name: "RUN_KEY" }];
    const run = await startedRun(plane, { prompt: "a", config: { secrets } });
    const { body } = await run.resolve();
    expect(body.context.secrets).toEqual([
      { name: "TEAM_KEY", unavailable: expect.stringContaining("the model gateway uses") },
      { name: "RUN_KEY", value: "the-key-of-the-run" },
    ]);
    expect(JSON.stringify(body)).not.toContain("the-key-of-the-team");
  });
});

describe("harness_auth_secrets", () => {
  const auth = (names: Record<string, string>, more: object = {}) => ({
    prompt: "a",
    config: { harness_auth_secrets: names, ...more },
  });

  it("are used for the run's calls of Anthropic's and OpenAI's models, before those of the team", async () => {
    await setKeys({ anthropic: "TEAM_KEY", compatible: "TEAM_KEY" });
    const names = { claude_auth_secret_name: "RUN_KEY", codex_auth_secret_name: "RUN_KEY" };
    const run = await workingRun(plane, auth(names, { secrets: [{ name: "RUN_KEY" }] }));
    await gateway.messages(run.key);
    await gateway.chat(run.key);
    await gateway.chat(run.key, { model: "compatible/llama" });
    const key = "the-key-of-the-run";
    expect(sentKeys()).toEqual([key, `Bearer ${key}`, "Bearer the-key-of-the-team"]);
    const { body } = await run.resolve();
    expect(JSON.stringify(body), "the sandbox does not get it").not.toContain(key);
    const child = await run.client.post("/agent/runs", { prompt: "child", parent_run_id: run.run_id });
    const shown = (await user.get(`/agent/runs/${child.body.run_id}`)).body;
    expect(shown.agent_config.harness_auth_secrets, "children have them too").toEqual(names);
  });

  it("go to no other address that has the API of their provider", async () => {
    const custom = { name: "proxy", kind: "anthropic", is_custom: true, models: [{ name: "claude" }] };
    vi.stubEnv("NAMED_PROVIDERS", JSON.stringify([custom]));
    const { anthropic } = await import("#shared/model-gateway/provider.ts");
    const proxy = anthropic(standIn.anthropicUrl, async () => "the-key-of-the-proxy");
    gateway = createGateway(plane, standIn, undefined, { providers: { proxy } });
    const run = await workingRun(plane, auth({ claude_auth_secret_name: "RUN_KEY" }));
    await gateway.messages(run.key, { model: "proxy/claude" });
    expect(sentKeys()).toEqual(["the-key-of-the-proxy"]);
    const shown = (await user.get(`/agent/runs/${run.run_id}`)).body;
    expect(shown.request_usage.model_token_usage).toMatchObject([
      { model_id: "proxy/claude", usage_type: "custom_endpoint" },
    ]);
    for (const turn of [
      { status: 401, raw: "bad: the-key-of-the-proxy" },
      { raw: 'data: {"error":"bad: the-key-of-the-proxy"}\n\n', headers: { "content-type": "text/event-stream" } },
    ]) {
      standIn.otherwise = turn;
      const text = await (await gateway.messages(run.key, { model: "proxy/claude", stream: true })).text();
      expect(text, "the deployment's key is in no error").toContain("bad: [redacted]");
    }
  });

  it("are refused where the team has no such secret, in schedules too", async () => {
    const names = { codex_auth_secret_name: "NONE" };
    const errors = [{ path: expect.stringMatching(/config\.harness_auth_secrets\.codex_auth_secret_name$/) }];
    expect(await user.post("/agent/runs", auth(names))).toMatchObject({ status: 400, body: { errors } });
    const schedule = {
      name: "S",
      cron_schedule: "0 3 * * *",
      prompt: "a",
      agent_config: { harness_auth_secrets: names },
    };
    expect(await user.post("/agent/schedules", schedule)).toMatchObject({ status: 400, body: { errors } });
    const own = await user.post("/agent/runs", { ...auth({ claude_auth_secret_name: "RUN_KEY" }), team: false });
    expect(own, "personal runs have no secrets").toMatchObject({ status: 400 });
  });
});
