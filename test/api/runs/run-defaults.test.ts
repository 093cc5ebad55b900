import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, nextExecution, workingRun } from "../../support/execution.ts";
import { SONNET, stubModelSettings } from "../../support/gateway.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  stubModelSettings();
  plane = await createTestControlPlane();
  user = createClient(plane);
});
afterEach(() => vi.unstubAllEnvs());

const LIMITS = {
  timeout_minutes: 30,
  max_steps: 7,
  max_total_tokens: 9_000,
  fallback_model_ids: ["openai/gpt-5.4"],
  reasoning_level: "high",
  output_schema: { type: "object", properties: { a: { enum: [null, 1] } } },
};
const CLEARED = {
  ...{ timeout_minutes: 0, max_steps: 0, max_total_tokens: 0 },
  ...{ fallback_model_ids: [], reasoning_level: "", output_schema: {} },
};
const shown = async (run_id: string) => (await user.get(`/agent/runs/${run_id}`)).body.agent_config;
const create = async (path: string, body: object): Promise<string> => {
  const response = await user.post(path, body);
  expect([response.status, response.body.detail]).toEqual([201, undefined]);
  return response.body.uid;
};
const identity = (body: object = {}) => create("/agent/identities", { name: "bot", ...body });
const environment = (body: object = {}) => create("/agent/environments", { name: "env", ...body });
const storeSecrets = async (...names: readonly string[]) => {
  for (const name of names) expect((await user.post("/agent/secrets", { name, value: "value" })).status).toBe(201);
};

describe("limits, fallback models and the reasoning level as defaults", () => {
  // @contract runs.config.defaults-of-others: The configuration holds in identities too.
  // @contract identities.limits: Identities have limits for their runs.
  it("of an identity and an environment apply to runs that have none, the identity's first", async () => {
    const config = { model_id: SONNET };
    const agent_identity_uid = await identity({ ...LIMITS, max_steps: 3 });
    const environment_id = await environment(LIMITS);
    const by = async (body: object) => shown(await createRun(plane, { prompt: "hello", ...body }));
    expect(await by({ config: { ...config, environment_id } })).toMatchObject(LIMITS);
    expect(await by({ config, agent_identity_uid })).toMatchObject({ ...LIMITS, max_steps: 3 });
    expect(await by({ config: { ...config, environment_id, max_steps: 9 }, agent_identity_uid })).toMatchObject({
      ...LIMITS,
      max_steps: 9,
    });
    expect(await by({ config: { ...config, environment_id }, agent_identity_uid })).toMatchObject({ max_steps: 3 });
  });

  it("apply to the runs of a schedule", async () => {
    const agent_uid = await identity(LIMITS);
    const schedule = { name: "nightly", cron_schedule: "0 3 * * *", prompt: "hello", agent_uid };
    const { body } = await user.post("/agent/schedules", { ...schedule, agent_config: { model_id: SONNET } });
    const run = (await user.post(`/agent/schedules/${body.id}/run`)).body.run_id;
    expect(await shown(run)).toMatchObject(LIMITS);
  });

  it.each([
    ["identity", "/agent/identities", (body: ReturnType<JSON["parse"]>) => body],
    ["environment", "/agent/environments", (body: ReturnType<JSON["parse"]>) => body.config],
  ])("of an %s are changed, kept by null, and cleared by empty values", async (_, path, read) => {
    const uid = await create(path, { name: "one", ...LIMITS });
    const update = async (body: object) => read((await user.put(`${path}/${uid}`, body)).body);
    expect(await update({ timeout_minutes: null })).toMatchObject(LIMITS);
    expect(await update({ max_steps: 8 })).toMatchObject({ ...LIMITS, max_steps: 8 });
    for (const name of Object.keys(LIMITS)) expect(await update(CLEARED)).not.toHaveProperty(name);
    for (const [name, value] of [
      ["timeout_minutes", 10_081],
      ["max_steps", -1],
      ["max_total_tokens", 1.5],
      ["fallback_model_ids", Array(6).fill(SONNET)],
      ["fallback_model_ids", ["local/runbook"]],
      ["reasoning_level", "xhigh"],
      ["output_schema", { type: "text" }],
    ] as const) {
      const response = await user.put(`${path}/${uid}`, { [name]: value });
      expect([response.status, response.body.errors[0].path]).toEqual([400, expect.stringContaining(name)]);
    }
  });

  it("leave out fallback models where the agent cannot change its model", async () => {
    const environment_id = await environment(LIMITS);
    for (const config of [{ model_id: "local/runbook" }, { model_id: SONNET, harness: { type: "claude" } }]) {
      const run = await createRun(plane, { prompt: "hello", config: { ...config, environment_id } });
      expect(await shown(run)).not.toHaveProperty("fallback_model_ids");
    }
  });
});

