import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CATALOGUE } from "#shared/models/catalogue.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, workingRun } from "../../support/execution.ts";
import { nightly } from "../../support/schedules.ts";

const OPUS = "anthropic/claude-opus-5-5";
const SONNET = "anthropic/claude-sonnet-5-5";
const settings = ["MODEL_PROVIDERS", "COMPATIBLE_MODELS", "DISABLED_MODELS"] as const;
const set = (values: Partial<Record<(typeof settings)[number], string>>) => void Object.assign(process.env, values);
let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});
afterEach(() => {
  for (const name of settings) delete process.env[name];
});

describe("GET /agent/models", () => {
  const listIds = ({ body }: { body: { models: { id: string }[] } }) => body.models.map(({ id }) => id);

  // @contract models.list: GET /agent/models returns default_model_id and the models.
  // @contract models.default: The default is the team's, else the first provider's first, else the embedded one.
  it("returns only the embedded model, as the default, if no provider is configured", async () => {
    const response = await user.get("/agent/models");
    expect(listIds(response)).toEqual(["local/runbook"]);
    expect(response.body.default_model_id).toBe("local/runbook");
    expect(response.body.models[0]).toMatchObject({ provider: "LOCAL", vision_supported: false });
  });

  // @contract models.list
  // @contract models.default
  it("returns the models of the configured providers, and the first provider's first model is the default", async () => {
    set({ MODEL_PROVIDERS: "compatible,openai", COMPATIBLE_MODELS: "llama,qwen/coder" });
    const response = await user.get("/agent/models");
    const openai = CATALOGUE.openai.map(({ id }) => id);
    expect(listIds(response)).toEqual([...openai, "compatible/llama", "compatible/qwen/coder", "local/runbook"]);
    expect(response.body.default_model_id).toBe(openai[0]);
    expect(response.body.models.at(-2)).toMatchObject({ provider: "UNKNOWN", display_name: "qwen/coder" });
    set({ MODEL_PROVIDERS: "anthropic,bedrock" });
    const other = await user.get("/agent/models");
    expect(other.body.default_model_id).toBe(OPUS);
    expect(other.body.models[0]).toMatchObject({
      provider: "ANTHROPIC",
      reasoning_level: "medium",
      cost: { input_per_million_usd: 4, output_per_million_usd: 20 },
    });
    expect(other.body.models).toContainEqual(expect.objectContaining({ provider: "AMAZON" }));
  });

  // @contract models.disabled: disable_reason states why a model cannot be used.
  it("marks disabled models, and none of them is the default", async () => {
    set({ MODEL_PROVIDERS: "anthropic", DISABLED_MODELS: `${OPUS},none` });
    const { body } = await user.get("/agent/models");
    const disabled = body.models.filter((model: { disable_reason?: string }) => model.disable_reason !== undefined);
    expect(disabled).toEqual([expect.objectContaining({ id: OPUS, disable_reason: "ADMIN_DISABLED" })]);
    expect(body.default_model_id).toBe(SONNET);
  });

  // @contract models.default
  it("returns the default model of the caller's team", async () => {
    set({ MODEL_PROVIDERS: "anthropic" });
    const agent = await plane.agent();
    const run = await workingRun(plane, { prompt: "hello", config: { model_id: "local/runbook" } });
    const twofold = await plane.person("Tess", [plane.team, plane.otherTeam]);
    const changed = await user.put(`/agent/teams/${plane.team}`, { settings: { default_model_id: SONNET } });
    expect(changed.status).toBe(200);
    const defaultFor = async (key: string, team?: string) => {
      const headers = team === undefined ? {} : { "x-team-uid": team };
      return (await createClient(plane, key).get("/agent/models", { headers })).body.default_model_id;
    };
    for (const key of [plane.key, agent.key, run.key]) expect(await defaultFor(key)).toBe(SONNET);
    expect(await defaultFor(plane.otherKey)).toBe(OPUS);
    expect(await defaultFor(twofold.key), "neither of two teams").toBe(OPUS);
    expect(await defaultFor(twofold.key, plane.team)).toBe(SONNET);
    expect(await defaultFor(twofold.key, plane.otherTeam)).toBe(OPUS);
    const personal = await createRun(plane, { prompt: "mine", team: false });
    expect((await user.get(`/agent/runs/${personal}`)).body.agent_config.model_id).toBe(OPUS);
    expect((await user.get(`/agent/runs/${await createRun(plane)}`)).body.agent_config.model_id).toBe(SONNET);
  });
});

describe("a requested model", () => {
  const naming: [string, (id: string) => Promise<{ status: number; body: { errors: unknown } }>, string][] = [
    [
      "POST /agent/runs",
      (model_id) => user.post("/agent/runs", { prompt: "a", config: { model_id } }),
      "config.model_id",
    ],
    [
      "POST /agent/schedules",
      (model_id) => user.post("/agent/schedules", { ...nightly, agent_config: { model_id } }),
      "agent_config.model_id",
    ],
    ["POST /agent/identities", (base_model) => user.post("/agent/identities", { name: "a", base_model }), "base_model"],
    [
      "PUT /agent/teams/{teamUid}",
      (default_model_id) => user.put(`/agent/teams/${plane.team}`, { settings: { default_model_id } }),
      "settings.default_model_id",
    ],
  ];

  it.each(naming)(
    "by %s is rejected with 400 if it is unavailable, and the error links to the models",
    async (_, name, path) => {
      set({ MODEL_PROVIDERS: "anthropic", DISABLED_MODELS: SONNET });
      const message = expect.stringContaining("GET /agent/models");
      for (const id of ["gpt-0", "openai/gpt-5.4", SONNET]) {
        expect(await name(id), id).toMatchObject({ status: 400, body: { errors: [{ path, message }] } });
      }
      expect((await name(OPUS)).status).toBeLessThan(300);
    },
  );
});

describe("the model catalog", () => {
  // @contract models.cost: A model's cost is in dollars per million tokens, input and output, if it is known.
  it("lists each model once, by provider, with complete prices or none", () => {
    const all = Object.entries(CATALOGUE).flatMap(([provider, list]) => list.map((model) => ({ provider, model })));
    expect(new Set(all.map(({ model }) => model.id)).size).toBe(all.length);
    for (const { provider, model } of all) {
      expect(model.id).toMatch(new RegExp(`^${provider}/[\\w.-]+$`));
      if (model.cost !== undefined)
        expect(model.cost.output_per_million_usd).toBeGreaterThan(model.cost.input_per_million_usd);
    }
  });
});
