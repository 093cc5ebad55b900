import { describe, expect, it } from "vitest";
import { assembleCompletion, toCompletionEvents } from "#harness/agent/dialects/chat.ts";
import { BrokenResponse, FailedResponse, formatEvents, parseEvents } from "#harness/agent/dialects/events.ts";
import { assembleMessage, toMessageEvents } from "#harness/agent/dialects/messages.ts";
import { assembleResponse, toResponseEvents } from "#harness/agent/dialects/responses.ts";
import { createTextReader } from "#harness/agent/dialects/text-deltas.ts";
import { findInputFault, parseToolInput } from "#harness/agent/dialects/tool-input.ts";

const ID = expect.stringMatching(/^[\da-f-]{36}$/);

describe("the events of a stream", () => {
  it("are the data of each event, without the end marker, comments and other fields", () => {
    const text =
      'event: a\r\ndata: {"a":1}\r\n\r\n: ping\n\ndata:{"b":\ndata: 2}\nid: 7\n\ndata: [DONE]\n\ndata: "x" \n\n';
    expect(parseEvents(text)).toEqual([{ a: 1 }, { b: 2 }, "x"]);
    expect(parseEvents("")).toEqual([]);
    expect(() => parseEvents('data: {"a"')).toThrow(new BrokenResponse("an event of the response is not JSON"));
    expect(() => parseEvents("data:  1\ndata: 2")).toThrow(BrokenResponse);
    expect([new BrokenResponse("x").name, new FailedResponse("kind", "x").name]).toEqual([
      "BrokenAnswer",
      "FailedAnswer",
    ]);
  });

  it("are formatted with their types, and an end marker", () => {
    expect(formatEvents([{ type: "ping", a: 1 }, { b: 2 }])).toBe(
      'event: ping\ndata: {"type":"ping","a":1}\n\ndata: {"b":2}\n\ndata: [DONE]\n\n',
    );
  });
});

describe("assembleCompletion", () => {
  const chunk = (delta: unknown, finish_reason?: string | null) => ({ choices: [{ delta, finish_reason }] });

  it("joins the parts of the text, the refusal and each call", () => {
    const events = [
      chunk({ content: "I ", refusal: null }),
      chunk({ content: "look.", refusal: "N" }),
      chunk({ refusal: "o." }),
      chunk({ tool_calls: [{ index: 2, function: { name: "se", arguments: null } }] }),
      chunk({ tool_calls: [{ index: 2, function: { name: "arch", arguments: "{" } }, { function: { name: "read" } }] }),
      chunk({ tool_calls: [{ index: 2, function: { arguments: "}" } }, { index: 0, function: null }, {}] }),
      { choices: null, usage: { prompt_tokens: 1 } },
      chunk(null, "stop"),
      chunk({ tool_calls: null }, null),
      { choices: [], usage: null },
      {},
    ];
    expect(assembleCompletion(events)).toStrictEqual({
      choices: [
        {
          message: {
            content: "I look.",
            refusal: "No.",
            tool_calls: [
              { function: { name: "read", arguments: "" } },
              { function: { name: "search", arguments: "{}" } },
            ],
          },
          finish_reason: "stop",
        },
      ],
      usage: { prompt_tokens: 1 },
    });
    expect(assembleCompletion([chunk({}, "length")])).toStrictEqual({
      choices: [{ message: { content: "", refusal: "", tool_calls: [] }, finish_reason: "length" }],
      usage: undefined,
    });
  });

  it.each([
    [[chunk({ content: "Half" })], new BrokenResponse("the response is incomplete")],
    [[{ choices: 1 }], new BrokenResponse("an event of the response does not match the Chat Completions API")],
    [[{ error: { message: "no", type: "overloaded" } }], new FailedResponse("overloaded", "no")],
    [[{ error: { type: null } }], new FailedResponse("", "no reason was given")],
  ])("fails for the events %j", (events, error) => {
    expect(() => assembleCompletion(events)).toThrow(error);
    expect(catchKind(() => assembleCompletion(events))).toEqual(kindOf(error));
  });
});

