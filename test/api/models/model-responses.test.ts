import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parseBudget } from "#shared/budgets/budget-store.ts";
import type { GatewayPorts } from "#shared/model-gateway/gateway.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
import { keys } from "#shared/table/keys.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { eventually } from "../../server/support/eventually.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { type Harness, nextExecution, workingRun } from "../../support/execution.ts";
import { createGateway, eventsIn, SONNET, stubModelSettings } from "../../support/gateway.ts";

const NOWHERE = {
  anthropicUrl: "http://127.0.0.1:1",
  openaiUrl: "http://127.0.0.1:1",
  bedrockUrl: "http://127.0.0.1:1",
};
const STREAM = { "content-type": "text/event-stream" };
const USAGE = { input_tokens: 100, output_tokens: 20 };

/** All AWS calls of the control plane. */
let calls: string[];
let plane: TestControlPlane;
let run: Harness;
beforeEach(async () => {
  stubModelSettings();
  calls = [];
  plane = await createTestControlPlane(undefined, (name, perform) => {
    calls.push(name);
    return perform();
  });
  run = await workingRun(plane);
});
afterEach(() => vi.unstubAllEnvs());

/** A gateway whose only provider is Anthropic, with the given response. */
const gatewayTo = (respond: () => Response | Promise<Response>, more: Partial<GatewayPorts> = {}) =>
  createGateway(plane, NOWHERE, undefined, { providers: { anthropic: async () => respond() }, ...more });
const completed = () => Response.json({ type: "message", usage: USAGE });
const readRun = async ({ run_id }: Harness = run) => (await createClient(plane).get(`/agent/runs/${run_id}`)).body;
const calledEvents = async () => {
  const { body } = await createClient(plane).get(`/agent/runs/${run.run_id}/events`);
  return body.events.filter(({ type }: { type: string }) => type === "model_called");
};
const runWithBudget = () => workingRun(plane, { prompt: "hello", config: { model_id: SONNET, budget_usd: 1 } });
const readBudget = async ({ run_id }: Harness) => parseBudget(await plane.table.get(keys.budget(run_id)));

describe("a provider's response", () => {
  it("is passed on unchanged and counted without a content type", async () => {
    const text = JSON.stringify({ type: "message", usage: USAGE });
    const response = await gatewayTo(() => new Response(Buffer.from(text), { status: 201 })).messages(run.key);
    expect([response.status, await response.text()]).toEqual([201, text]);
    expect((await readRun()).request_usage).toMatchObject({ inference_cost: 0.0004, total_tokens: 120 });
  });

  it("is invalid if it is a stream without a body or breaks off before its end", async () => {
    const broken = () => new ReadableStream({ start: (controller) => controller.error(new Error("reset")) });
    const responses = [
      () => new Response(null, { headers: STREAM }),
      () => new Response(broken(), { headers: { "content-type": "application/json" } }),
    ];
    for (const respond of responses) {
      const response = await gatewayTo(respond).messages(run.key);
      expect(response.status).toBe(502);
      expect(await response.json()).toMatchObject({
        error: { message: expect.stringContaining("anthropic returned 200 with a response that is not JSON") },
      });
    }
    expect(await calledEvents()).toMatchObject([{ data: { is_estimated: true } }, { data: { is_estimated: true } }]);
  });

  it.each([200, 400])("is read up to 16 MiB where it has the status %i and is no stream of events", async (status) => {
    const chunk = new TextEncoder().encode("x".repeat(1024 * 1024));
    let sent = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      sent += 1;
      if (sent > 64) controller.close();
      else controller.enqueue(chunk);
    };
    const respond = () => new Response(new ReadableStream({ pull }), { status });
    const response = await gatewayTo(respond).messages(run.key);
    expect(response.status).toBe(status === 200 ? 502 : status);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining(`anthropic returned ${status}`) },
    });
    expect(sent).toBeLessThan(20);
  });

  it("is estimated by the bytes of the request and response if it is invalid", async () => {
    const estimate = async (text: string, request: object) => {
      await gatewayTo(() => new Response(text)).messages(run.key, request);
      const [last] = (await calledEvents()).slice(-1);
      return [last.data.input_tokens, last.data.output_tokens];
    };
    const [input, output] = await estimate("€".repeat(100), { system: "" });
    expect(output).toBe(100);
    // One token per three bytes, plus what a provider adds.
    expect(input).toBeGreaterThan(1_000);
    expect(input).toBeLessThan(1_100);
    expect(await estimate("x".repeat(31), { system: "€".repeat(500) })).toEqual([input + 500, 11]);
  });

  it("is estimated if it streams to its end without usage", async () => {
    const gateway = gatewayTo(() => new Response('data: {"type":"message_stop"}\n\n', { headers: STREAM }));
    const response = await gateway.messages(run.key, { stream: true });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(await eventsIn(response)).toEqual(['{"type":"message_stop"}']);
    expect(await calledEvents()).toMatchObject([{ data: { is_estimated: true, cost_usd: expect.any(Number) } }]);
  });

  it("costs exactly the reserved amount if its usage is unknown", async () => {
    const paying = await runWithBudget();
    const { promise, resolve: respond } = Promise.withResolvers<Response>();
    const response = gatewayTo(() => promise).messages(paying.key, { max_tokens: 1_000 });
    await eventually(async () => expect((await readBudget(paying)).open).toBe(1));
    const [hold] = Object.values((await readBudget(paying)).holds);
    respond(new Response("{}"));
    expect((await response).status).toBe(200);
    const spent = hold?.amount ?? 0;
    // 1,000 tokens at $10 a million, and the request at $2: each of its bytes may be a token.
    expect(spent - 10_000_000).toBeGreaterThan(100_000);
    expect(spent - 10_000_000).toBeLessThan(5_000_000);
    expect(await readBudget(paying)).toMatchObject({ spent, left: 1_000_000_000 - spent, open: 0 });
    expect((await readRun(paying)).request_usage.inference_cost).toBeCloseTo(spent / 1e9, 9);
  });
});

