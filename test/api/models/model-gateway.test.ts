import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { toUsd } from "#shared/records/money.ts";
import { keys } from "#shared/table/keys.ts";
import { eventually } from "../../server/support/eventually.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { type Harness, nextExecution, startedRun, workingRun } from "../../support/execution.ts";
import { createGateway, eventsIn, type Gateway, SONNET, stubModelSettings } from "../../support/gateway.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";

let plane: TestControlPlane;
let standIn: ModelStandIn;
let gateway: Gateway;
let run: Harness;
beforeEach(async () => {
  stubModelSettings();
  plane = await createTestControlPlane();
  standIn = await ModelStandIn.start();
  gateway = createGateway(plane, standIn);
  run = await workingRun(plane);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await standIn[Symbol.asyncDispose]();
});

const item = async (runId = run.run_id) => (await createClient(plane).get(`/agent/runs/${runId}`)).body;
const stream = { stream: true };

describe("POST {model_url}/anthropic/v1/messages", () => {
  it("responds like Anthropic, with the deployment's key and not the run's", async () => {
    standIn.turns.push({ text: "hi", tools: [{ name: "run_command", input: { command: "ls" } }] });
    const response = await gateway.messages(run.key, { model: "claude-sonnet-5-5" }, { "anthropic-beta": "some-beta" });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      type: "message",
      content: [
        { type: "text", text: "hi" },
        { type: "tool_use", name: "run_command", input: { command: "ls" } },
      ],
    });
    const [seen] = standIn.seen;
    expect(seen?.headers).toMatchObject({ "x-api-key": "the-key-of-anthropic", "anthropic-beta": "some-beta" });
    expect(seen?.body).toMatchObject({ model: "claude-sonnet-5-5", max_tokens: 1_000 });
    expect(JSON.stringify(standIn.seen)).not.toContain(run.key);
  });

  it("accepts the key as a bearer token", async () => {
    const headers = { authorization: `Bearer ${run.key}` };
    const request = new Request(`${plane.ports.baseUrl}/model/anthropic/v1/messages`, {
      method: "POST",
      headers,
      body: JSON.stringify({ model: SONNET, max_tokens: 10, messages: [] }),
    });
    expect((await gateway.serve(request)).status).toBe(200);
    expect(standIn.seen[0]?.headers.authorization).toBeUndefined();
  });

  // @contract runs.item.usage: request_usage has the run's cost.
  // @contract runs.item.inference: inference_cost_usd is the cost of model calls.
  // @contract runs.item.tokens: request_usage has input, output and cache tokens.
  // @contract runs.item.categories: model_token_usage has the tokens by category.
  it("streams event by event, and counts the usage", async () => {
    standIn.turns.push({
      text: "hello there",
      usage: { input: 1_000, output: 50, cacheRead: 10_000, cacheWrite: 100 },
    });
    const response = await gateway.messages(run.key, stream);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const types = (await eventsIn(response)).map((data) => JSON.parse(data).type);
    expect(types).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    // 1,000 × $2 + 10,000 × $0.10 + 100 × $2.50 + 50 × $10, each a million.
    expect((await item()).request_usage).toEqual({
      ...{ inference_cost: 0.00375, inference_cost_usd: 0.00375, total_tokens: 11_150 },
      ...{ input_tokens: 11_100, output_tokens: 50, cache_read_tokens: 10_000, cache_write_tokens: 100 },
      model_token_usage: [
        {
          model_id: "anthropic/claude-sonnet-5-5",
          total_tokens: 11_150,
          tokens_by_category: { input: 1_000, output: 50, cache_read: 10_000, cache_write: 100 },
        },
      ],
      tree: { cost_usd: 0.00375, total_tokens: 11_150, runs: 1 },
    });
  });

  // @contract runs.item.usage
  it("shows a run's usage in lists, summed over its calls, and none without a call", async () => {
    await gateway.messages(run.key);
    await (await gateway.messages(run.key, stream)).text();
    const silent = await workingRun(plane);
    const { runs } = (await createClient(plane).get("/agent/runs")).body;
    const usage = Object.fromEntries(
      runs.map((one: { run_id: string; request_usage?: object }) => [one.run_id, one.request_usage]),
    );
    expect(usage).toMatchObject({
      [run.run_id]: { inference_cost: 0.0008, total_tokens: 240, input_tokens: 200, output_tokens: 40 },
    });
    expect(usage[run.run_id]).not.toHaveProperty("tree");
    expect(usage[silent.run_id]).toBeUndefined();
  });
});

