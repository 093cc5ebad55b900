import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openForwarder } from "#harness/third-party/forwarder.ts";
import { type CallModel, respondAsGemini } from "#harness/third-party/gemini-api.ts";
import {
  findGoogleTool,
  parseQuestion,
  toChatRequest,
  toMessagesRequest,
} from "#harness/third-party/gemini-request.ts";
import { createChatTranslator, createMessagesTranslator, mergeChunks } from "#harness/third-party/gemini-response.ts";

const call = (name: string, id?: string) => ({
  functionCall: { name, args: { a: 1 }, ...(id === undefined ? {} : { id }) },
});
const response = (name: string, output: string, id?: string) => ({
  functionResponse: { name, response: { output }, ...(id === undefined ? {} : { id }) },
});
const geminiRequest = {
  contents: [
    { role: "user", parts: [{ text: "Look" }, { inlineData: { mimeType: "image/png", data: "AAAA" } }] },
    { role: "model", parts: [{ text: "hm", thought: true }, { text: "I look." }, call("ls", "c:1")] },
    { role: "user", parts: [response("ls", "a b", "c:1")] },
  ],
  systemInstruction: { parts: [{ text: "Be kind." }] },
  tools: [
    {
      functionDeclarations: [
        { name: "ls", description: "lists", parameters: { type: "OBJECT", properties: { a: { type: "NUMBER" } } } },
      ],
    },
  ],
  generationConfig: { temperature: 1, topK: 64, thinkingConfig: { includeThoughts: true } },
};

describe("a request of Google's generateContent", () => {
  it("becomes one of Anthropic's Messages", () => {
    const question = parseQuestion(geminiRequest);
    expect(question && toMessagesRequest(question, "anthropic/x")).toEqual({
      model: "anthropic/x",
      max_tokens: 32_000,
      stream: true,
      system: "Be kind.",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Look" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "text", text: "I look." },
            { type: "tool_use", id: "c_1", name: "ls", input: { a: 1 } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c_1", content: "a b" }] },
      ],
      tools: [
        { name: "ls", description: "lists", input_schema: { type: "object", properties: { a: { type: "number" } } } },
      ],
    });
  });

  it("becomes one of OpenAI's Chat Completions", () => {
    const question = parseQuestion({ ...geminiRequest, toolConfig: { functionCallingConfig: { mode: "ANY" } } });
    expect(question && toChatRequest(question, "openai/x")).toMatchObject({
      model: "openai/x",
      stream: true,
      messages: [
        { role: "system", content: "Be kind." },
        {
          role: "user",
          content: [
            { type: "text", text: "Look" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          ],
        },
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [{ id: "c_1", type: "function", function: { name: "ls", arguments: '{"a":1}' } }],
        },
        { role: "tool", tool_call_id: "c_1", content: "a b" },
      ],
      tools: [{ type: "function", function: { name: "ls", parameters: { type: "object" } } }],
      tool_choice: "required",
    });
  });

  it("gives each call exactly one result, in the next turn, for any resumed session", () => {
    const question = parseQuestion({
      contents: [
        { role: "user", parts: [{ text: "one" }] },
        { role: "model", parts: [call("ls"), call("cat"), call("lost")] },
        // Results occur twice, in another order, without ids, and one belongs to no call.
        {
          role: "user",
          parts: [response("cat", "2"), response("ls", "1"), response("ls", "1 again"), response("x", "?")],
        },
        { role: "user", parts: [{ text: "two" }] },
        { role: "model", parts: [call("last", "id")] },
      ],
    });
    expect(question?.turns).toEqual([
      { role: "user", parts: [{ kind: "text", text: "one" }] },
      {
        role: "assistant",
        parts: ["ls", "cat", "lost"].map((name, at) => ({ kind: "call", id: `call_${at}`, name, input: { a: 1 } })),
      },
      {
        role: "user",
        parts: [
          { kind: "result", id: "call_1", text: "2" },
          { kind: "result", id: "call_0", text: "1" },
          { kind: "result", id: "call_2", text: "There is no result of this call." },
          { kind: "text", text: "two" },
        ],
      },
      { role: "assistant", parts: [{ kind: "call", id: "id", name: "last", input: { a: 1 } }] },
      { role: "user", parts: [{ kind: "result", id: "id", text: "There is no result of this call." }] },
    ]);
  });

  it("requests JSON output in text, and is recognized if invalid", () => {
    const generationConfig = {
      responseMimeType: "application/json",
      responseSchema: { type: "OBJECT" },
      maxOutputTokens: 10,
    };
    const question = parseQuestion({ contents: { parts: [{ text: "a" }] }, systemInstruction: "S", generationConfig });
    expect(question).toMatchObject({
      maxTokens: 10,
      system: expect.stringMatching(/^S\n\n.*one JSON value.*"object"/s),
    });
    expect(parseQuestion({ contents: 7 })).toBeUndefined();
    expect(parseQuestion(undefined)).toBeUndefined();
  });
});

