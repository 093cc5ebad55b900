import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventually } from "../../server/support/eventually.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { type Harness, workingRun } from "../../support/execution.ts";
import { createGateway, eventsIn, type Gateway, SONNET, stubModelSettings } from "../../support/gateway.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";

vi.setConfig({ testTimeout: 150_000 });

const COMMENT = ": waiting for the model\n\n";
const slow = { model: "compatible/llama", stream: true };

let plane: TestControlPlane;
let standIn: ModelStandIn;
let gateway: Gateway;
let run: Harness;
beforeEach(async () => {
  stubModelSettings();
  plane = await createTestControlPlane();
  standIn = await ModelStandIn.start();
  gateway = createGateway(plane, standIn, { keepAliveMs: 5 });
  run = await workingRun(plane);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await standIn[Symbol.asyncDispose]();
});

/** Calls the model, whose response begins after the caller has received a comment. */
async function callSlowly(turn: object): Promise<Response> {
  const { promise, resolve } = Promise.withResolvers<void>();
  standIn.turns.push({ ...turn, after: promise });
  const response = await gateway.chat(run.key, slow);
  resolve();
  return response;
}

describe("a stream whose server reads a long prompt", () => {
  it("is kept open by comments, and then has the response", async () => {
    const response = await callSlowly({ text: "at last" });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    const text = await response.text();
    expect(text.startsWith(COMMENT)).toBe(true);
    expect(text).toContain('{"content":"ast"}');
    const { body } = await createClient(plane).get(`/agent/runs/${run.run_id}`);
    expect(body.request_usage).toMatchObject({ total_tokens: 120 });
  });

  it("has an error that comes later as an event, with whether it is worth a retry", async () => {
    const refused = await eventsIn(await callSlowly({ status: 400 }));
    expect(JSON.parse(refused.at(-1) ?? "")).toMatchObject({
      error: { type: "invalid_request_error", message: expect.stringContaining("the stand-in returns 400") },
    });
    const failed = await eventsIn(await callSlowly({ status: 501 }));
    expect(JSON.parse(failed.at(-1) ?? "")).toMatchObject({ error: { type: "server_error" } });
  });

  it("has a response that came as a whole as one event", async () => {
    const events = await eventsIn(await callSlowly({ raw: '{"choices": [\n{"message": {"content": "whole"}}]}' }));
    expect(events.map((event) => JSON.parse(event))).toEqual([{ choices: [{ message: { content: "whole" } }] }]);
  });

  it("stops at the server when its caller disconnects", async () => {
    standIn.turns.push({ after: new Promise(() => undefined) });
    const response = await gateway.chat(run.key, slow);
    await eventually(() => expect(standIn.seen).toHaveLength(1));
    await response.body?.cancel();
    await eventually(() => expect([standIn.hungUp, standIn.open]).toEqual([1, 0]));
  });

  it("gets no comment at another provider, whose status its caller waits for", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    standIn.turns.push({ after: promise, status: 400 });
    const response = gateway.messages(run.key, { model: SONNET, stream: true });
    await eventually(() => expect(standIn.seen).toHaveLength(1));
    resolve();
    expect((await response).status).toBe(400);
  });
});

it("a response of the gateway states the context window that the deployment sets", async () => {
  vi.stubEnv("MODEL_LIMITS", `compatible/llama=4096/512,${SONNET}=150000`);
  const llama = await gateway.chat(run.key, { model: "compatible/llama" });
  expect(llama.headers.get("runyard-context-tokens")).toBe("4096");
  expect(standIn.seen[0]?.body).toMatchObject({ max_tokens: 512 });
  expect((await gateway.messages(run.key)).headers.get("runyard-context-tokens")).toBe("150000");
  expect((await gateway.chat(run.key)).headers.get("runyard-context-tokens")).toBeNull();
});
