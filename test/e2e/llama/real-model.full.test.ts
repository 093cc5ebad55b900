import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Message, TextBlock, type ToolSpec } from "@strands-agents/sdk";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHiddenTools } from "#harness/agent/hidden-tools.ts";
import { createModel } from "#harness/agent/model.ts";
import { client } from "../../support/api-client.ts";
import { startService, type TestService } from "../../support/service.ts";
import { type LlamaServer, startLlamaServer, WINDOW } from "./llama-server.ts";

/** The model reads its instructions for a minute where others use the processors, once per server. */
const SECONDS = 10 * 60;
const timeout = SECONDS * 1_000;
/** Words of no meaning, of about as many tokens. */
const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index % 10}`).join(" ");

/** A prompt that the server reads for a while, and whose answer is long. */
const writeLong = (subject: string) => `Write a very long story about ${subject} with these words: ${words(300)}`;

const Block = v.looseObject({ type: v.string(), name: v.optional(v.string()), data: v.optional(v.unknown()) });
const Conversation = v.object({
  steps: v.array(v.object({ messages: v.array(v.object({ content: v.array(Block) })) })),
});
const Compacted = v.object({ data: v.object({ window_tokens: v.optional(v.number()) }) });
const Events = v.object({ events: v.array(v.looseObject({ type: v.string() })) });
const Called = v.object({ data: v.object({ input_tokens: v.number() }) });
const Timeline = v.array(v.object({ event_type: v.string() }));

/**
 * What must hold with any model, shown with one that is too small to solve a task: SmolLM2-135M in llama.cpp's own server. Its template
 * has no place for tools.
 */
describe("a run with a real model", { timeout }, () => {
  let llama: LlamaServer;
  let directory: string;
  let service: TestService;
  const api = () => client(service);
  const create = (model: string, prompt: string, config: object = {}) =>
    api().create(prompt, { config: { model_id: `${model}/smollm2`, max_steps: 4, ...config } });
  const ended = (run: string) => api().ended(run, SECONDS);
  const listCalls = async (run: string) =>
    v
      .parse(Events, (await api().call("GET", `/agent/runs/${run}/events`)).body)
      .events.filter(({ type }) => type === "model_called");
  const countCalls = async (run: string) => (await listCalls(run)).length;
  const readInput = async (run: string) => v.parse(Called, (await listCalls(run)).at(0)).data.input_tokens;

  beforeAll(async () => {
    llama = await startLlamaServer();
    directory = await mkdtemp(path.join(tmpdir(), "runyard-llama-"));
    const provider = (name: string, model: object) => ({
      name,
      kind: "compatible",
      base_url: llama.url,
      models: [{ name: "smollm2", ...model }],
    });
    const providers = [
      provider("short", { output_tokens: 32 }),
      provider("cut", { output_tokens: 1 }),
      // The server refuses what exceeds its real window.
      provider("overstated", { output_tokens: 32, context_tokens: 32_768 }),
      provider("long", {}),
    ];
    await writeFile(path.join(directory, "runyard.json"), JSON.stringify({ providers }));
    service = await startService({ directory });
  }, timeout);
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await llama[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  });

  it("calls a tool by JSON, whose input fits the tool's schema", async () => {
    const { body } = await api().call("POST", "/agent/runs", {
      prompt: "Decide.",
      execution_location: "LOCAL",
      config: { model_id: "long/smollm2" },
    });
    const model = createModel({
      modelId: "long/smollm2",
      api: "chat",
      modelUrl: `${service.baseUrl}/model`,
      key: body.run_key,
      signal: new AbortController().signal,
      optional: [createHiddenTools()],
    });
    const inputSchema: ToolSpec["inputSchema"] = {
      type: "object",
      properties: { color: { enum: ["red", "green"] } },
      required: ["color"],
      additionalProperties: false,
    };
    const asked = new Message({ role: "user", content: [new TextBlock("Which color has a tomato?")] });
    const events = model.streamAggregated([asked], {
      toolSpecs: [{ name: "choose", description: "Chooses a color.", inputSchema }],
      toolChoice: { any: {} },
    });
    let next = await events.next();
    while (next.done !== true) next = await events.next();
    const [block] = next.value.message.content;
    expect(block).toMatchObject({
      type: "toolUseBlock",
      name: "choose",
      input: { color: expect.stringMatching(/^(red|green)$/) },
    });
    await api().call("POST", `/agent/runs/${body.run_id}/cancel`);
  });

  it("ends within its limits, as succeeded only with a text, and as failed only with a reason", async () => {
    const run = await create("short", "Run the command: echo hello");
    const { state, status_message } = await ended(run);
    expect(await countCalls(run)).toBeLessThanOrEqual(4);
    const { body } = await api().call("GET", `/agent/runs/${run}/response`);
    if (state === "SUCCEEDED") expect(body.text.trim()).not.toBe("");
    else expect([state, status_message.message]).toEqual(["FAILED", expect.stringMatching(/\w/)]);
  });

  it("fails if each of its responses is cut off, whatever they say", async () => {
    const run = await create("cut", "Say hello.", { max_steps: 10 });
    expect(await ended(run)).toMatchObject({
      state: "FAILED",
      status_message: { message: expect.stringContaining("truncated at the token limit") },
    });
    expect(await countCalls(run)).toBe(4);
  });

  it("summarizes its conversation when the server refuses it as too long", async () => {
    const run = await create("overstated", "Say hello.", { max_steps: 12 });
    await ended(run);
    // Either follow-up fits, and both do not. Each word is two tokens.
    const long = words(((WINDOW - (await readInput(run))) * 0.6) / 2);
    await api().call("POST", `/agent/runs/${run}/followups`, { message: `Say hello, whatever follows. ${long}` });
    await ended(run);
    await api().call("POST", `/agent/runs/${run}/followups`, { message: `Say hello again. ${long}` });
    const { state, status_message } = await ended(run);
    expect(["SUCCEEDED", "FAILED"]).toContain(state);
    expect(status_message?.message ?? "").not.toContain("context window");
    const { body } = await api().call("GET", `/agent/runs/${run}/conversation`);
    const blocks = v
      .parse(Conversation, body)
      .steps.flatMap(({ messages }) => messages.flatMap(({ content }) => content));
    const compaction = v.parse(
      Compacted,
      blocks.find(({ name }) => name === "conversation_compacted"),
    );
    expect(compaction.data.window_tokens, "the server's window is less than its description").toBeLessThan(32_768);
  });

  it("shares its server with another run, and each one ends", async () => {
    const runs = await Promise.all(["Say red.", "Say green."].map((prompt) => create("short", prompt)));
    const states = (await Promise.all(runs.map(ended))).map(({ state }) => state);
    for (const state of states) expect(["SUCCEEDED", "FAILED"]).toContain(state);
    await expect.poll(llama.countBusy).toBe(0);
  });

  it("stops the generation of the server within two seconds after it is cancelled", async () => {
    // What else the machine does delays all that takes place; the shortest of five times shows what the service adds.
    const times: number[] = [];
    for (let attempt = 0; attempt < 5 && !times.some((time) => time <= 2_000); attempt++) {
      const run = await create("long", writeLong("cats"), { max_steps: 100 });
      await expect.poll(llama.countBusy, { interval: 50 }).toBe(1);
      const before = Date.now();
      await api().call("POST", `/agent/runs/${run}/cancel`);
      await expect.poll(llama.countBusy, { interval: 50 }).toBe(0);
      times.push(Date.now() - before);
      expect((await ended(run)).state).toBe("CANCELLED");
    }
    expect(Math.min(...times)).toBeLessThanOrEqual(2_000);
    const generated = await llama.readMetric("tokens_predicted_total");
    expect(await llama.countBusy()).toBe(0);
    expect(await llama.readMetric("tokens_predicted_total"), "nothing is generated afterwards").toBe(generated);
  });

  it("continues after a restart of the service", async () => {
    const run = await create("short", writeLong("dogs"));
    await expect.poll(llama.countBusy, { interval: 50 }).toBe(1);
    await service.stop();
    await expect.poll(llama.countBusy, { interval: 50 }).toBe(0);
    service = await startService({ directory });
    expect(["SUCCEEDED", "FAILED"]).toContain((await ended(run)).state);
    const events = v.parse(Timeline, await api().timeline(run)).map(({ event_type }) => event_type);
    expect(events).toContain("execution_lost");
    expect(await countCalls(run)).toBeGreaterThan(0);
  });
});