describe("a generateContent request", () => {
  const contents = [{ role: "user", parts: [{ text: "a" }] }];
  const parse = (members: object) => parseQuestion({ contents, ...members });

  it("has defaults for everything but its contents", () => {
    const question = parse({});
    expect(question).toEqual({
      system: "",
      turns: [{ role: "user", parts: [{ kind: "text", text: "a" }] }],
      tools: [],
      mustCall: false,
      maxTokens: 32_000,
    });
    expect(question && toMessagesRequest({ ...question, mustCall: true }, "m")).toEqual({
      model: "m",
      max_tokens: 32_000,
      stream: true,
      messages: [{ role: "user", content: [{ type: "text", text: "a" }] }],
    });
    expect(question && toChatRequest({ ...question, mustCall: true }, "m")).toEqual({
      model: "m",
      max_completion_tokens: 32_000,
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: "user", content: "a" }],
    });
  });

  it("may require a call of a tool", () => {
    const tools = [{ functionDeclarations: [{ name: "ls" }] }, {}];
    const [any, auto] = ["ANY", "AUTO"].map((mode) =>
      parse({ tools, toolConfig: { functionCallingConfig: { mode } } }),
    );
    const tool = { name: "ls", description: "", schema: { type: "object", properties: {} } };
    expect(any).toMatchObject({ mustCall: true, tools: [tool] });
    expect(any && toMessagesRequest(any, "m")).toMatchObject({ tool_choice: { type: "any" } });
    expect(any && toChatRequest(any, "m")).toMatchObject({ tool_choice: "required" });
    expect(auto && toMessagesRequest(auto, "m")).not.toHaveProperty("tool_choice");
    expect(auto && toChatRequest(auto, "m")).not.toHaveProperty("tool_choice");
    for (const toolConfig of [{}, { functionCallingConfig: {} }]) expect(parse({ toolConfig })?.mustCall).toBe(false);
  });

  it.each([
    [undefined, { type: "object", properties: {} }],
    [null, { type: "object", properties: {} }],
    ["text", { type: "object", properties: {} }],
    [{ properties: { type: { type: "STRING" } } }, { type: "object", properties: { type: { type: "string" } } }],
    [
      { type: "ARRAY", enum: ["A", null, 7] },
      { type: "array", enum: ["A", null, 7] },
    ],
    [{ anyOf: [{ type: "NULL" }] }, { type: "object", anyOf: [{ type: "null" }] }],
    [{ type: ["STRING"] }, { type: ["STRING"] }],
  ])("has the schema %j as %j", (parameters, schema) => {
    expect(parse({ tools: [{ functionDeclarations: [{ name: "a", parameters }] }] })?.tools[0]?.schema).toEqual(schema);
    const both = { name: "a", parameters: { type: "NUMBER" }, parametersJsonSchema: parameters ?? schema };
    expect(parse({ tools: [{ functionDeclarations: [both] }] })?.tools[0]?.schema).toEqual(schema);
  });

  it("describes the format of a JSON response", () => {
    const form = "Answer with one JSON value and nothing else: no explanation, no code fence.";
    const system = (generationConfig: object) => parse({ generationConfig })?.system;
    const schemas = { responseJsonSchema: { type: "NUMBER" }, responseSchema: { type: "STRING" } };
    expect(system({ responseMimeType: "application/json" })).toBe(form);
    expect(system({ responseMimeType: "text/plain", ...schemas })).toBe("");
    expect(system({ responseMimeType: "application/json", ...schemas })).toBe(
      `${form} It must match this schema: {"type":"number"}`,
    );
  });

  it("joins the texts of its system instruction", () => {
    expect(parse({ systemInstruction: { parts: [{ text: "a" }, {}, { text: "b" }] } })?.system).toBe("a\nb");
  });

  it("omits calls of the user, results of the model, empty texts and empty turns", () => {
    const question = parseQuestion({
      contents: [
        { role: "user", parts: [{ text: "" }, call("a")] },
        { role: "model", parts: [{ text: "b" }, response("a", "1")] },
        { role: "model" },
        { role: "user", parts: [{ text: "c" }] },
      ],
    });
    expect(question?.turns).toEqual([
      { role: "assistant", parts: [{ kind: "text", text: "b" }] },
      { role: "user", parts: [{ kind: "text", text: "c" }] },
    ]);
  });

  it("has results of any shape, pairs them by shortened ids, and keeps a turn open that has no text", () => {
    const id = `${"x".repeat(70)}:`;
    const image = { inlineData: { mimeType: "image/png", data: "AA" } };
    const question = parseQuestion({
      contents: [
        { role: "model", parts: [call("a", id), { functionCall: { name: "b" } }, call("c", "c")] },
        { role: "user", parts: [image, { functionResponse: { name: "other", id, response: { error: "e" } } }] },
        { role: "user", parts: [{ functionResponse: { name: "b" } }] },
        { role: "user", parts: [{ text: "go" }, { functionResponse: { name: "c", id: "c", response: "r" } }] },
        { role: "user", parts: [{ functionResponse: { name: "c", id: "d" } }] },
      ],
    });
    expect(question?.turns).toEqual([
      {
        role: "assistant",
        parts: [
          { kind: "call", id: "x".repeat(64), name: "a", input: { a: 1 } },
          { kind: "call", id: "call_0", name: "b", input: {} },
          { kind: "call", id: "c", name: "c", input: { a: 1 } },
        ],
      },
      {
        role: "user",
        parts: [
          { kind: "result", id: "x".repeat(64), text: '{"error":"e"}' },
          { kind: "result", id: "call_0", text: "{}" },
          { kind: "result", id: "c", text: '"r"' },
          { kind: "image", mimeType: "image/png", data: "AA" },
          { kind: "text", text: "go" },
        ],
      },
    ]);
    const system = { system: "", tools: [], mustCall: false, maxTokens: 1, turns: question?.turns ?? [] };
    const calls = [
      ["x".repeat(64), "a", '{"a":1}'],
      ["call_0", "b", "{}"],
      ["c", "c", '{"a":1}'],
    ].map(([called, name, args]) => ({ id: called, type: "function", function: { name, arguments: args } }));
    expect(toChatRequest(system, "m").messages).toEqual([
      { role: "assistant", content: null, tool_calls: calls },
      { role: "tool", tool_call_id: "x".repeat(64), content: '{"error":"e"}' },
      { role: "tool", tool_call_id: "call_0", content: "{}" },
      { role: "tool", tool_call_id: "c", content: '"r"' },
      {
        role: "user",
        content: [
          { type: "text", text: "go" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
        ],
      },
    ]);
  });

  it("gives texts of one turn to OpenAI's as one message, and an image without a text", () => {
    const parts = [{ text: "a" }, { text: "b" }];
    const image = { inlineData: { mimeType: "image/png", data: "AA" } };
    const contents = [{ parts: [image] }, { role: "model", parts }, { role: "user", parts }];
    const question = parseQuestion({ contents });
    expect(question && toChatRequest(question, "m").messages).toEqual([
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA" } }] },
      { role: "assistant", content: "a\nb" },
      { role: "user", content: "a\nb" },
    ]);
  });

  it("may have a tool that only Google executes", () => {
    const find = (tools: unknown) => findGoogleTool({ contents, tools });
    expect(find([{ functionDeclarations: [] }, { urlContext: {} }])).toBe("urlContext");
    expect([find([{ functionDeclarations: [] }]), find(undefined), findGoogleTool({ tools: [{ a: {} }] })]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe("a streamed response", () => {
  it.each([
    ["end_turn", "stop", "STOP"],
    ["max_tokens", "length", "MAX_TOKENS"],
    ["refusal", "content_filter", "SAFETY"],
    [null, null, "STOP"],
  ])("that ends with %s or %s has the reason %s", (stop_reason, finish_reason, finishReason) => {
    const messages = createMessagesTranslator();
    expect(messages.translate({ type: "message_delta", delta: { stop_reason } })).toEqual([]);
    messages.translate({ type: "message_delta", delta: { stop_reason: null } });
    const chat = createChatTranslator();
    expect(chat.translate({ choices: [{ delta: {}, finish_reason }] })).toEqual([]);
    chat.translate({ choices: [{ delta: {}, finish_reason: null }] });
    const last = {
      candidates: [{ index: 0, content: { role: "model", parts: [] }, finishReason }],
      usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 },
    };
    expect([messages.end(), chat.end()]).toEqual([last, last]);
  });

  it("has no arguments of a call that are cut or no object", () => {
    const translator = createMessagesTranslator();
    expect(translator.translate({ type: "content_block_delta", delta: { partial_json: "lost" } })).toEqual([]);
    for (const partial_json of ['{"a"', "7", "null", '"a"']) {
      translator.translate({ type: "content_block_start", content_block: { type: "tool_use", id: "t", name: "ls" } });
      translator.translate({ type: "content_block_delta", delta: { partial_json } });
      translator.translate({ type: "content_block_start", content_block: { type: "text" } });
    }
    const functionCall = { id: "t", name: "ls", args: {} };
    const parts = Array.from({ length: 4 }, () => ({ functionCall }));
    expect(translator.end().candidates[0]?.content.parts).toEqual(parts);
  });

  it("keeps counts and names that later events leave out, and ignores empty texts", () => {
    const messages = createMessagesTranslator();
    const [start, delta] = [
      { type: "message_start", message: { usage: {} } },
      { type: "message_delta", usage: {} },
    ];
    const counted = { type: "message_start", message: { usage: { input_tokens: 3 } }, usage: { output_tokens: 4 } };
    expect(messages.translate(counted)).toEqual([]);
    expect(messages.translate({ type: "content_block_delta", delta: { text: "" } })).toEqual([]);
    messages.translate({ type: "message_start", message: {} });
    expect(messages.end().usageMetadata).toMatchObject({ promptTokenCount: 3, candidatesTokenCount: 4 });
    for (const event of [start, delta]) messages.translate(event);
    expect(messages.end().usageMetadata).toMatchObject({ promptTokenCount: 0, candidatesTokenCount: 0 });
    const chat = createChatTranslator();
    const called = (call: object) => ({ choices: [{ delta: { tool_calls: [call] } }] });
    chat.translate({ usage: { prompt_tokens: 3, completion_tokens: 4 } });
    chat.translate({ choices: [{ delta: { content: null, tool_calls: null } }], usage: null });
    chat.translate(called({ index: 1, id: "t1", function: { name: "ls", arguments: "{" } }));
    chat.translate(called({ index: 1, id: "t2", function: { name: "cat", arguments: "}" } }));
    chat.translate(called({ id: null, function: { name: null } }));
    chat.translate(called({}));
    const { candidates, usageMetadata } = chat.end();
    expect(usageMetadata).toEqual({ promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 });
    expect(candidates[0]?.content.parts).toEqual([
      { functionCall: { id: "t1", name: "ls", args: {} } },
      { functionCall: { id: "", name: "", args: {} } },
    ]);
    expect(() => chat.translate({ error: { message: "Overloaded" } })).toThrow("Overloaded");
  });

  it("without a text is merged to a response without one", () => {
    expect(mergeChunks([createChatTranslator().end()]).candidates[0]?.content).toEqual({ role: "model", parts: [] });
    expect(mergeChunks([])).toEqual({ candidates: [{ index: 0, content: { role: "model", parts: [] } }] });
  });

  it("of Anthropic's becomes chunks of Google's, with calls and usage", () => {
    const translator = createMessagesTranslator();
    const events = [
      { type: "message_start", message: { usage: { input_tokens: 7 } } },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "lo" } },
      { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "t1", name: "ls", input: {} } },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"a"' } },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: ":1}" } },
      { type: "content_block_start", index: 2, content_block: { type: "tool_use", id: "t2", name: "pwd", input: {} } },
      { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 5 } },
      { type: "message_stop" },
    ];
    const chunks = [...events.flatMap((event) => translator.translate(event)), translator.end()];
    expect(chunks.map(({ candidates }) => candidates[0]?.content.parts)).toEqual([
      [{ text: "Hel" }],
      [{ text: "lo" }],
      [
        { functionCall: { id: "t1", name: "ls", args: { a: 1 } } },
        { functionCall: { id: "t2", name: "pwd", args: {} } },
      ],
    ]);
    expect(mergeChunks(chunks)).toMatchObject({
      candidates: [{ finishReason: "MAX_TOKENS", content: { role: "model", parts: [{ text: "Hello" }, {}, {}] } }],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 },
    });
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    expect(() => translator.translate(overloaded)).toThrow("Overloaded");
  });

  it("of OpenAI's becomes the same", () => {
    const translator = createChatTranslator();
    const delta = (delta: object, finish_reason: string | null = null) => ({
      choices: [{ index: 0, delta, finish_reason }],
    });
    const events = [
      delta({ role: "assistant", content: "" }),
      delta({ content: "Hello" }),
      delta({ tool_calls: [{ index: 0, id: "t1", function: { name: "ls", arguments: "" } }] }),
      delta({ tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] }),
      delta({}, "tool_calls"),
      { choices: [], usage: { prompt_tokens: 7, completion_tokens: 5 } },
    ];
    const chunks = [...events.flatMap((event) => translator.translate(event)), translator.end()];
    expect(mergeChunks(chunks)).toEqual({
      candidates: [
        {
          index: 0,
          finishReason: "STOP",
          content: {
            role: "model",
            parts: [{ text: "Hello" }, { functionCall: { id: "t1", name: "ls", args: { a: 1 } } }],
          },
        },
      ],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 5, totalTokenCount: 12 },
    });
  });
});