describe("the events of a run", () => {
  const calls = async (runId = run.run_id) => {
    const { body } = await createClient(plane).get(`/agent/runs/${runId}/events`);
    return body.events.filter(({ type }: { type: string }) => type === "model_called");
  };

  it("have one for each model call, and their costs add up to the run's", async () => {
    standIn.turns.push({
      text: "hello there",
      usage: { input: 1_000, output: 50, cacheRead: 10_000, cacheWrite: 100 },
    });
    await (await gateway.messages(run.key, stream)).text();
    await gateway.chat(run.key, { max_tokens: 100 });
    const [first, second] = await calls();
    expect(first.data).toEqual({
      model_id: SONNET,
      input_tokens: 11_100,
      output_tokens: 50,
      cache_read_tokens: 10_000,
      cache_write_tokens: 100,
      cost_usd: 0.00375,
      duration_ms: expect.any(Number),
      execution_id: run.execution_id,
    });
    expect(second.data).toEqual({
      model_id: "openai/gpt-5.4",
      input_tokens: 100,
      output_tokens: 20,
      cost_usd: 0.00027,
      duration_ms: expect.any(Number),
      execution_id: run.execution_id,
    });
    expect((await item()).request_usage).toMatchObject({
      inference_cost: first.data.cost_usd + second.data.cost_usd,
      total_tokens: 11_270,
      model_token_usage: [
        { model_id: "anthropic/claude-sonnet-5-5", total_tokens: 11_150 },
        { model_id: "openai/gpt-5.4", total_tokens: 120 },
      ],
    });
    const { body } = await createClient(plane).get(`/agent/runs/${run.run_id}/timeline`);
    expect(body.events.map(({ event_type }: { event_type: string }) => event_type)).not.toContain("model_called");
  });

  it("mark a call with an incomplete response as estimated, and have none for a refused call", async () => {
    standIn.turns.push({ status: 400 });
    await gateway.messages(run.key);
    expect(await calls()).toEqual([]);
    standIn.turns.push({ text: "hello there", usage: { input: 500 }, cutAfter: 3, pauseMs: 5 });
    await (await gateway.messages(run.key, stream)).text();
    expect(await calls()).toMatchObject([{ data: { is_estimated: true } }]);
  });

  it("have the duration of a call, and its cost if that is known", async () => {
    standIn.turns.push({ status: 429, headers: { "retry-after": "7" } });
    await gateway.chat(run.key, { model: "compatible/llama" });
    const [event] = await calls();
    expect(event.data).toEqual({
      model_id: "compatible/llama",
      input_tokens: 100,
      output_tokens: 20,
      duration_ms: 7_000,
      execution_id: run.execution_id,
    });
  });

  it("count tokens written to the five-minute and one-hour caches", async () => {
    const usage = {
      input_tokens: 1,
      output_tokens: 2,
      cache_creation_input_tokens: 10,
      cache_creation: { ephemeral_1h_input_tokens: 4 },
    };
    standIn.turns.push({ raw: JSON.stringify({ type: "message", usage }) });
    await gateway.messages(run.key);
    expect(await calls()).toMatchObject([{ data: { input_tokens: 11, cache_write_tokens: 10 } }]);
  });

  it("have none for a call that ends after its execution, whose usage is counted", async () => {
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    standIn.turns.push({ after: promise });
    const call = gateway.messages(run.key);
    await eventually(() => expect(standIn.seen).toHaveLength(1));
    await run.shutDown();
    await (await nextExecution(plane)).resolve();
    finish();
    await call;
    expect((await item()).request_usage).toMatchObject({ total_tokens: 120 });
    expect(await calls()).toEqual([]);
  });

  it("include model calls up to 25,000 events, and the usage of later calls is still counted", async () => {
    const setSequence = (next_sequence: number) =>
      plane.table.write({ kind: "update", key: keys.head(run.run_id), set: { next_sequence } });
    const nextSequence = async () => (await plane.table.get(keys.head(run.run_id)))?.["next_sequence"];
    await setSequence(25_000);
    await gateway.messages(run.key);
    expect(await nextSequence()).toBe(25_001);
    await gateway.messages(run.key);
    expect(await nextSequence()).toBe(25_001);
    expect((await item()).request_usage).toMatchObject({ total_tokens: 240 });
    const other = await workingRun(plane);
    await plane.table.write({ kind: "update", key: keys.head(other.run_id), set: { next_sequence: 25_001 } });
    await gateway.messages(other.key);
    expect((await item(other.run_id)).request_usage).toMatchObject({ total_tokens: 120 });
  });
});

