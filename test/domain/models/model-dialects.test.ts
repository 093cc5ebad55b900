import { describe, expect, it } from "vitest";
import { type Dialect, type Meter, parsedJson, textBytes } from "#shared/model-gateway/dialect.ts";
import { messages } from "#shared/model-gateway/messages-dialect.ts";
import { chat, responses } from "#shared/model-gateway/openai-dialects.ts";
import { NOTHING_USED } from "#shared/model-gateway/usage.ts";

const withoutCache = (input: number, output: number) => ({ ...NOTHING_USED, input, output });
const dataOf = (event: string) => JSON.parse(event.slice(event.indexOf("data: ") + "data: ".length));

/** The state of a meter after each event: usage, bytes, whether it has ended and is complete; and whether the caller gets the event. */
function follow(meter: Meter, events: readonly unknown[]) {
  return events.map((event) => {
    const isPassed = meter.see(typeof event === "string" ? event : JSON.stringify(event));
    return [isPassed, meter.usage(), meter.bytes(), meter.ended(), meter.complete()];
  });
}

describe("a dialect", () => {
  it("has its paths, providers and headers", () => {
    const described = [messages, chat, responses].map(({ path, upstreamPath, providers, passes }) => ({
      path,
      upstreamPath,
      providers,
      passes,
    }));
    const openai = { providers: ["openai", "compatible"], passes: ["openai-beta"] };
    expect(described).toEqual([
      {
        path: "/anthropic/v1/messages",
        upstreamPath: "/v1/messages",
        providers: ["anthropic", "bedrock"],
        passes: ["anthropic-version", "anthropic-beta"],
      },
      { path: "/openai/v1/chat/completions", upstreamPath: "/chat/completions", ...openai },
      { path: "/openai/v1/responses", upstreamPath: "/responses", ...openai },
    ]);
  });

  it("reads the output that a request allows", () => {
    const read = (dialect: Dialect, request: object) => dialect.readOutputLimits({ model: "m", ...request });
    expect(read(messages, {})).toEqual({ least: 1_024, choices: 1 });
    const thinking = { type: "enabled", budget_tokens: 2_000 };
    expect(read(messages, { max_tokens: 5, thinking })).toEqual({ limit: 5, least: 3_024, choices: 1 });
    for (const other of ["x", null, [], {}]) expect(read(messages, { thinking: other }).least).toBe(1_024);
    expect(() => read(messages, { thinking: { budget_tokens: 0 } })).toThrow("thinking.budget_tokens: must be a whole");
    expect(() => read(messages, { max_tokens: 0 })).toThrow("max_tokens: must be a whole");
    expect(read(chat, {})).toEqual({ least: 1_024, choices: 1 });
    expect(read(chat, { max_tokens: 7, n: 3 })).toEqual({ limit: 7, least: 1_024, choices: 3 });
    expect(read(chat, { max_tokens: 7, max_completion_tokens: 8 }).limit).toBe(8);
    for (const name of ["max_tokens", "max_completion_tokens", "n"]) {
      expect(() => read(chat, { [name]: 0 })).toThrow(`${name}: must be a whole`);
    }
    expect(read(responses, { max_output_tokens: 9 })).toEqual({ limit: 9, least: 1_024, choices: 1 });
    expect(() => read(responses, { max_output_tokens: 0 })).toThrow("max_output_tokens: must be a whole");
  });

  it("counts what OpenAI's APIs read from a cache apart, and never more than the input", () => {
    const chatUsage = (usage: object) =>
      chat.readUsage({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 3, ...usage } });
    const cached = { ...NOTHING_USED, input: 4, output: 3, cacheRead: 6 };
    expect(chatUsage({ prompt_tokens_details: { cached_tokens: 6 } })).toEqual(cached);
    expect(chatUsage({ prompt_cache_hit_tokens: 6 })).toEqual(cached);
    expect(chatUsage({ prompt_tokens_details: { cached_tokens: 60 } })).toEqual({ ...cached, input: 0, cacheRead: 10 });
    for (const none of [{}, { prompt_tokens_details: null }, { prompt_tokens_details: { cached_tokens: null } }]) {
      expect(chatUsage(none)).toEqual(withoutCache(10, 3));
    }
    const usage = { input_tokens: 10, output_tokens: 3, input_tokens_details: { cached_tokens: 6 } };
    expect(responses.readUsage({ output: [], usage })).toEqual(cached);
  });

  it("sets the output limit in the member that the provider respects, and in no other", () => {
    const request = { model: "m", max_tokens: 1, max_completion_tokens: 2, user: "u" };
    expect(messages.withOutputLimit(request, 5, "anthropic")).toEqual({ ...request, max_tokens: 5 });
    expect(chat.withOutputLimit(request, 5, "openai")).toEqual({ model: "m", user: "u", max_completion_tokens: 5 });
    expect(chat.withOutputLimit(request, 5, "compatible")).toEqual({ model: "m", user: "u", max_tokens: 5 });
    const one = { model: "m", max_output_tokens: 1 };
    expect(responses.withOutputLimit(one, 5, "openai")).toEqual({ model: "m", max_output_tokens: 5 });
  });

  it("requests the usage of a streamed chat, and changes nothing else", () => {
    const streamed = { model: "m", stream: true };
    for (const dialect of [messages, responses]) expect(dialect.prepared(streamed)).toBe(streamed);
    for (const request of [{ model: "m" }, { model: "m", stream: false }, { model: "m", stream: null }]) {
      expect(chat.prepared(request)).toBe(request);
    }
    for (const stream_options of [undefined, null, "x", { include_usage: false }]) {
      expect(chat.prepared({ ...streamed, stream_options })).toEqual({
        ...streamed,
        stream_options: { include_usage: true },
      });
    }
    expect(chat.prepared({ ...streamed, stream_options: { include_obfuscation: true } })).toEqual({
      ...streamed,
      stream_options: { include_obfuscation: true, include_usage: true },
    });
  });
});