describe("toCompletionEvents", () => {
  const whole = (message: object, finish_reason: string, usage?: object | null) => ({
    choices: [{ message, finish_reason }],
    usage,
  });
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...{ id: "completion", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] },
  });
  const start = chunk({ role: "assistant", content: "" });
  const call = (index: number, name: string, input: string) =>
    chunk({ tool_calls: [{ index, id: ID, type: "function", function: { name, arguments: input } }] });

  it("has the text, each call and the token usage, each with its end", () => {
    const tool_calls = [{ function: { name: "a", arguments: '{"x": 1}' } }, { function: { name: "b" } }];
    expect(toCompletionEvents(whole({ content: "Hi.", tool_calls }, "stop", { prompt_tokens: 1 }))).toEqual([
      start,
      chunk({ content: "Hi." }),
      chunk({}, "tool_calls"),
      call(0, "a", '{"x":1}'),
      chunk({}, "tool_calls"),
      call(1, "b", "{}"),
      chunk({}, "tool_calls"),
      { id: "completion", choices: [], usage: { prompt_tokens: 1 } },
    ]);
  });

  it.each([
    [{ content: "Hi." }, "stop", [chunk({ content: "Hi." }), chunk({}, "stop")]],
    [{ content: "Hi.", tool_calls: null }, "tool_calls", [chunk({ content: "Hi." }), chunk({}, "stop")]],
    [{ content: null }, "stop", [chunk({}, "stop")]],
    [{ refusal: "No." }, "stop", [chunk({ content: "No." }), chunk({}, "content_filter")]],
    [{ content: "Hi.", refusal: "No." }, "stop", [chunk({ content: "Hi." }), chunk({}, "content_filter")]],
    [{ tool_calls: [{ function: { name: "a" } }] }, "length", [call(0, "a", "{}"), chunk({}, "length")]],
    [{ tool_calls: [{ function: { name: "a" } }] }, "stop", [call(0, "a", "{}"), chunk({}, "tool_calls")]],
  ])("converts %j, which ends with %s", (message, reason, events) => {
    expect(toCompletionEvents(whole(message, reason, null))).toEqual([start, ...events]);
  });

  it("gives each call its own id, and refuses an invalid response", () => {
    const tool_calls = [{ function: { name: "a" } }, { function: { name: "a" } }];
    expect(new Set(JSON.stringify(toCompletionEvents(whole({ tool_calls }, "stop"))).match(/[\da-f-]{36}/g)).size).toBe(
      2,
    );
    const wrong = new BrokenResponse("the response does not match the Chat Completions API");
    for (const response of [{ choices: [] }, { choices: [{ message: {} }] }, null])
      expect(() => toCompletionEvents(response)).toThrow(wrong);
  });
});