describe("POST {model_url}/openai/v1/…", () => {
  it("returns chat completions like OpenAI", async () => {
    const response = await gateway.chat(run.key, { max_tokens: 100 });
    expect(await response.json()).toMatchObject({ object: "chat.completion", usage: { total_tokens: 120 } });
    expect(standIn.seen[0]?.headers.authorization).toBe("Bearer the-key-of-openai");
    expect(standIn.seen[0]?.body).toMatchObject({ model: "gpt-5.4", max_tokens: 100 });
    expect((await item()).request_usage).toMatchObject({ inference_cost: 0.00027, total_tokens: 120 });
  });

  it("cost more for long input if the provider's price is higher", async () => {
    standIn.turns.push({ usage: { input: 272_000, output: 10 } }, { usage: { input: 272_001, output: 10 } });
    await gateway.chat(run.key);
    // 272,000 × $1.50 + 10 × $6, each per million.
    expect((await item()).request_usage.inference_cost).toBe(0.40806);
    const other = await workingRun(plane);
    await gateway.chat(other.key);
    // The price of input doubles, and that of output is 1.5 times as high.
    expect((await item(other.run_id)).request_usage.inference_cost).toBeCloseTo(0.816093, 9);
  });

  it("requests usage in a stream, and removes it for callers that did not request it", async () => {
    const events = await eventsIn(await gateway.chat(run.key, stream));
    expect(events.at(-1)).toBe("[DONE]");
    expect(events.slice(0, -1).every((data) => JSON.parse(data).choices.length === 1)).toBe(true);
    expect((await item()).request_usage).toMatchObject({ total_tokens: 120 });
    const requested = await eventsIn(
      await gateway.chat(run.key, { ...stream, stream_options: { include_usage: true } }),
    );
    expect(requested).toHaveLength(events.length + 1);
  });

  it("returns responses like OpenAI, streamed or not", async () => {
    const tools = [{ name: "read_files", input: { paths: ["a"] } }];
    standIn.turns.push({ tools }, { text: "done" });
    const response = await gateway.responses(run.key);
    expect(await response.json()).toMatchObject({ object: "response", output: [{ type: "function_call" }] });
    const events = await eventsIn(await gateway.responses(run.key, stream));
    expect(JSON.parse(events.at(-1) ?? "")).toMatchObject({ type: "response.completed" });
    expect((await item()).request_usage).toMatchObject({ total_tokens: 240 });
  });

  // @contract runs.item.custom-endpoint: usage_type is custom_endpoint for a compatible server.
  it("sends no key to a custom server without one, and counts tokens without a cost", async () => {
    expect((await gateway.chat(run.key, { model: "compatible/llama" })).status).toBe(200);
    expect(standIn.seen[0]?.headers.authorization).toBeUndefined();
    expect(standIn.seen[0]?.body.model).toBe("llama");
    expect((await item()).request_usage).toMatchObject({
      inference_cost: 0,
      total_tokens: 120,
      model_token_usage: [{ total_tokens: 120, usage_type: "custom_endpoint" }],
    });
  });
});

describe("models of Bedrock", () => {
  const model = "bedrock/global.anthropic.claude-sonnet-5-5";

  it("use the Messages API", async () => {
    const response = await gateway.messages(run.key, { model }, { "anthropic-beta": "one, two" });
    expect(await response.json()).toMatchObject({ type: "message", content: [{ text: "hello" }] });
    expect(standIn.seen[0]?.path).toBe("/model/global.anthropic.claude-sonnet-5-5/invoke");
    expect(standIn.seen[0]?.body).toMatchObject({
      anthropic_version: "bedrock-2023-05-31",
      anthropic_beta: ["one", "two"],
      max_tokens: 1_000,
    });
    expect(standIn.seen[0]?.body).not.toHaveProperty("model");
    expect(standIn.seen[0]?.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 .*bedrock/);
  });

  it("stream events of that API", async () => {
    const response = await gateway.messages(run.key, { model, ...stream });
    const events = await eventsIn(response);
    expect(JSON.parse(events[0] ?? "").type).toBe("message_start");
    expect(JSON.parse(events.at(-1) ?? "").type).toBe("message_stop");
    expect((await item()).request_usage).toMatchObject({ total_tokens: 120 });
  });

  it("are retried when throttled, and then return the Messages API's error", async () => {
    standIn.otherwise = { status: 429, headers: { "x-amzn-errortype": "ThrottlingException" } };
    const response = await gateway.messages(run.key, { model });
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({
      type: "error",
      error: {
        type: "rate_limit_error",
        message: expect.stringMatching(/^bedrock returned 429: .+ New accounts have low quotas\. Request more /),
      },
    });
    expect(standIn.seen).toHaveLength(4);
  });
});