describe("an error", () => {
  it.each([
    [400, "invalid_request_error"],
    [401, "authentication_error"],
    [403, "permission_error"],
    [404, "not_found_error"],
    [413, "request_too_large"],
    [429, "rate_limit_error"],
    [499, "invalid_request_error"],
    [500, "api_error"],
    [504, "timeout_error"],
    [529, "overloaded_error"],
  ])("with status %i is %s in Anthropic's format", (status, type) => {
    expect(messages.error(status, "no")).toEqual({ type: "error", error: { type, message: "no" } });
    expect(messages.error(status, "no", "conflict")).toEqual({
      type: "error",
      error: { type, message: "conflict: no" },
    });
  });

  it.each([
    [400, "invalid_request_error"],
    [401, "authentication_error"],
    [403, "permission_error"],
    [404, "invalid_request_error"],
    [429, "rate_limit_error"],
    [499, "invalid_request_error"],
    [500, "server_error"],
    [502, "server_error"],
  ])("with status %i is %s in OpenAI's format", (status, type) => {
    for (const dialect of [chat, responses]) {
      expect(dialect.error(status, "no")).toEqual({ error: { message: "no", type, param: null, code: null } });
      expect(dialect.error(status, "no", "conflict")).toEqual({
        error: { message: "conflict: no", type, param: null, code: "conflict" },
      });
    }
  });

  it("in a stream is an event of its API", () => {
    const [one, two, three] = [messages, chat, responses].map((dialect) => dialect.errorEvent('broke "off"\n\n'));
    for (const event of [one, two, three]) expect(event).not.toContain("\n\n");
    expect(one?.split("\n")[0]).toBe("event: error");
    expect(two?.startsWith("data: ")).toBe(true);
    expect(three?.split("\n")[0]).toBe("event: error");
    const message = 'broke "off"\n\n';
    expect(dataOf(one ?? "")).toEqual({ type: "error", error: { type: "api_error", message } });
    expect(dataOf(two ?? "")).toEqual({ error: { message, type: "server_error", param: null, code: null } });
    expect(dataOf(three ?? "")).toEqual({ type: "error", code: "server_error", message, param: null });
  });
});