describe("the reasoning level", () => {
  const start = (config: object) =>
    user.post("/agent/runs", { prompt: "hello", config: { model_id: SONNET, ...config } });

  it.each(["none", "minimal", "low", "medium", "high", "max"])(
    "%s is shown by the run, and given to its execution",
    async (level) => {
      const run = await createRun(plane, { prompt: "hello", config: { model_id: SONNET, reasoning_level: level } });
      const { body } = await (await nextExecution(plane)).resolve();
      expect([(await shown(run)).reasoning_level, body.context.agent_config.reasoning_level]).toEqual([level, level]);
    },
  );

  // @contract runs.config.reasoning: reasoning_level is none, minimal, low, medium, high or max.
  it("has no other value, also as that of the built-in agent's harness", async () => {
    for (const level of ["xhigh", "", 3, null]) {
      const { status, body } = await start({ reasoning_level: level });
      expect([status, body.errors[0].path]).toEqual([400, "config.reasoning_level"]);
    }
    for (const type of ["default", "oz"]) {
      const { status, body } = await start({ harness: { type, reasoning_level: "xhigh" } });
      expect([status, body.errors]).toEqual([
        400,
        [{ path: "config.harness.reasoning_level", message: expect.stringContaining("none, minimal, low") }],
      ]);
      expect((await start({ harness: { type, reasoning_level: "max" } })).status).toBe(200);
    }
    expect((await start({ harness: { type: "claude", reasoning_level: "xhigh" } })).status).toBe(200);
    expect(
      (await user.post("/agent/identities", { name: "bot", harness: { type: "default", reasoning_level: "x" } })).body
        .errors,
    ).toEqual([{ path: "harness.reasoning_level", message: expect.any(String) }]);
    const schedule = { name: "n", cron_schedule: "@daily", prompt: "x", agent_config: { reasoning_level: "x" } };
    expect((await user.post("/agent/schedules", schedule)).body.errors[0].path).toBe("agent_config.reasoning_level");
  });

  it("of a child is its parent's, unless it has one of its own", async () => {
    const parent = await workingRun(plane, { prompt: "hello", config: { model_id: SONNET, reasoning_level: "low" } });
    const child = async (config: object) => {
      const { body } = await parent.client.post("/agent/runs", {
        prompt: "x",
        config: { model_id: SONNET, ...config },
      });
      return (await shown(body.run_id)).reasoning_level;
    };
    expect([await child({}), await child({ reasoning_level: "max" })]).toEqual(["low", "max"]);
  });
});

describe("secrets of a configuration", () => {
  // @contract runs.config.secrets: The run shows the union of the secrets.
  it("are shown together with those of the environment and the identity, and given to the execution", async () => {
    await storeSecrets("A", "B", "C");
    const config = { secrets: [{ name: "A" }], environment_id: await environment({ secrets: [{ name: "B" }] }) };
    const run = await createRun(plane, {
      prompt: "hello",
      config,
      agent_identity_uid: await identity({ secrets: [{ name: "C" }, { name: "A" }] }),
    });
    const names = (await shown(run)).secrets.map(({ name }: { name: string }) => name);
    expect(names.toSorted()).toEqual(["A", "B", "C"]);
    const { body } = await (await nextExecution(plane)).resolve();
    expect(body.context.secrets.map(({ name, value }: Record<string, string>) => [name, value]).toSorted()).toEqual([
      ["A", "value"],
      ["B", "value"],
      ["C", "value"],
    ]);
  });

  // @contract runs.config.secrets-refused: An unknown secret, and any secret of a personal run, is 400.
  // @contract runs.config.secrets-size: secrets has at most 50 names.
  it("are refused in a personal run, or where the team has none of the name", async () => {
    await storeSecrets("A");
    const secrets = [{ name: "A" }, { name: "B" }];
    const [UNKNOWN, PERSONAL] = ["no secret of this name", "this is a personal run"];
    for (const [method, path, body, errorPath, message] of [
      ["post", "/agent/runs", { prompt: "x", config: { secrets } }, "config.secrets[1].name", UNKNOWN],
      ["post", "/agent/runs", { prompt: "x", team: false, config: { secrets } }, "config.secrets[0].name", PERSONAL],
      [
        "post",
        "/agent/schedules",
        { name: "n", cron_schedule: "@daily", prompt: "x", agent_config: { secrets } },
        "agent_config.secrets[1].name",
        UNKNOWN,
      ],
    ] as const) {
      const response = await user[method](path, body);
      expect([response.status, response.body.errors]).toEqual([
        400,
        [{ path: errorPath, message: expect.stringContaining(message) }],
      ]);
    }
    expect(
      (await user.post("/agent/runs", { prompt: "x", config: { secrets: Array(51).fill(secrets[0]) } })).status,
    ).toBe(400);
  });

  it("of a child are among those of its parent", async () => {
    await storeSecrets("A", "B");
    const parent = await workingRun(plane, { prompt: "hello", config: { secrets: [{ name: "A" }] } });
    const child = (name: string) => parent.client.post("/agent/runs", { prompt: "x", config: { secrets: [{ name }] } });
    expect((await child("A")).status).toBe(200);
    expect(await child("B")).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining("the run's parent does not have it") },
    });
  });
});