describe("callers of the model gateway", () => {
  const refused = async (response: Promise<Response>) => {
    const { status } = await response;
    return status;
  };

  it("need the key of the current execution: 401 for an invalid or revoked key, in each API's format", async () => {
    const anthropic = await gateway.messages("sk-ant-123");
    expect(anthropic.status).toBe(401);
    expect(await anthropic.json()).toEqual({
      type: "error",
      error: { type: "authentication_error", message: "the API key is malformed" },
    });
    await run.finish();
    const openai = await gateway.chat(run.key);
    expect(openai.status).toBe(401);
    expect(await openai.json()).toMatchObject({ error: { type: "authentication_error", code: null } });
    expect(standIn.seen).toEqual([]);
  });

  it("are authenticated by x-api-key first", async () => {
    const headers = { authorization: "Bearer nothing" };
    expect((await gateway.messages(run.key, {}, headers)).status).toBe(200);
  });

  it("are refused with 403 for a person's key, and before the execution has begun", async () => {
    expect(await refused(gateway.messages(plane.key))).toBe(403);
    const started = await startedRun(plane);
    expect(await refused(gateway.messages(started.key))).toBe(403);
  });

  it("are refused for a cancelled run, whose key can only confirm the stop", async () => {
    await createClient(plane).post(`/agent/runs/${run.run_id}/cancel`);
    expect(await refused(gateway.messages(run.key))).toBe(401);
  });

  it("are limited to the first harness", async () => {
    expect(await refused(gateway.messages(run.key, {}, { "runyard-instance": "another" }))).toBe(409);
  });

  it("begin a run that its caller executes, like any first call", async () => {
    const { body } = await createClient(plane).post("/agent/runs", { prompt: "x", execution_location: "LOCAL" });
    expect(await refused(gateway.messages(body.run_key))).toBe(200);
    expect((await item(body.run_id)).state).toBe("INPROGRESS");
  });
});