describe("the usage of a whole response", () => {
  it("is read from Anthropic's counts, where the cache of an hour is part of what was written", () => {
    const read = (usage: unknown) => messages.readUsage({ type: "message", usage });
    expect(read({})).toEqual(NOTHING_USED);
    expect(read({ input_tokens: null, output_tokens: 2 })).toEqual(withoutCache(0, 2));
    const counts = { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 3, cache_creation_input_tokens: 10 };
    expect(read(counts)).toEqual({ input: 1, output: 2, cacheRead: 3, cacheWrite: 10, cacheWriteLong: 0 });
    const cache_creation = { ephemeral_1h_input_tokens: 4 };
    expect(read({ ...counts, cache_creation })).toMatchObject({ cacheWrite: 6, cacheWriteLong: 4 });
    expect(read({ cache_creation })).toMatchObject({ cacheWrite: 0, cacheWriteLong: 4 });
    expect(read({ cache_creation: null, cache_creation_input_tokens: 5 })).toMatchObject({ cacheWrite: 5 });
    for (const wrong of [undefined, null, { input_tokens: -1 }, { output_tokens: "2" }])
      expect(read(wrong)).toBeUndefined();
    expect(messages.readUsage({ type: "error", usage: {} })).toBeUndefined();
  });

  it("is read from OpenAI's counts, which include the cache", () => {
    const chatResponse = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } };
    expect(chat.readUsage(chatResponse)).toEqual(withoutCache(3, 4));
    const response = { output: [], usage: { input_tokens: 5, output_tokens: 6 } };
    expect(responses.readUsage(response)).toEqual(withoutCache(5, 6));
    expect([chat.readUsage(response), responses.readUsage(chatResponse)]).toEqual([undefined, undefined]);
    for (const usage of [undefined, null, { prompt_tokens: -1, completion_tokens: 1 }, { input_tokens: 1 }]) {
      expect([chat.readUsage({ choices: [], usage }), responses.readUsage({ output: [], usage })]).toEqual([
        undefined,
        undefined,
      ]);
    }
  });
});