describe("the harness of an identity", () => {
  // @contract identities.base: base_harness and harness that differ are 400.
  // @contract identities.base.type: base_harness is the older name of harness.type.
  it("has an older name of its type", async () => {
    const uid = await identity({ base_harness: "claude" });
    const read = async () => (await user.get(`/agent/identities/${uid}`)).body.harness;
    const update = (body: object) => user.put(`/agent/identities/${uid}`, body);
    expect(await read()).toEqual({ type: "claude" });
    expect((await update({ base_harness: "codex", harness: { type: "codex", reasoning_level: "low" } })).status).toBe(
      200,
    );
    expect(await read()).toEqual({ type: "codex", reasoning_level: "low" });
    expect(await update({ base_harness: "claude", harness: { type: "codex" } })).toMatchObject({
      status: 400,
      body: { errors: [{ path: "base_harness", message: expect.stringContaining("harness.type") }] },
    });
    expect((await update({ base_harness: "oz", harness: { type: "default" } })).status).toBe(200);
    await update({ base_harness: "" });
    expect(await read()).toBeUndefined();
    expect((await update({ base_harness: "none" })).status).toBe(400);
  });

  // @contract identities.harness-secrets: Identities have harness_auth_secrets, which their runs use.
  it("has secrets with keys for models, which its runs have unless they name others", async () => {
    const secrets = { claude_auth_secret_name: "CLAUDE" };
    const uid = await identity({ harness_auth_secrets: secrets });
    const update = (body: object) => user.put(`/agent/identities/${uid}`, body);
    expect((await user.get(`/agent/identities/${uid}`)).body.harness_auth_secrets).toEqual(secrets);
    const path = "config.harness_auth_secrets.claude_auth_secret_name";
    const run = () => user.post("/agent/runs", { prompt: "a", agent_identity_uid: uid });
    expect(await run(), "there is no such secret").toMatchObject({ status: 400, body: { errors: [{ path }] } });
    await user.post("/agent/secrets", { name: "CLAUDE", value: "key" });
    const { body } = await run();
    const shown = (await user.get(`/agent/runs/${body.run_id}`)).body;
    expect(shown.agent_config.harness_auth_secrets).toEqual(secrets);
    expect((await update({ harness_auth_secrets: {} })).body).not.toHaveProperty("harness_auth_secrets");
  });
});

describe("secrets_append of PUT /agent/identities/{identityUid}", () => {
  // @contract identities.append: secrets_append adds.
  // @contract identities.append.alone: secrets_append is alone in its request.
  it("adds to the secrets, each once, and stands alone in its request", async () => {
    const uid = await identity({ secrets: [{ name: "A" }] });
    const update = (body: object) => user.put(`/agent/identities/${uid}`, body);
    const secrets_append = [{ name: "B" }, { name: "A" }];
    expect((await update({ secrets_append, name: null })).body.secrets).toEqual([{ name: "A" }, { name: "B" }]);
    for (const more of [{ secrets: [] }, { name: "other" }, { description: "" }]) {
      expect(await update({ secrets_append, ...more })).toMatchObject({
        status: 400,
        body: { errors: [{ path: "secrets_append", message: "must be the only member of its request" }] },
      });
    }
    const many = Array.from({ length: 49 }, (_, index) => ({ name: `S${index}` }));
    expect((await update({ secrets_append: many })).status).toBe(400);
    expect((await user.get(`/agent/identities/${uid}`)).body.secrets).toHaveLength(2);
  });
});