describe("the model gateway", () => {
  it("refuses models that are unknown, not offered, or of another API", async () => {
    vi.stubEnv("DISABLED_MODELS", "anthropic/claude-opus-5-5");
    for (const model of ["anthropic/none", "openai/gpt-5.4", "local/runbook", "anthropic/claude-opus-5-5"]) {
      const response = await gateway.messages(run.key, { model });
      expect([model, response.status]).toEqual([model, 400]);
      expect(await response.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
    }
    expect((await gateway.chat(run.key, { model: SONNET })).status).toBe(400);
  });

  it("refuses features whose prices are not tracked", async () => {
    for (const premium of [{ speed: "fast" }, { service_tier: "priority" }]) {
      expect((await gateway.messages(run.key, premium)).status).toBe(400);
      expect((await gateway.chat(run.key, premium)).status).toBe(400);
    }
    expect((await gateway.messages(run.key, { service_tier: "auto" })).status).toBe(200);
  });

  it("refuses bodies without a model, and bodies that are too large", async () => {
    expect((await gateway.call("/anthropic/v1/messages", run.key, "no json")).status).toBe(400);
    expect((await gateway.call("/openai/v1/responses", run.key, { input: "x" })).status).toBe(400);
    const large = await gateway.messages(run.key, { system: "x".repeat(5 * 1024 * 1024) });
    expect(large.status).toBe(413);
    expect(await large.json()).toMatchObject({ error: { type: "request_too_large" } });
  });

  it("accepts a body of 5 MiB, and refuses a longer one by its length or before it is read", async () => {
    const limit = 5 * 1024 * 1024;
    const send = (bytes: number, headers = {}) => {
      const body = { model: SONNET, max_tokens: 10, messages: [], system: "" };
      const system = "x".repeat(bytes - JSON.stringify(body).length);
      return gateway.call("/anthropic/v1/messages", run.key, JSON.stringify({ ...body, system }), headers);
    };
    const length = (bytes: number) => ({ "content-length": String(bytes) });
    for (const headers of [{}, length(limit)]) expect((await send(limit, headers)).status).toBe(200);
    const refused = [await send(limit + 1), await send(1_000, length(limit + 1))];
    expect(refused.map(({ status }) => status)).toEqual([413, 413]);
    for (const response of refused) expect(await response.text()).toContain("at most 5242880 bytes");
  });

  it("stops reading a body without a length and without an end at the limit", async () => {
    const chunk = Buffer.alloc(256 * 1024, "x");
    let sent = 0;
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      // Ends after 64 MiB, which is far above the limit, so that a gateway that reads all of it fails the test only.
      pull(controller) {
        if (sent >= 64 * 1024 * 1024) return controller.close();
        sent += chunk.length;
        controller.enqueue(chunk);
      },
      cancel() {
        isCancelled = true;
      },
    });
    const url = `${plane.ports.baseUrl}/model/anthropic/v1/messages`;
    const headers = { "content-type": "application/json", "x-api-key": run.key };
    const response = await gateway.serve(new Request(url, { method: "POST", headers, body, duplex: "half" }));
    expect([response.status, isCancelled]).toEqual([413, true]);
    expect(await response.json()).toMatchObject({ error: { type: "request_too_large" } });
    expect(sent).toBeLessThan(6 * 1024 * 1024);
  });

  it("refuses other paths and methods", async () => {
    const message =
      "the model gateway is available at /anthropic/v1/messages, /openai/v1/chat/completions, /openai/v1/responses";
    const response = await gateway.call("/anthropic/v1/complete", run.key, {});
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ type: "error", error: { type: "not_found_error", message } });
    const other = await gateway.call("/openai/v1/embeddings", run.key, {});
    expect([other.status, await other.json()]).toMatchObject([404, { error: { message, param: null } }]);
    const get = await gateway.serve(new Request(`${plane.ports.baseUrl}/model/openai/v1/responses`));
    expect([get.status, get.headers.get("allow")]).toEqual([405, "POST"]);
  });
});

describe("a failing provider", () => {
  it("is retried with increasing pauses, or the requested ones", async () => {
    standIn.turns.push({ status: 529 }, { status: 429, headers: { "retry-after": "7" } }, { dead: true });
    expect((await gateway.messages(run.key)).status).toBe(200);
    expect(standIn.seen).toHaveLength(4);
    const [first = 0, second, third = 0] = gateway.pauses;
    expect(first).toBeGreaterThanOrEqual(375);
    expect(second).toBe(7_000);
    expect(third).toBeGreaterThanOrEqual(1_500);
    expect((await item()).request_usage).toMatchObject({ total_tokens: 120 });
  });

  it.each([429, 500, 529])("passes a final %s on with its provider, and counts nothing", async (status) => {
    standIn.otherwise = { status, headers: { "retry-after": "3" } };
    const response = await gateway.messages(run.key, stream);
    expect([response.status, response.headers.get("retry-after")]).toEqual([status, "3"]);
    expect(await response.json()).toMatchObject({
      type: "error",
      error: { message: expect.stringContaining(`anthropic returned ${status}: the stand-in returns ${status}.`) },
    });
    expect(standIn.seen).toHaveLength(4);
    expect((await item()).request_usage).toEqual({ tree: { cost_usd: 0, total_tokens: 0, runs: 1 } });
  });

  it("is not retried if it requests a delay of minutes or reports that retrying is useless", async () => {
    standIn.turns.push({ status: 429, headers: { "retry-after": "60" } });
    expect((await gateway.messages(run.key)).status).toBe(429);
    standIn.turns.push({ status: 500, headers: { "x-should-retry": "false" } }, { status: 400 });
    expect((await gateway.messages(run.key)).status).toBe(500);
    expect((await gateway.messages(run.key)).status).toBe(400);
    expect(standIn.seen).toHaveLength(3);
  });

  it("does not reveal the deployment's key problem to the run", async () => {
    standIn.turns.push({ status: 401 });
    const response = await gateway.messages(run.key);
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ error: { type: "api_error" } });
  });

  it("causes a 502 if it cannot be reached", async () => {
    await standIn[Symbol.asyncDispose]();
    const response = await gateway.chat(run.key);
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { type: "server_error" } });
  });

  it("causes one 504 if it does not begin to respond in time", async () => {
    const slow = createGateway(plane, standIn, { firstByteMs: 50 });
    standIn.turns.push({ pauseMs: 2_000 });
    expect((await slow.messages(run.key)).status).toBe(504);
    expect(standIn.seen).toHaveLength(1);
    expect((await item()).request_usage, "counts nothing without a budget").toEqual({
      tree: { cost_usd: 0, total_tokens: 0, runs: 1 },
    });
  });

  it("causes a 502 for an invalid response, with estimated tokens", async () => {
    standIn.turns.push({ raw: "busy" });
    expect((await gateway.messages(run.key)).status).toBe(502);
    expect((await item()).request_usage.total_tokens).toBeGreaterThan(1_000);
  });

  it("ends a broken stream with an error of the API, and counts what was sent", async () => {
    standIn.turns.push({ text: "x".repeat(600), usage: { input: 500 }, cutAfter: 5, pauseMs: 5 });
    const events = await eventsIn(await gateway.messages(run.key, stream));
    expect(JSON.parse(events.at(-1) ?? "")).toMatchObject({ type: "error", error: { type: "api_error" } });
    expect((await item()).request_usage.total_tokens).toBe(500 + 207);
    standIn.turns.push({ cutAfter: 2, pauseMs: 5 }, { cutAfter: 2, pauseMs: 5 });
    const chat = await eventsIn(await gateway.chat(run.key, stream));
    expect(JSON.parse(chat.at(-1) ?? "")).toMatchObject({ error: { type: "server_error" } });
    const responses = await eventsIn(await gateway.responses(run.key, stream));
    expect(JSON.parse(responses.at(-1) ?? "")).toMatchObject({ type: "error" });
  });

  it("ends the response when it stalls in the middle of a stream", async () => {
    const impatient = createGateway(plane, standIn, { silenceMs: 40 });
    standIn.turns.push({ pauseMs: 1_000 });
    const events = await eventsIn(await impatient.messages(run.key, stream));
    expect(JSON.parse(events.at(-1) ?? "")).toMatchObject({ type: "error" });
    await eventually(() => expect(standIn.hungUp).toBe(1));
  });
});