describe("the meter of a stream", () => {
  it("of Anthropic's API takes later counts over, and is complete at the end of the message", () => {
    // The reason of the end ends it, since some servers send nothing after it.
    const start = { type: "message_start", message: { usage: { input_tokens: 5, output_tokens: 1 } } };
    const started = withoutCache(5, 1);
    const delta = { type: "content_block_delta", delta: { type: "é", text: "abc", index: 1 } };
    const ended = { ...started, output: 9 };
    expect(
      follow(messages.meter({ model: "m" }), [
        "no JSON",
        { type: "ping", delta: "not counted" },
        start,
        delta,
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
        { type: "message_stop" },
      ]),
    ).toEqual([
      [true, undefined, 0, false, false],
      [true, undefined, 0, false, false],
      [true, started, 0, false, false],
      [true, started, 5, false, false],
      [true, ended, 5, true, false],
      [true, ended, 5, true, true],
    ]);
  });

  it("of Anthropic's API keeps the counts that a later event does not have", () => {
    const usage = {
      input_tokens: 1,
      output_tokens: 2,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 9,
      cache_creation: { ephemeral_1h_input_tokens: 4 },
    };
    const meter = messages.meter({ model: "m" });
    follow(meter, [
      { type: "message_start", message: { usage } },
      { type: "message_delta", usage: {} },
    ]);
    expect(meter.usage()).toEqual({ input: 1, output: 2, cacheRead: 3, cacheWrite: 5, cacheWriteLong: 4 });
  });

  it("of Anthropic's API ends at an error, which is not complete, and is not complete without counts", () => {
    const counts = { type: "message_delta", usage: { output_tokens: 1 } };
    expect(follow(messages.meter({ model: "m" }), [counts, { type: "error" }]).at(-1)).toEqual([
      true,
      withoutCache(0, 1),
      0,
      true,
      false,
    ]);
    expect(follow(messages.meter({ model: "m" }), [{ type: "message_stop" }])).toEqual([
      [true, undefined, 0, true, false],
    ]);
  });

  const usage = { prompt_tokens: 3, completion_tokens: 4 };
  const choice = { choices: [{ index: 0, delta: { content: "né" } }] };

  it("of a chat ends with a finish reason, without an end marker", () => {
    const finished = (finish_reason: string | null) => ({ choices: [{ index: 0, delta: {}, finish_reason }] });
    const ends = follow(chat.meter({ model: "m" }), [choice, finished(null), finished(""), finished("STOP")]);
    expect(ends.map(([, , , ended]) => ended)).toEqual([false, false, false, true]);
  });

  it("of a chat withholds the counts from a caller that did not request them", () => {
    const events = ["no JSON", choice, { ...choice, usage: null }, { choices: [], usage }, "[DONE]"];
    const counted = withoutCache(3, 4);
    expect(follow(chat.meter({ model: "m" }), events)).toEqual([
      [true, undefined, 0, false, false],
      [true, undefined, 3, false, false],
      [true, undefined, 6, false, false],
      [false, counted, 6, true, true],
      [true, counted, 6, true, true],
    ]);
    const withUsage = { model: "m", stream_options: { include_usage: true } };
    expect(follow(chat.meter(withUsage), events).map(([isPassed]) => isPassed)).toEqual([true, true, true, true, true]);
    for (const stream_options of [{ include_usage: false }, {}, null]) {
      expect(chat.meter({ model: "m", stream_options }).see(JSON.stringify({ choices: [] }))).toBe(false);
    }
  });

  it("of a chat is complete with counts of each event only at the end", () => {
    const counted = withoutCache(3, 4);
    expect(follow(chat.meter({ model: "m" }), [{ ...choice, usage }, "[DONE]"])).toEqual([
      [true, counted, 3, false, false],
      [true, counted, 3, true, true],
    ]);
    expect(follow(chat.meter({ model: "m" }), ["[DONE]"])).toEqual([[true, undefined, 0, true, false]]);
    expect(follow(chat.meter({ model: "m" }), [{ choices: [] }])).toEqual([[false, undefined, 0, false, false]]);
  });

  it.each(["response.completed", "response.incomplete", "response.failed", "error"])(
    "of the Responses API ends at %s",
    (type) => {
      const counted = withoutCache(5, 6);
      expect(
        follow(responses.meter({ model: "m" }), [
          "no JSON",
          { type: "response.output_text.delta", delta: "né" },
          { type: "response.in_progress", response: { usage: null } },
          { type: "response.in_progress", response: { usage: { input_tokens: 5, output_tokens: 6 } } },
          { type },
        ]),
      ).toEqual([
        [true, undefined, 0, false, false],
        [true, undefined, 3, false, false],
        [true, undefined, 3, false, false],
        [true, counted, 3, false, false],
        [true, counted, 3, true, true],
      ]);
      expect(follow(responses.meter({ model: "m" }), [{ type }])).toEqual([[true, undefined, 0, true, false]]);
    },
  );
});

describe("a part of a response", () => {
  it("has the bytes of its texts, at any depth", () => {
    expect(textBytes({ a: "é", b: [1, null, true, { c: "abc" }], d: undefined })).toBe(5);
    for (const value of [null, undefined, 5, "", {}]) expect(textBytes(value)).toBe(0);
  });

  it("is read as JSON, or as nothing", () => {
    expect([parsedJson('{"a":1}'), parsedJson("{"), parsedJson("null")]).toEqual([{ a: 1 }, undefined, null]);
  });
});
