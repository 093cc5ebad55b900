import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventually } from "../../server/support/eventually.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { type Harness, workingRun } from "../../support/execution.ts";
import { createGateway, MODEL_SETTINGS } from "../../support/gateway.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";

vi.setConfig({ testTimeout: 150_000 });

const FREE = "compatible/llama";
const PRICED = "compatible/priced";
const never = new Promise<never>(() => undefined);

let plane: TestControlPlane;
let standIn: ModelStandIn;
let run: Harness;
beforeEach(async () => {
  vi.stubEnv("MODEL_PROVIDERS", MODEL_SETTINGS.MODEL_PROVIDERS);
  vi.stubEnv("COMPATIBLE_MODELS", "llama,priced,zero");
  vi.stubEnv("MODEL_PRICES", `${PRICED}=1/2,compatible/zero=0/0`);
  plane = await createTestControlPlane();
  standIn = await ModelStandIn.start();
  run = await workingRun(plane);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await standIn[Symbol.asyncDispose]();
});

const usage = async () => (await createClient(plane).get(`/agent/runs/${run.run_id}`)).body.request_usage;

describe("a call of a model without a price", () => {
  it.each([FREE, "compatible/zero", "openai/gpt-5.4"])("stops when its run is cancelled (%s)", async (model) => {
    const gateway = createGateway(plane, standIn, { watchMs: 10 });
    standIn.turns.push({ text: "a long story", textHeldUntil: never });
    const response = await gateway.chat(run.key, { model, stream: true });
    await createClient(plane).post(`/agent/runs/${run.run_id}/cancel`);
    expect(await response.text()).toContain("the call was given up");
    await eventually(() => expect([standIn.hungUp, standIn.open]).toEqual([1, 0]));
  });

  it("stops when its caller disconnects in the middle of a stream, and counts as an estimate", async () => {
    const gateway = createGateway(plane, standIn);
    standIn.turns.push({ text: "a long story", textHeldUntil: never });
    const response = await gateway.chat(run.key, { model: FREE, stream: true });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await eventually(() => expect([standIn.hungUp, standIn.open]).toEqual([1, 0]));
    await eventually(async () => expect((await usage()).total_tokens).toBeGreaterThan(1_000));
  });

  it.each([true, false])("stops when its caller disconnects before a response (streamed: %s)", async (stream) => {
    const gateway = createGateway(plane, standIn);
    standIn.turns.push({ after: never });
    const aborter = new AbortController();
    const request = new Request(`${plane.ports.baseUrl}/model/openai/v1/chat/completions`, {
      method: "POST",
      headers: { "x-api-key": run.key },
      body: JSON.stringify({ model: FREE, messages: [], stream }),
      signal: aborter.signal,
    });
    const response = gateway.serve(request);
    await eventually(() => expect(standIn.seen).toHaveLength(1));
    aborter.abort();
    expect((await response).status).toBe(502);
    await eventually(() => expect([standIn.hungUp, standIn.open]).toEqual([1, 0]));
    expect(standIn.seen, "is not repeated").toHaveLength(1);
  });
});

describe("a call of a model with a price", () => {
  it("is read to its end when its caller disconnects, because only the end says what it costs", async () => {
    const gateway = createGateway(plane, standIn);
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    standIn.turns.push({ text: "a long story", textHeldUntil: held, usage: { input: 1_000, output: 10 } });
    const response = await gateway.chat(run.key, { model: PRICED, stream: true });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    release();
    await eventually(async () => expect((await usage()).total_tokens).toBe(1_010));
    expect(standIn.hungUp).toBe(0);
  });
});