describe("a model call of an ended execution", () => {
  it("ends immediately for its caller, and the provider's response is read to its end and counted", async () => {
    const watchful = createGateway(plane, standIn, { watchMs: 20 });
    standIn.turns.push({ text: "a long story", pauseMs: 100 });
    const response = await watchful.messages(run.key, stream);
    await createClient(plane).post(`/agent/runs/${run.run_id}/cancel`);
    const events = await eventsIn(response);
    expect(JSON.parse(events.at(-1) ?? "")).toMatchObject({ type: "error" });
    expect(standIn.open).toBe(1);
    await eventually(async () => expect((await item()).request_usage).toMatchObject({ total_tokens: 120 }));
    expect(standIn.hungUp).toBe(0);
  });

  it("continues while its execution is the current one, and ends with the next one", async () => {
    const watchful = createGateway(plane, standIn, { watchMs: 5 });
    standIn.turns.push({ pauseMs: 60 }, { pauseMs: 5_000 });
    expect((await watchful.messages(run.key)).status).toBe(200);
    const call = watchful.messages(run.key);
    await run.shutDown();
    await (await nextExecution(plane)).resolve();
    expect((await call).status).toBe(401);
  });

  it("returns 401 if no response had begun", async () => {
    const watchful = createGateway(plane, standIn, { watchMs: 20 });
    standIn.turns.push({ pauseMs: 5_000 });
    const call = watchful.messages(run.key);
    await createClient(plane).post(`/agent/runs/${run.run_id}/cancel`);
    expect((await call).status).toBe(401);
  });

  it("is also read to its end when its caller disconnects", async () => {
    standIn.turns.push({ pauseMs: 50 });
    const response = await gateway.messages(run.key, stream);
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await eventually(async () => expect((await item()).request_usage).toMatchObject({ total_tokens: 120 }));
    expect(standIn.hungUp).toBe(0);
  });
});

describe("the head of a run", () => {
  it("has a one-letter flag for its budget, and stays below 1 KB", async () => {
    const before = await plane.table.get(keys.head(run.run_id));
    await gateway.messages(run.key);
    const after = await plane.table.get(keys.head(run.run_id));
    expect(after).toEqual({ ...before, b: true, next_sequence: Number(before?.["next_sequence"]) + 1 });
    expect(toUsd(1_000_000_000)).toBe(1);
  });
});