describe("a model call", () => {
  it("is not sent and costs nothing if the caller has disconnected", async () => {
    const paying = await runWithBudget();
    const respond = vi.fn(completed);
    const gateway = gatewayTo(respond);
    const request = new Request(`${plane.ports.baseUrl}/model/anthropic/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": paying.key },
      body: JSON.stringify({ model: SONNET, messages: [], max_tokens: 1_000 }),
      signal: AbortSignal.abort(),
    });
    expect((await gateway.serve(request)).status).toBe(502);
    expect(respond).not.toHaveBeenCalled();
    expect(await readBudget(paying)).toMatchObject({ left: 1_000_000_000, spent: 0, open: 0 });
  });

  it("reads a budget only for a run that has one, or has called a model", async () => {
    const reads = async (caller: Harness) => {
      calls.length = 0;
      await gatewayTo(completed).messages(caller.key);
      return calls.filter((name) => name === "get RUN/BUDGET").length;
    };
    expect([await reads(run), await reads(run), await reads(await runWithBudget())]).toEqual([0, 1, 1]);
  });

  it("marks its run if it ends after the execution, so that the usage is read", async () => {
    const { promise, resolve: respond } = Promise.withResolvers<Response>();
    const response = gatewayTo(() => promise).messages(run.key);
    await run.shutDown();
    await (await nextExecution(plane)).resolve();
    const before = await plane.table.get(keys.head(run.run_id));
    expect(before).not.toHaveProperty("b");
    respond(completed());
    await response;
    const after = await plane.table.get(keys.head(run.run_id));
    expect(after).toMatchObject({ b: true, next_sequence: before?.["next_sequence"] });
  });

  it("is refused immediately if its run is deleted meanwhile, and is no longer watched after its end", async () => {
    const { promise, resolve: respond } = Promise.withResolvers<Response>();
    const gateway = createGateway(plane, NOWHERE, { watchMs: 5 }, { providers: { anthropic: () => promise } });
    const response = gateway.messages(run.key);
    await eventually(() => expect(calls.filter((name) => name === "get RUN/HEAD").length).toBeGreaterThan(2));
    const head = keys.head(run.run_id);
    const stored = await plane.table.get(head);
    await plane.table.write({ kind: "delete", key: head });
    expect((await response).status).toBe(401);
    if (stored !== undefined) await plane.table.write({ kind: "put", item: stored });
    respond(completed());
    await eventually(async () => expect(await calledEvents()).toHaveLength(1));
    await wait(20);
    calls.length = 0;
    await wait(30);
    expect(calls).toEqual([]);
  });
});

describe("the log of the model gateway", () => {
  const about = () => ({ run: run.run_id, execution: run.execution_id, model: SONNET });
  const levels = ({ logged }: ReturnType<typeof createGateway>) => logged.map(([level, message]) => [level, message]);

  it("contains each call with its usage and cost", async () => {
    const gateway = gatewayTo(completed);
    await gateway.messages(run.key);
    const usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0 };
    expect(gateway.logged).toEqual([["info", "a model was called", { ...about(), ...usage, cost_nano_usd: 400_000 }]]);
  });

  it("contains refusals by the provider, but none by the gateway", async () => {
    const gateway = gatewayTo(() => new Response("{}", { status: 400 }));
    await gateway.messages("sk-ant-123");
    await gateway.messages(run.key, { model: "anthropic/none" });
    expect(gateway.logged).toEqual([]);
    await gateway.messages(run.key);
    expect(gateway.logged).toEqual([["warn", "a model's provider refused", { ...about(), status: 400 }]]);
  });

  it("contains an unreachable provider, and reports a missing provider as a service error", async () => {
    const unreachable = gatewayTo(() => Promise.reject(new Error("unreachable")));
    expect((await unreachable.messages(run.key)).status).toBe(502);
    expect(levels(unreachable)).toEqual([["error", "a model could not be called"]]);
    const none = createGateway(plane, NOWHERE, undefined, { providers: {} });
    const response = await none.messages(run.key);
    expect([response.status, levels(none)]).toEqual([500, []]);
  });

  it("contains no credential that an error or its causes repeat", async () => {
    const cause = new Error("connect to http://me:hunter2@proxy.example:3128 with Bearer hunter2-token failed");
    const gateway = gatewayTo(() => Promise.reject(new Error("no route for sk-ant-verysecretkey000", { cause })));
    await gateway.messages(run.key);
    expect(gateway.logged).toMatchObject([["error", "a model could not be called", { error: { name: "Error" } }]]);
    const logged = JSON.stringify(gateway.logged);
    expect(logged).toContain("http://[redacted]@proxy.example:3128");
    expect(logged).not.toMatch(/hunter2|verysecretkey/);
  });

  it("contains a streamed response that could not be settled, and the caller still gets it", async () => {
    const events = `data: ${JSON.stringify({ type: "message_start", message: { usage: USAGE } })}\n\ndata: {"type":"message_stop"}\n\n`;
    const broken = { ...plane.table, write: () => Promise.reject(new Error("the table is unavailable")) };
    const gateway = gatewayTo(() => new Response(events, { headers: STREAM }), { table: broken });
    const response = await gateway.messages(run.key, { stream: true });
    expect(await response.text()).toBe(events);
    await eventually(() => expect(levels(gateway)).toEqual([["error", "a call of a model could not be settled"]]));
    expect(gateway.logged[0]?.[2]).toEqual({
      ...about(),
      error: { name: "Error", message: "the table is unavailable" },
    });
  });

  it("contains a call whose event was lost to concurrent changes; the call still succeeds and counts", async () => {
    const changed = new RunChangedError(new ConflictError(new Set(["head"])));
    const gateway = gatewayTo(completed, { runs: { ...plane.ports.runs, change: () => Promise.reject(changed) } });
    expect((await gateway.messages(run.key)).status).toBe(200);
    expect(levels(gateway)).toEqual([
      ["warn", "a model call was not added to the run's events"],
      ["info", "a model was called"],
    ]);
    const failing = gatewayTo(completed, {
      runs: { ...plane.ports.runs, change: () => Promise.reject(new Error("the table is unavailable")) },
    });
    expect((await failing.messages(run.key)).status).toBe(502);
  });
});
