import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { SONNET, stubModelSettings } from "../../support/gateway.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  stubModelSettings();
  plane = await createTestControlPlane();
});
afterEach(() => vi.unstubAllEnvs());

const output_schema = { type: "object", required: ["a"] };
const create = (config: object, body: object = {}) =>
  createClient(plane).post("/agent/runs", { prompt: "Do it.", config, ...body });

describe("config.output_schema of POST /agent/runs", () => {
  it("is shown in the run", async () => {
    const { body } = await create({ model_id: SONNET, output_schema });
    const run = await createClient(plane).get(`/agent/runs/${body.run_id}`);
    expect(run.body.agent_config.output_schema).toEqual(output_schema);
  });

  it.each([
    [{ output_schema: { $ref: "https://example.com/x" } }, "must name a part of this schema"],
    [{ output_schema: [] }, "output_schema"],
    [{ model_id: "local/runbook", output_schema }, "must be left out with local/runbook"],
  ])("refuses %j", async (config, words) => {
    const response = await create({ model_id: SONNET, ...config });
    expect(response.status).toBe(400);
    expect(JSON.stringify(response.body)).toContain(words);
  });

  // @contract runs.config.output-size: output_schema has at most 64 KiB.
  it("has at most 64 KiB as JSON", async () => {
    const withBytes = (bytes: number) => ({
      description: "x".repeat(bytes - JSON.stringify({ description: "" }).length),
    });
    expect((await create({ model_id: SONNET, output_schema: withBytes(65_536) })).status).toBe(200);
    const refused = await create({ model_id: SONNET, output_schema: withBytes(65_537) });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: "config.output_schema" }] } });
  });

  it("of an identity is left out where the run's model only runs commands", async () => {
    const user = createClient(plane);
    const identity = await user.post("/agent/identities", { name: "bot", output_schema });
    const { body } = await create({ model_id: "local/runbook" }, { agent_identity_uid: identity.body.uid });
    expect((await user.get(`/agent/runs/${body.run_id}`)).body.agent_config).not.toHaveProperty("output_schema");
  });
});
