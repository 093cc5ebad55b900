import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { SONNET, stubModelSettings } from "../../support/gateway.ts";

const LLAMA = "compatible/llama";

let plane: TestControlPlane;
beforeEach(async () => {
  stubModelSettings();
  plane = await createTestControlPlane();
});
afterEach(() => vi.unstubAllEnvs());

const create = (config: object) => createClient(plane).post("/agent/runs", { prompt: "Do it.", config });

describe("config.fallback_model_ids of POST /agent/runs", () => {
  it("is shown in the run", async () => {
    const created = await create({ model_id: SONNET, fallback_model_ids: [LLAMA, "openai/gpt-5.4"] });
    expect(created.status).toBe(200);
    const { body } = await createClient(plane).get(`/agent/runs/${created.body.run_id}`);
    expect(body.agent_config.fallback_model_ids).toEqual([LLAMA, "openai/gpt-5.4"]);
  });

  // @contract runs.config.fallbacks: fallback_model_ids has at most 5 models.
  it.each([
    [{ fallback_model_ids: [LLAMA, "openai/gone"] }, 400, "config.fallback_model_ids[1]"],
    [{ fallback_model_ids: ["local/runbook"] }, 400, "is not a language model"],
    [{ fallback_model_ids: Array.from({ length: 6 }, () => LLAMA) }, 400, "fallback_model_ids"],
    [{ model_id: "local/runbook", fallback_model_ids: [LLAMA] }, 400, "must be left out with local/runbook"],
    [{ model_id: SONNET, budget_usd: 1, fallback_model_ids: [LLAMA] }, 400, "has no known price"],
    [{ harness: { type: "claude" }, fallback_model_ids: [LLAMA] }, 422, "only the built-in agent"],
  ])("refuses %j with %i", async (config, status, words) => {
    const response = await create(config);
    expect(response.status).toBe(status);
    expect(JSON.stringify(response.body)).toContain(words);
  });

  it("is accepted with a budget if all prices are known", async () => {
    const config = { model_id: SONNET, budget_usd: 1, fallback_model_ids: ["openai/gpt-5.4"] };
    expect((await create(config)).status).toBe(200);
  });
});