describe("assembleMessage", () => {
  const block = (index: number, content_block: unknown) => ({ type: "content_block_start", index, content_block });
  const delta = (index: number, delta: unknown) => ({ type: "content_block_delta", index, delta });
  const end = (stop_reason: string | null | undefined, usage?: object | null) => ({
    ...{ type: "message_delta", delta: { stop_reason }, usage },
  });

  it("adds each part to its block, and none to a block of another type", () => {
    const parts = (index: number) => [
      delta(index, { type: "text_delta", text: "t" }),
      delta(index, { type: "text_delta", text: "T" }),
      delta(index, { type: "thinking_delta", thinking: "h" }),
      delta(index, { type: "signature_delta", signature: "s" }),
      delta(index, { type: "input_json_delta", partial_json: "{" }),
      delta(index, { type: "input_json_delta", partial_json: "}" }),
      delta(index, { type: "new_delta" }),
      delta(index, { type: "text_delta" }),
    ];
    const events = [
      block(0, { type: "text", text: "a" }),
      block(1, { type: "thinking", thinking: "b" }),
      block(2, { type: "redacted_thinking", data: "c" }),
      block(3, { type: "new_block" }),
      block(4, { type: "tool_use", name: "read", input: { d: 1 } }),
      block(5, { type: "tool_use", name: "list", input: { e: 1 } }),
      ...[0, 1, 2, 3, 4, 6].flatMap(parts),
      end("end_turn"),
    ];
    expect(assembleMessage(events)).toStrictEqual({
      content: [
        { type: "text", text: "atT" },
        { type: "thinking", thinking: "bh", signature: "s" },
        { type: "redacted_thinking", data: "c" },
        { type: "tool_use", name: "read", input: "{}" },
        { type: "tool_use", name: "list", input: { e: 1 } },
      ],
      stop_reason: "end_turn",
      usage: {},
    });
  });

  it("has the last stop reason, and the token usage", () => {
    const events = [
      { type: "ping" },
      { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } },
      end("tool_use", { output_tokens: 2 }),
      end(null, null),
      end(undefined),
      { type: "message_start", message: {} },
    ];
    expect(assembleMessage(events)).toStrictEqual({
      content: [],
      stop_reason: "tool_use",
      usage: { input_tokens: 1, output_tokens: 2 },
    });
  });

  it("fails without a stop reason, and with the provider's error", () => {
    expect(() => assembleMessage([{ type: "message_stop" }])).toThrow(new BrokenResponse("the response is incomplete"));
    const error = { type: "overloaded_error", message: "later" };
    expect(catchKind(() => assembleMessage([{ type: "error", error }, end("end_turn")]))).toEqual(
      kindOf(new FailedResponse("overloaded_error", "later")),
    );
  });
});

