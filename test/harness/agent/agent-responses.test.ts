import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Message, TextBlock } from "@strands-agents/sdk";
import { describe, expect, it } from "vitest";
import { findInputFault } from "#harness/agent/dialects/tool-input.ts";
import { toFailure } from "#harness/agent/failures.ts";
import { createModel } from "#harness/agent/model.ts";
import { startServer } from "../../support/http-server.ts";

type ResponseBody = string | ((response: ServerResponse) => unknown);

const MODELS = { messages: "anthropic/some", chat: "compatible/some", responses: "openai/some" } as const;
type Api = keyof typeof MODELS;

const stream = (...events: (object | string)[]) =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");

/** Returns what the agent's loop gets from a response. */
async function receive(api: Api, result: ResponseBody, limits = {}) {
  const server = createServer((_, response) => {
    if (typeof result === "string") response.end(result);
    else result(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const signal = new AbortController().signal;
  const model = createModel({ modelId: MODELS[api], modelUrl: `http://127.0.0.1:${port}`, key: "key", signal, limits });
  try {
    const events = model.streamAggregated([new Message({ role: "user", content: [new TextBlock("Hello.")] })]);
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const failure = (api: Api, response: ResponseBody, limits?: object) =>
  receive(api, response, limits).then(
    () => "no failure",
    (error: unknown) => toFailure(error),
  );

const call = (name: string, text: string) => ({ function: { name, arguments: text } });
const finish = (reason: string) => ({ choices: [{ delta: {}, finish_reason: reason }] });
const createDelta = (content: string) => ({ choices: [{ delta: { content }, finish_reason: null }] });

describe("a response of Chat Completions", () => {
  it("keeps its text and all its calls, also interleaved ones", async () => {
    const part = (index: number, part: object) => ({ choices: [{ delta: { tool_calls: [{ index, ...part }] } }] });
    const { message, stopReason } = await receive(
      "chat",
      stream(
        createDelta("I look"),
        createDelta(" twice."),
        part(0, { id: "same", ...call("read", '{"a"') }),
        part(1, { id: "same", ...call("search", "") }),
        part(0, { function: { arguments: ":1}" } }),
        part(1, { function: { arguments: '{"b":2}' } }),
        finish("stop"),
        { choices: [], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } },
        "[DONE]",
      ),
    );
    expect(stopReason).toBe("toolUse");
    expect(message.content).toMatchObject([
      { type: "textBlock", text: "I look twice." },
      { name: "read", input: { a: 1 } },
      { name: "search", input: { b: 2 } },
    ]);
    const ids = message.content.flatMap((block) => (block.type === "toolUseBlock" ? [block.toolUseId] : []));
    expect([ids[0], new Set(ids).size]).toEqual(["same", 2]);
    expect(message.metadata?.usage).toMatchObject({ inputTokens: 5, outputTokens: 7 });
  });

  it("can be unstreamed, a refusal, truncated, or have malformed calls", async () => {
    const whole = (message: object, finish_reason: string) => JSON.stringify({ choices: [{ message, finish_reason }] });
    expect((await receive("chat", whole({ content: "Hello." }, "stop"))).message.content).toMatchObject([
      { text: "Hello." },
    ]);
    const refused = await receive("chat", whole({ content: null, refusal: "No." }, "stop"));
    expect([refused.stopReason, refused.message.content]).toMatchObject(["contentFiltered", [{ text: "No." }]]);
    await expect(receive("chat", whole({ content: "Half" }, "length"))).rejects.toThrow(/maximum token limit/);
    const broken = await receive("chat", whole({ tool_calls: [call("read", "[1]"), call("read", "")] }, "tool_calls"));
    const inputs = broken.message.content.flatMap((block) => (block.type === "toolUseBlock" ? [block.input] : []));
    expect(inputs.map(findInputFault)).toEqual([expect.stringContaining("it starts with: [1]"), undefined]);
    const none = await receive("chat", whole({ content: "Done.", tool_calls: [] }, "tool_calls"));
    expect(none.stopReason).toBe("endTurn");
  });
});

describe("a response of the Messages API", () => {
  const start = { type: "message_start", message: { usage: { input_tokens: 3 } } };
  const block = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block });
  const delta = (index: number, delta: object) => ({ type: "content_block_delta", index, delta });
  const end = (stop_reason: string) => ({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 4 } });

  it("keeps its thinking with the signature, and drops unrequested content", async () => {
    const { message, stopReason } = await receive(
      "messages",
      stream(
        start,
        { type: "ping" },
        block(0, { type: "thinking", thinking: "" }),
        delta(0, { type: "signature_delta", signature: "signed" }),
        block(1, { type: "redacted_thinking", data: "hidden" }),
        block(2, { type: "server_tool_use", id: "1", name: "web_search", input: {} }),
        block(3, { type: "text", text: "" }),
        delta(3, { type: "text_delta", text: "I look." }),
        delta(3, { type: "something_new" }),
        block(4, { type: "tool_use", id: "same", name: "read", input: {} }),
        delta(4, { type: "input_json_delta", partial_json: '{"a":' }),
        delta(4, { type: "input_json_delta", partial_json: "1}" }),
        { type: "something_new" },
        end("end_turn"),
        { type: "message_stop" },
      ),
    );
    expect(stopReason).toBe("toolUse");
    expect(message.content).toMatchObject([
      { type: "reasoningBlock", signature: "signed" },
      { type: "reasoningBlock", redactedContent: "hidden" },
      { type: "textBlock", text: "I look." },
      { type: "toolUseBlock", name: "read", input: { a: 1 } },
    ]);
    expect(message.metadata?.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  });

  it("fails if the provider fails in the middle of it, permanently or not", async () => {
    const error = (type: string) => stream(start, { type: "error", error: { type, message: "no more" } });
    expect(await failure("messages", error("overloaded_error"))).toEqual({
      status: 502,
      message: "no more",
      isRetryable: true,
    });
    expect(await failure("messages", error("invalid_request_error"))).toMatchObject({ isRetryable: false });
  });
});

describe("a response of the Responses API", () => {
  const output = [
    { type: "reasoning", summary: [] },
    { type: "message", content: [{ type: "output_text", text: "I look." }] },
    { type: "function_call", id: "1", call_id: "same", name: "read", arguments: '{"a":1}' },
  ];
  const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };

  it("is the content of its last event, or the content sent before", async () => {
    const done = output.map((item) => ({ type: "response.output_item.done", item }));
    for (const response of [
      { status: "completed", output, usage },
      { status: "completed", output: [], usage },
    ]) {
      const { message, stopReason } = await receive(
        "responses",
        stream(...done, { type: "response.completed", response }),
      );
      expect(stopReason).toBe("toolUse");
      expect(message.content).toMatchObject([{ text: "I look." }, { name: "read", input: { a: 1 } }]);
    }
  });

  it("can be truncated, a refusal, or a failure", async () => {
    const cut = {
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: output.slice(1, 2),
    };
    const events = stream({ type: "response.incomplete", response: cut });
    await expect(receive("responses", events)).rejects.toThrow(/maximum token limit/);
    const refusal = [{ type: "message", content: [{ type: "refusal", refusal: "No." }] }];
    const refused = await receive("responses", JSON.stringify({ status: "completed", output: refusal }));
    expect(refused.message.content).toMatchObject([{ text: "No." }]);
    const error = { code: "server_error", message: "it broke" };
    const failed = stream({ type: "response.failed", response: { status: "failed", error, output: [] } });
    expect(await failure("responses", failed)).toEqual({
      status: 502,
      message: "it broke",
      isRetryable: true,
    });
    expect(await failure("responses", stream({ type: "error", ...error }))).toMatchObject({ message: "it broke" });
  });
});

describe("an invalid response", () => {
  const ends: [string, ResponseBody][] = [
    ["breaks off between two events", stream(createDelta("Half"))],
    ["breaks off within an event", `${stream(createDelta("Half"))}data: {"choices": [{"del`],
    ["has an event that is not JSON", stream(createDelta("Half"), "{broken", finish("stop"))],
    ["has events of another API", stream({ choices: "none" })],
    ["is the HTML page of a proxy", "<html>Bad gateway</html>"],
    ["is other JSON", '{"choices": []}'],
    ["is half of its JSON", '{"choices": [{"message": '],
    ["is nothing", ""],
    ["ends with its connection", (response) => response.destroy()],
    [
      "ends with its connection in the middle",
      (response) => response.write(stream(createDelta("Half")), () => response.destroy()),
    ],
    ["is a redirect", (response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()],
  ];
  it.each(ends)("is retried: it %s", async (_, response) => {
    expect(await failure("chat", response)).toMatchObject({ isRetryable: true });
  });

  it("includes one that never starts, or stops in the middle", async () => {
    const silent = (response: ServerResponse) => response.write(stream(createDelta("Half")));
    expect(await failure("chat", silent, { idleMs: 50 })).toEqual({
      message: "the model took too long to respond",
      isRetryable: true,
    });
    const endless = async (response: ServerResponse) => {
      for (; !response.destroyed; await sleep(10)) response.write(stream(createDelta(".")));
    };
    expect(await failure("chat", endless, { callMs: 200, idleMs: 10_000 })).toMatchObject({ isRetryable: true });
  });
});

describe("a failed model call", () => {
  const status =
    (code: number, body: object, headers = {}) =>
    (response: ServerResponse) =>
      response.writeHead(code, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

  it.each(["messages", "chat", "responses"] as const)(
    "has %s's own message, and whether it is retryable",
    async (api) => {
      const error = { type: "some_error", message: "in its own words" };
      const body = api === "messages" ? { type: "error", error } : { error };
      const limited = await failure(api, status(429, body, { "retry-after": "7" }));
      expect(limited).toEqual({ status: 429, message: "in its own words", isRetryable: true, requestedPauseMs: 7_000 });
      expect(await failure(api, status(529, body))).toMatchObject({ status: 529, isRetryable: true });
      expect(await failure(api, status(400, body))).toMatchObject({ message: "in its own words", isRetryable: false });
      expect(await failure(api, status(403, body))).toMatchObject({ status: 403, isRetryable: false });
    },
  );
});

it("a response that states the context window of the model changes the assumed one", async () => {
  const header = { "runyard-context-tokens": "8192" };
  await using server = await startServer((_, response) => response.writeHead(200, header).end(stream(finish("stop"))));
  const signal = new AbortController().signal;
  const model = createModel({ modelId: MODELS.chat, modelUrl: server.url, key: "key", signal });
  expect(model.getConfig().contextWindowLimit).toBe(100_000);
  for await (const _ of model.stream([new Message({ role: "user", content: [new TextBlock("Hello.")] })]));
  expect(model.getConfig().contextWindowLimit).toBe(8_192);
});