describe("Google's API in front of the model gateway", () => {
  const streamed = (...events: unknown[]): Response =>
    new Response(events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join(""));
  const callGemini = (path: string, modelId: string, model: CallModel) =>
    respondAsGemini(path, geminiRequest, modelId, model);

  it("calls each model in its own API, and responds streamed or whole", async () => {
    const paths: string[] = [];
    const model: CallModel = async (path) => {
      paths.push(path);
      if (path.startsWith("/anthropic"))
        return streamed({ type: "content_block_delta", delta: { type: "text_delta", text: "Hi" } });
      return streamed({ choices: [{ delta: { content: "Hi" } }] });
    };
    const stream = await callGemini("/gemini/v1beta/models/x:streamGenerateContent", "bedrock/x", model);
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    expect(await stream.text()).toMatch(/^data: \{"candidates":.*"text":"Hi".*\r\n\r\ndata: .*"finishReason":"STOP"/s);
    const response = await callGemini("/gemini/v1beta/models/x:generateContent", "compatible/x", model);
    expect(await response.json()).toMatchObject({ candidates: [{ content: { parts: [{ text: "Hi" }] } }] });
    expect(paths).toEqual(["/anthropic/v1/messages", "/openai/v1/chat/completions"]);
    const counted = await callGemini("/gemini/v1beta/models/x:countTokens", "anthropic/x", model);
    expect(await counted.json()).toEqual({ totalTokens: Math.ceil(JSON.stringify(geminiRequest).length / 4) });
  });

  it("calls Anthropic's models with the version of its API and the request for the model", async () => {
    const calls: unknown[] = [];
    const model: CallModel = async (...given) => {
      calls.push(given);
      return streamed();
    };
    const question = parseQuestion(geminiRequest);
    const path = "/gemini/v1beta/models/x:generateContent";
    for (const modelId of ["anthropic/x", "openai/anthropic/x"])
      expect((await callGemini(path, modelId, model)).status).toBe(200);
    expect(calls).toEqual([
      [
        "/anthropic/v1/messages",
        question && toMessagesRequest(question, "anthropic/x"),
        { "anthropic-version": "2023-06-01" },
      ],
      ["/openai/v1/chat/completions", question && toChatRequest(question, "openai/anthropic/x")],
    ]);
  });

  it("reads events that arrive in pieces, end with CRLF, have several lines, or are the last", async () => {
    const text = (content: string) => `{"choices":[{"delta":\r\ndata:  {"content":"${content}"}}]}`;
    const body = `: comment\r\n\r\nevent: x\r\ndata:${text("é")}\r\n\r\ndata: [DONE]\n\ndata: ${text("!")}`;
    const bytes = Buffer.from(body);
    const model: CallModel = async () =>
      new Response(ReadableStream.from(Array.from(bytes, (byte) => new Uint8Array([byte]))));
    const response = await callGemini("/gemini/v1beta/models/x:generateContent", "openai/x", model);
    expect(await response.json()).toMatchObject({ candidates: [{ content: { parts: [{ text: "é!" }] } }] });
  });

  it.each([
    [400, "INVALID_ARGUMENT"],
    [401, "UNAUTHENTICATED"],
    [403, "PERMISSION_DENIED"],
    [404, "NOT_FOUND"],
    [429, "RESOURCE_EXHAUSTED"],
    [500, "INTERNAL"],
  ])("has the status of a response %i as %s", async (code, status) => {
    for (const [body, message] of [
      ['{"error":{"message":"no"}}', "no"],
      ['{"error":{}}', '{"error":{}}'],
      ["null", "null"],
      ["<html>", "<html>"],
    ]) {
      const model: CallModel = async () => new Response(body, { status: code });
      const response = await callGemini("/gemini/v1beta/models/x:generateContent", "openai/x", model);
      expect([response.status, await response.json()]).toEqual([code, { error: { code, message, status } }]);
    }
  });

  it("refuses an invalid request, and a response without a body", async () => {
    let calls = 0;
    const model: CallModel = async () => {
      calls++;
      return new Response(null);
    };
    const path = "/gemini/v1beta/models/x:generateContent";
    const invalid = await respondAsGemini(path, { contents: 7 }, "openai/x", model);
    expect([invalid.status, await invalid.json()]).toEqual([
      400,
      {
        error: { code: 400, message: "the body is not a valid generateContent request", status: "INVALID_ARGUMENT" },
      },
    ]);
    expect(calls).toBe(0);
    await expect(callGemini(path, "openai/x", model)).resolves.toMatchObject({ status: 200 });
  });

  it("ends the model's response when the agent stops to read", async () => {
    let isCancelled = false;
    const events = ["a", "b"].map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(events.shift() ?? ": wait\n\n")),
      cancel: () => {
        isCancelled = true;
      },
    });
    const path = "/gemini/v1beta/models/x:streamGenerateContent";
    const { body } = await callGemini(path, "openai/x", async () => new Response(stream));
    const reader = body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(isCancelled).toBe(true);
  });

  it("passes on the gateway's errors, and a broken response, in Google's format", async () => {
    const refused: CallModel = async () =>
      Response.json({ error: { message: "budget_exceeded: spent" } }, { status: 403 });
    const response = await callGemini("/gemini/v1beta/models/x:streamGenerateContent", "anthropic/x", refused);
    expect(response.status).toBe(403);
    expect(await response.json()).toEqual({
      error: { code: 403, message: "budget_exceeded: spent", status: "PERMISSION_DENIED" },
    });
    const broken: CallModel = async () => streamed({ type: "error", error: { message: "cut" } });
    const stream = await callGemini("/gemini/v1beta/models/x:streamGenerateContent", "anthropic/x", broken);
    expect(await stream.text()).toContain('"error":{"code":502,"message":"Error: cut"');
    expect((await callGemini("/gemini/v1beta/models/x:generateContent", "anthropic/x", broken)).status).toBe(502);
    expect((await callGemini("/gemini/v1beta/models/x:embedContent", "anthropic/x", broken)).status).toBe(404);
    const searching = { ...geminiRequest, tools: [{ googleSearch: {} }] };
    const path = "/gemini/v1beta/models/x:generateContent";
    const own = await respondAsGemini(path, searching, "anthropic/x", broken);
    expect([own.status, await own.text()]).toEqual([400, expect.stringContaining("googleSearch")]);
  });
});