describe("toMessageEvents", () => {
  const start = (usage: object) => ({
    type: "message_start",
    message: { id: "message", type: "message", role: "assistant", model: "", content: [], usage },
  });
  const end = (stop_reason: string, usage: object) => [
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
  const block = (index: number, content_block: object, ...deltas: object[]) => [
    { type: "content_block_start", content_block, index },
    ...deltas.map((delta) => ({ type: "content_block_delta", delta, index })),
    { type: "content_block_stop", index },
  ];

  it("has each known block, and the token usage", () => {
    const content = [
      { type: "thinking", thinking: "Hm." },
      { type: "thinking", thinking: "", signature: "s" },
      { type: "redacted_thinking", data: "d" },
      { type: "new_block", data: "d" },
      { type: "text", text: "Hi." },
      { type: "tool_use", name: "read", input: '{"a": 1}' },
    ];
    const usage = { input_tokens: 3, output_tokens: 4, cache_read_input_tokens: 5 };
    const thinking = { type: "thinking", thinking: "", signature: "" };
    expect(toMessageEvents({ content, stop_reason: "end_turn", usage })).toEqual([
      start(usage),
      ...block(0, thinking, { type: "thinking_delta", thinking: "Hm." }, { type: "signature_delta", signature: "" }),
      ...block(1, thinking, { type: "signature_delta", signature: "s" }),
      ...block(2, { type: "redacted_thinking", data: "d" }),
      ...block(3, { type: "text", text: "Hi." }),
      ...block(
        4,
        { type: "tool_use", id: ID, name: "read", input: {} },
        { type: "input_json_delta", partial_json: '{"a":1}' },
      ),
      ...end("tool_use", usage),
    ]);
  });

  it.each([
    ["end_turn", false, "end_turn"],
    ["tool_use", false, "end_turn"],
    ["max_tokens", false, "max_tokens"],
    ["end_turn", true, "tool_use"],
    ["tool_use", true, "tool_use"],
    ["max_tokens", true, "max_tokens"],
  ])("corrects the reason %s, with calls: %j", (reason, hasCalls, expected) => {
    const block = { type: "text", text: "a" };
    const content = hasCalls ? [block, { type: "tool_use", name: "read", input: {} }] : [block];
    const events = toMessageEvents({ content, stop_reason: reason });
    const none = { input_tokens: 0, output_tokens: 0 };
    expect([events[0], ...events.slice(-2)]).toEqual([start(none), ...end(expected, none)]);
  });

  it("refuses an invalid response", () => {
    for (const response of [{ content: "x", stop_reason: "end_turn" }, { content: [] }, null])
      expect(() => toMessageEvents(response)).toThrow(
        new BrokenResponse("the response does not match the Messages API"),
      );
  });
});

describe("assembleResponse", () => {
  const done = (item: unknown) => ({ type: "response.output_item.done", item });
  const item = { type: "message", content: [] };

  it.each(["completed", "incomplete", "failed"])("is the response of the event response.%s", (status) => {
    const type = `response.${status}`;
    const own = { type, response: { id: "r", status, output: [item] } };
    const without = { type, response: { id: "r", status } };
    const started = { type: "response.created", response: { id: "r", output: [1] } };
    expect(assembleResponse([started, done(1), own, done(2)])).toEqual({ id: "r", status, output: [item] });
    expect(assembleResponse([started, done(1), done(2), without])).toEqual({ id: "r", status, output: [1, 2] });
  });

  it.each([
    [[done(1)], new BrokenResponse("the response is incomplete")],
    [[{ type: "error", message: "no", code: "server_error" }], new FailedResponse("server_error", "no")],
    [[{ type: "error", message: null, code: null }], new FailedResponse("", "no reason was given")],
    [[{ type: "error" }], new FailedResponse("", "no reason was given")],
  ])("fails for the events %j", (events, error) => {
    expect(catchKind(() => assembleResponse(events))).toEqual(kindOf(error));
  });
});

describe("toResponseEvents", () => {
  const created = { type: "response.created", response: { id: "response", output: [] } };
  const text = (delta: string) => ({ type: "response.output_text.delta", item_id: ID, delta });
  const completed = (status: string, usage?: object) => ({
    ...{ type: "response.completed", response: { id: "response", status, output: [], usage } },
  });
  const incomplete = {
    type: "response.incomplete",
    response: {
      ...{ id: "response", status: "incomplete", output: [], usage: undefined },
      incomplete_details: { reason: "max_output_tokens" },
    },
  };

  it("has the texts, the calls and the token usage, and omits other items", () => {
    const output = [
      { type: "reasoning", summary: [] },
      {
        type: "message",
        content: [
          { type: "output_text", text: "Hi." },
          { type: "output_text", text: "" },
          { type: "refusal", refusal: "No." },
          { type: "new_part" },
        ],
      },
      { type: "function_call", name: "read", arguments: '{"a": 1}' },
    ];
    const events = toResponseEvents({ status: "completed", output, usage: { input_tokens: 1 } });
    const call = { type: "function_call", id: ID, call_id: ID, name: "read", arguments: "" };
    expect(events).toEqual([
      created,
      text("Hi."),
      text("No."),
      { type: "response.output_item.added", item: call },
      { type: "response.function_call_arguments.done", item_id: ID, arguments: '{"a":1}' },
      completed("completed", { input_tokens: 1 }),
    ]);
    const ids = events.flatMap((event) => ("item_id" in event ? [event.item_id] : []));
    expect([new Set(ids).size, ids[0] === ids[1]]).toEqual([2, true]);
  });

  it.each([
    [{ status: "completed" }, completed("completed")],
    [{ status: "completed", incomplete_details: { reason: "max_output_tokens" } }, completed("completed")],
    [{ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }, incomplete],
    [{ status: "incomplete", incomplete_details: { reason: null }, usage: null, error: null }, incomplete],
    [{ status: "incomplete", incomplete_details: null }, incomplete],
    [{ status: "incomplete" }, incomplete],
    [{ status: "incomplete", incomplete_details: { reason: "content_filter" } }, completed("incomplete")],
  ])("ends as %j", (response, end) => {
    expect(toResponseEvents({ output: [], ...response })).toEqual([created, end]);
  });

  it.each([
    [{ output: [], status: "failed", error: { code: "c", message: "m" } }, new FailedResponse("c", "m")],
    [{ output: [], status: "failed", error: {} }, new FailedResponse("", "no reason was given")],
    [
      { output: [], status: "failed", error: { code: null, message: null } },
      new FailedResponse("", "no reason was given"),
    ],
    [{ output: [], status: "failed" }, new FailedResponse("", "no reason was given")],
    [{ status: "completed" }, new BrokenResponse("the response does not match the Responses API")],
    [{ output: [] }, new BrokenResponse("the response does not match the Responses API")],
  ])("fails for %j", (response, error) => {
    expect(catchKind(() => toResponseEvents(response))).toEqual(kindOf(error));
  });
});

const kindOf = (error: unknown) => [error, error instanceof FailedResponse ? error.kind : undefined];

function catchKind(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return kindOf(error);
  }
}

