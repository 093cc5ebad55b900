import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

describe("POST /agent/environments", () => {
  // @contract general.limits.names
  it("accepts a name of 256 characters and rejects 257", async () => {
    const name = "😀".repeat(256);
    expect(await user.post("/agent/environments", { name })).toMatchObject({ status: 201, body: { config: { name } } });
    const longer = await user.post("/agent/environments", { name: `${name}x` });
    expect(longer).toMatchObject({ status: 400, body: { errors: [{ path: "name" }] } });
  });
});

describe("GET /agent/environments", () => {
  // @contract environments.last-task
  it("returns the latest run with its times", async () => {
    const { uid } = (await user.post("/agent/environments", { name: "Shop" })).body;
    const run = async (title: string) =>
      (await user.post("/agent/runs", { prompt: "hello", title, config: { environment_id: uid } })).body.run_id;
    await run("First");
    plane.clock.now += 1_000;
    const id = await run("Second");
    plane.clock.now += 1_000;
    await createHarness(plane, await plane.dispatch(id)).resolve();
    const [shown] = (await user.get("/agent/environments")).body.environments;
    expect(shown).toMatchObject({
      last_task_run_timestamp: "2026-05-18T19:00:01.000Z",
      last_task_created: {
        id,
        title: "Second",
        state: "INPROGRESS",
        created_at: "2026-05-18T19:00:01.000Z",
        updated_at: "2026-05-18T19:00:02.000Z",
        started_at: "2026-05-18T19:00:02.000Z",
      },
    });
  });
});

describe("POST …/share", () => {
  it("creates one link per Idempotency-Key: a repeated request returns a conflict, and the link stays the same", async () => {
    const { uid } = (await user.post("/agent/environments", { name: "Shop" })).body;
    const share = (key: string) =>
      user.post(`/agent/environments/${uid}/share`, { link: true }, { headers: { "idempotency-key": key } });
    const { link } = (await share("one")).body;
    expect(await share("one")).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: false } });
    const bo = createClient(plane, plane.otherKey);
    const target = link.slice(plane.ports.baseUrl.length);
    expect((await bo.get(target)).status).toBe(200);
    expect((await share("two")).status).toBe(200);
    expect((await bo.get(target)).status).toBe(404);
  });

  it("adds a guest once per Idempotency-Key, even if the guest was removed meanwhile", async () => {
    const { uid } = (await user.post("/agent/environments", { name: "Shop" })).body;
    const bo = createClient(plane, plane.otherKey);
    const body = { user_uid: (await bo.get("/agent/me")).body.uid };
    const headers = { "idempotency-key": "one" };
    const share = () => user.post(`/agent/environments/${uid}/share`, body, { headers });
    expect((await share()).status).toBe(200);
    await user.delete(`/agent/environments/${uid}/share`, { body });
    expect(await share()).toMatchObject({ status: 200, body: {}, headers: { "idempotent-replay": "true" } });
    expect((await bo.get(`/agent/environments/${uid}`)).status).toBe(404);
  });
});

describe("GET /agent/models", () => {
  // @contract models.item: A model has id, display_name, one of six providers, and vision_supported.
  // @contract models.cost
  it("returns every common member of each model, including the default model", async () => {
    const { default_model_id, models } = (await user.get("/agent/models")).body;
    expect(models.map(({ id }: { id: string }) => id)).toContain(default_model_id);
    for (const model of models) {
      expect(model).toMatchObject({
        id: expect.stringMatching(/./),
        display_name: expect.stringMatching(/./),
        provider: expect.stringMatching(/^(OPENAI|ANTHROPIC|GOOGLE|AMAZON|LOCAL|UNKNOWN)$/),
        vision_supported: expect.any(Boolean),
      });
    }
    const [local] = models.filter(({ id }: { id: string }) => id === "local/runbook");
    expect(local.cost).toEqual({ input_per_million_usd: 0, output_per_million_usd: 0 });
  });
});