describe("the forwarder", () => {
  it("reaches the gateway's paths only, with the run's key and for the run's model", async () => {
    const folder = mkdtempSync(join(tmpdir(), "harness-test-"));
    const seen: { url: string | undefined; headers: IncomingMessage["headers"]; body: unknown }[] = [];
    const gateway = createServer(async (incoming, response) => {
      let text = "";
      for await (const piece of incoming) text += piece;
      seen.push({ url: incoming.url, headers: incoming.headers, body: JSON.parse(text) });
      response.writeHead(200, { "content-type": "application/json", "set-cookie": "a=b" }).end('{"ok":true}');
    });
    await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve));
    const address = gateway.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const socket = join(folder, "model.sock");
    const given = { socket, modelUrl: `http://127.0.0.1:${port}/model/`, key: "ryr_secret", modelId: "anthropic/x" };
    const outputs: unknown[] = [];
    const options = { ...given, onRetry: () => {}, onOutput: (output: unknown) => outputs.push(output) };
    const forwarder = await openForwarder(options);
    const send = (method: string, path: string, body?: string) =>
      new Promise<{ status: number | undefined; headers: IncomingMessage["headers"]; text: string }>(
        (resolve, reject) => {
          const headers = { "x-api-key": "dummy", authorization: "Bearer dummy", "anthropic-beta": "b", cookie: "c" };
          const sent = request({ socketPath: socket, method, path, headers }, async (response) => {
            let text = "";
            for await (const piece of response) text += piece;
            resolve({ status: response.statusCode, headers: response.headers, text });
          });
          sent.on("error", reject);
          sent.end(body);
        },
      );
    const good = await send("POST", "/anthropic/v1/messages?beta=true", '{"model":"claude-haiku","max_tokens":1}');
    expect(good).toMatchObject({ status: 200, text: '{"ok":true}' });
    expect(good.headers).not.toHaveProperty("set-cookie");
    expect(seen).toMatchObject([
      {
        url: "/model/anthropic/v1/messages",
        headers: { "x-api-key": "ryr_secret", "anthropic-beta": "b" },
        body: { model: "anthropic/x", max_tokens: 1 },
      },
    ]);
    expect(seen[0]?.headers).not.toHaveProperty("authorization");
    expect(seen[0]?.headers).not.toHaveProperty("cookie");
    for (const [method, path, body, status] of [
      ["GET", "/anthropic/v1/messages", undefined, 404],
      ["POST", "/anthropic/v1/messages/../../../api/v1/agent/runs", "{}", 404],
      ["POST", "/runyard/output", '{"script":"a","skipped":-1,"data":"YQ=="}', 400],
      ["POST", "/runyard/output", '{"script":"a","skipped":0,"data":"YQ=="}', 204],
      ["POST", "/anthropic/v1/messages/count_tokens", "{}", 404],
      ["POST", "//elsewhere.test/anthropic/v1/messages", "{}", 200],
      ["POST", "/openai/v1/files", "{}", 404],
      ["POST", "/openai/v1/responses", "[]", 400],
      ["POST", "/openai/v1/responses", "no json", 400],
      ["POST", "/openai/v1/responses", `"${"x".repeat(9 * 1024 * 1024)}"`, 400],
    ] as const)
      expect([path, (await send(method, path, body)).status]).toEqual([path, status]);
    expect(outputs).toEqual([{ script: "a", skipped: 0, data: Buffer.from("a") }]);
    expect(seen.map(({ url }) => url)).toEqual(["/model/anthropic/v1/messages", "/model/anthropic/v1/messages"]);
    await forwarder[Symbol.asyncDispose]();
    await expect(send("POST", "/anthropic/v1/messages", "{}")).rejects.toThrow();
    gateway.close();
    rmSync(folder, { recursive: true });
  });
});