describe("createTextReader", () => {
  it("returns the texts of each API as soon as their lines are complete", () => {
    const texts: string[] = [];
    const read = createTextReader((text) => void texts.push(text));
    const line = (event: unknown) => `data: ${JSON.stringify(event)}\n`;
    read(line({ type: "content_block_delta", delta: { type: "text_delta", text: "a" } }));
    read(line({ type: "content_block_delta", delta: { type: "thinking_delta", thinking: "no", text: "no" } }));
    read(line({ type: "response.output_text.delta", delta: "b" }).replace("\n", "\r\n"));
    read(line({ type: "response.reasoning.delta", delta: "no" }));
    read(
      line({ choices: [{ delta: { content: "c" } }, 1] }) + line({ choices: [] }) + line({ choices: [{ delta: {} }] }),
    );
    expect(texts.splice(0)).toEqual(["a", "b", "c"]);
    const last = line({ choices: [{ delta: { content: "d" } }] });
    for (const character of last.slice(0, -1)) read(character);
    expect(texts).toEqual([]);
    read("\n");
    expect(texts.splice(0)).toEqual(["d"]);
    read(`id: 1\n${last.replace("data:", "note:")}data: {broken\n${line({ choices: [{ delta: { content: "" } }] })}`);
    expect(texts).toEqual([]);
  });

  it("omits events of more than 256 KiB", () => {
    const texts: string[] = [];
    const event = `data: ${JSON.stringify({ type: "response.output_text.delta", delta: "a" })}`;
    for (const length of [256 * 1024, 256 * 1024 + 1]) {
      const read = createTextReader((text) => void texts.push(text));
      read(event.padEnd(length));
      read("\n");
      read(`${event}\n`);
    }
    expect(texts).toEqual(["a", "a", "a"]);
  });
});

describe("the input of a tool call", () => {
  it.each([
    ['{"a": 1}', { a: 1 }],
    [{ a: 1 }, { a: 1 }],
    [" ", {}],
    ["", {}],
  ])("is an object, or becomes one: %j", (sent, input) => {
    expect(parseToolInput(sent)).toEqual(input);
    expect(findInputFault(parseToolInput(sent))).toBeUndefined();
  });

  it.each([
    ["[1]", "[1]"],
    ["null", "null"],
    ["{broken", "{broken"],
    ["1", "1"],
    [[1], "[1]"],
    [null, "null"],
    [undefined, "null"],
    [7, "7"],
    [`"${"x".repeat(400)}`, `"${"x".repeat(299)}`],
  ])("is refused if it is not an object: %j", (sent, shown) => {
    expect(findInputFault(parseToolInput(sent))).toBe(
      `the input of this call is not a JSON object, so nothing was done; it starts with: ${shown}`,
    );
  });

  it.each([[null], [undefined], ["runyard_not_json"], [{}], [{ "": 1 }]])("has no fault if it is %j", (input) => {
    expect(findInputFault(input)).toBeUndefined();
  });
});
