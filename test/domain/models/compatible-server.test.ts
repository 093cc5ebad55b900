import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CompatibleOptions, compatibleServer } from "#shared/model-gateway/compatible-server.ts";
import { chat, responses } from "#shared/model-gateway/openai-dialects.ts";
import { NotConfigured } from "#shared/model-provider/model-provider.ts";
import { startServer } from "../../support/http-server.ts";

/** What a server returns for each path: a status and a body, one after the other, the last one again and again. */
type Script = Readonly<Record<string, readonly (readonly [number, unknown])[]>>;

let script: Script;
let seen: { readonly path: string; readonly headers: Readonly<Record<string, unknown>>; readonly body: unknown }[];
let server: Awaited<ReturnType<typeof startServer>>;
beforeEach(async () => {
  [script, seen] = [{}, []];
  server = await startServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const path = request.url ?? "";
    const before = seen.filter((call) => call.path === path).length;
    seen.push({ path, headers: request.headers, body: text === "" ? undefined : JSON.parse(text) });
    const replies = script[path] ?? [[404, {}]];
    const [status, body] = replies[Math.min(before, replies.length - 1)] ?? [404, {}];
    const location = status === 302 ? { location: "/elsewhere" } : {};
    response.writeHead(status, { "content-type": "application/json", ...location }).end(JSON.stringify(body));
  });
});
afterEach(() => server[Symbol.asyncDispose]());

const OK = [200, { choices: [] }] as const;
const CHAT = "/v1/chat/completions";
const connect = (options?: CompatibleOptions) => compatibleServer(`${server.url}/v1/`, options);
const call = (request: object = {}, dialect = chat) => ({
  dialect,
  request: { model: "m", ...request },
  headers: {},
  signal: new AbortController().signal,
});
const bodies = (path = CHAT) => seen.filter((one) => one.path === path).map(({ body }) => body);

describe("a request with tools to a model that is not shown them", () => {
  const tools = [{ type: "function", function: { name: "run_command" } }];
  const props = { default_generation_settings: { n_ctx: 512 }, chat_template_caps: { supports_tools: false } };

  it("is refused without a call of the server, since that would leave them out without an error", async () => {
    script = { "/props": [[200, props]], [CHAT]: [OK] };
    const provider = connect();
    const refusal = await provider(call({ tools }));
    expect([refusal.status, await refusal.text()]).toEqual([400, expect.stringContaining("m is not shown the tools")]);
    expect(bodies()).toEqual([]);
    for (const request of [{}, { tools: [] }]) expect((await provider(call(request))).status).toBe(200);
  });

  it("is sent once the server has a template with tools for the model", async () => {
    let time = 0;
    const better = { ...props, chat_template_caps: { supports_tools: true } };
    script = {
      "/props": [
        [200, props],
        [200, better],
      ],
      [CHAT]: [OK],
    };
    const provider = connect({ now: () => time });
    expect((await provider(call({ tools }))).status).toBe(400);
    time = 5 * 60_000;
    expect((await provider(call({ tools }))).status).toBe(200);
  });

  it("is decided by the settings, if they say it", async () => {
    script = { "/props": [[200, props]], [CHAT]: [OK] };
    expect((await connect()({ ...call({ tools }), limits: { tools: true } })).status).toBe(200);
    script = { [CHAT]: [OK] };
    expect((await connect()({ ...call({ tools }), limits: { tools: false } })).status).toBe(400);
  });
});

describe("the limits of a compatible server's model", () => {
  it.each([
    ["vLLM", { "/v1/models": { data: [{ id: "m", max_model_len: 8_192 }] } }, { contextTokens: 8_192 }],
    [
      "OpenRouter",
      {
        "/v1/models": {
          data: [
            { id: "x", context_length: 1 },
            { id: "m", context_length: 64_000, top_provider: { max_completion_tokens: 4_000 } },
          ],
        },
      },
      { contextTokens: 64_000, outputTokens: 4_000 },
    ],
    [
      "Groq",
      { "/v1/models": { data: [{ id: "m", context_window: 131_072, max_completion_tokens: 32_768 }] } },
      { contextTokens: 131_072, outputTokens: 32_768 },
    ],
    [
      "LM Studio",
      { "/v1/models": { data: [{ id: "m", max_context_length: 32_768, loaded_context_length: 4_096 }] } },
      { contextTokens: 4_096 },
    ],
    [
      "LM Studio's own API",
      {
        "/v1/models": { data: [{ id: "m" }] },
        "/api/v0/models": { data: [{ id: "m", max_context_length: 32_768, loaded_context_length: 4_096 }] },
      },
      { contextTokens: 4_096 },
    ],
    [
      "LM Studio's own API, where the model is not loaded,",
      { "/api/v0/models": { data: [{ id: "m", max_context_length: 32_768 }, { id: "x" }] } },
      { contextTokens: 32_768 },
    ],
    [
      "Together, whose list is not in an object,",
      { "/v1/models": [{ id: "m", context_length: 9_000 }] },
      { contextTokens: 9_000 },
    ],
    ["Text Generation Inference", { "/info": { model_id: "m", max_total_tokens: 2_048 } }, { contextTokens: 2_048 }],
    [
      "llama.cpp with slots",
      {
        "/v1/models": { data: [{ id: "file.gguf", meta: { n_ctx: 16_384, n_ctx_train: 131_072 } }] },
        "/props": { default_generation_settings: { n_ctx: 4_096 }, total_slots: 4 },
      },
      { contextTokens: 4_096 },
    ],
    [
      "llama.cpp, whose template has no place for tools,",
      { "/props": { default_generation_settings: { n_ctx: 512 }, chat_template_caps: { supports_tools: false } } },
      { contextTokens: 512, tools: false },
    ],
    [
      "llama.cpp, whose template has tools,",
      { "/props": { default_generation_settings: { n_ctx: 512 }, chat_template_caps: { supports_tools: true } } },
      { contextTokens: 512, tools: true },
    ],
    [
      "Ollama, whose model has no tools,",
      { "/api/show": { model_info: { "phi.context_length": 2_048 }, capabilities: ["completion"] } },
      { contextTokens: 2_048, tools: false },
    ],
    [
      "llama.cpp without /props",
      { "/v1/models": { data: [{ id: "m", meta: { n_ctx: 16_384 } }] } },
      { contextTokens: 16_384 },
    ],
    [
      "Ollama",
      { "/v1/models": { data: [{ id: "m" }] }, "/api/show": { model_info: { "qwen3.context_length": 40_960 } } },
      { contextTokens: 40_960 },
    ],
    [
      "Ollama with num_ctx",
      { "/api/show": { parameters: "stop x\nnum_ctx    8192", model_info: { "qwen3.context_length": 40_960 } } },
      { contextTokens: 8_192 },
    ],
    ["an unknown server", {}, {}],
    [
      "a server that describes other models",
      { "/v1/models": { data: [{ id: "a", max_model_len: 1 }, { id: "b" }] } },
      {},
    ],
    ["a server with odd members", { "/v1/models": { data: [{ id: "m", max_model_len: "many", meta: 7 }, null] } }, {}],
  ])("are those that %s states", async (_, described: Record<string, unknown>, limits) => {
    script = {
      ...Object.fromEntries(Object.entries(described).map(([path, body]) => [path, [[200, body]]])),
      [CHAT]: [OK],
    };
    const provider = connect();
    expect((await provider(call())).status).toBe(200);
    expect(provider.limits?.("m")).toEqual(limits);
  });

  it("are read once, and again after five minutes", async () => {
    script = {
      "/v1/models": [
        [200, { data: [{ id: "m", max_model_len: 8_192 }] }],
        [200, { data: [{ id: "m", max_model_len: 4_096 }] }],
      ],
    };
    let now = 1_000_000;
    const provider = connect({ now: () => now });
    await provider(call());
    await provider(call());
    expect(bodies("/v1/models")).toHaveLength(1);
    now += 5 * 60_000;
    await provider(call());
    expect([bodies("/v1/models").length, provider.limits?.("m")]).toEqual([2, { contextTokens: 4_096 }]);
  });

  it("are raised by the usage of a call that exceeds them", async () => {
    script = { "/v1/models": [[200, { data: [{ id: "m", max_model_len: 100 }] }]] };
    const provider = connect();
    await provider(call());
    provider.noteTokens?.("m", 90);
    expect(provider.limits?.("m")).toEqual({ contextTokens: 100 });
    provider.noteTokens?.("m", 120);
    provider.noteTokens?.("unknown", 120);
    expect([provider.limits?.("m"), provider.limits?.("unknown")]).toEqual([{ contextTokens: 120 }, {}]);
  });

  it("are learned from a refusal", async () => {
    const error = {
      error: {
        type: "exceed_context_size_error",
        n_ctx: 2_048,
        message: "the request exceeds the available context size",
      },
    };
    script = { [CHAT]: [[400, error]] };
    const provider = connect();
    const response = await provider(call());
    expect([response.status, await response.json()]).toEqual([400, error]);
    expect(provider.limits?.("m")).toEqual({ contextTokens: 2_048 });
    expect(bodies()).toHaveLength(1);
  });
});

describe("the output limit of a request to a compatible server", () => {
  it.each([
    ["a quarter of the window", { max_model_len: 8_192 }, {}, { max_tokens: 2_048 }],
    ["the model's own", { max_model_len: 1_000_000, max_output_tokens: 4_000 }, {}, { max_tokens: 4_000 }],
    ["the largest default for a large window", { max_model_len: 1_000_000 }, {}, { max_tokens: 32_000 }],
    ["a default where nothing is known", {}, {}, { max_tokens: 8_192 }],
    ["that of the request", { max_model_len: 8_192 }, { max_completion_tokens: 10 }, { max_tokens: 10 }],
    ["at most what the model can", { max_output_tokens: 4_000 }, { max_tokens: 9_000 }, { max_tokens: 4_000 }],
  ])("is %s", async (_, entry, request, sent) => {
    script = { "/v1/models": [[200, { data: [{ id: "m", ...entry }] }]], [CHAT]: [OK] };
    await connect()(call(request));
    expect(bodies()).toEqual([{ model: "m", ...sent }]);
  });

  it("is max_output_tokens in the Responses API", async () => {
    script = { "/v1/responses": [[200, {}]] };
    await connect()(call({ input: "x" }, responses));
    expect(bodies("/v1/responses")).toEqual([{ model: "m", input: "x", max_output_tokens: 8_192 }]);
  });

  it("follows the settings of the deployment before the server's description", async () => {
    script = { "/v1/models": [[200, { data: [{ id: "m", max_model_len: 8_192 }] }]], [CHAT]: [OK] };
    await connect()({ ...call(), limits: { contextTokens: 400 } });
    expect(bodies()).toEqual([{ model: "m", max_tokens: 100 }]);
  });

  it("is sent under the name that the server takes, from then on", async () => {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    script = { [CHAT]: [[400, { error: { message } }], OK] };
    const provider = connect();
    expect((await provider(call({ max_tokens: 7 }))).status).toBe(200);
    expect((await provider(call({ max_tokens: 8 }))).status).toBe(200);
    expect(bodies()).toEqual([
      { model: "m", max_tokens: 7 },
      { model: "m", max_completion_tokens: 7 },
      { model: "m", max_completion_tokens: 8 },
    ]);
  });

  it.each([
    [
      "max_tokens is too large: 9000. This model supports at most 4096 completion tokens, whereas you provided 9000.",
      4_096,
    ],
    ["max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for m", 8_192],
    ["`max_tokens` must be less than or equal to `1024`, the maximum value for `max_tokens`", 1_024],
    ["Invalid max_tokens value, the valid range of max_tokens is [1, 2048]", 2_048],
    [
      "This model's maximum context length is 10000 tokens. However, you requested 12000 tokens (3000 in the messages, 9000 in the completion).",
      7_000,
    ],
    [
      "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 4096 tokens and your request has 3000 input tokens",
      1_096,
    ],
    [
      "Bad request: rpc error: code = InvalidArgument desc = max_tokens (9000) cannot exceed 8192. Please reduce it.",
      8_192,
    ],
    [
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 7000 `inputs` tokens and 9000 `max_new_tokens`",
      1_193,
    ],
  ])("is lowered after the refusal %j", async (message, tokens) => {
    script = { [CHAT]: [[400, { error: { message } }], OK] };
    expect((await connect()(call({ max_tokens: 9_000 }))).status).toBe(200);
    expect(bodies()).toEqual([
      { model: "m", max_tokens: 9_000 },
      { model: "m", max_tokens: tokens },
    ]);
  });

  it("is not sent a fourth time if the server refuses every name", async () => {
    script = { [CHAT]: [[422, { detail: "max_tokens and max_completion_tokens are unknown" }]] };
    expect((await connect()(call())).status).toBe(422);
    expect(bodies()).toHaveLength(3);
  });
});

describe("a compatible server", () => {
  it("that does not know stream_options gets none from then on", async () => {
    const refusal = { error: { message: "Unknown parameter: 'stream_options'.", param: "stream_options" } };
    script = { [CHAT]: [[400, refusal], OK] };
    const provider = connect();
    for (const _ of [1, 2])
      expect((await provider(call({ stream_options: { include_usage: true } }))).status).toBe(200);
    expect(bodies().map((body) => "stream_options" in Object(body))).toEqual([true, false, false]);
  });

  it("that limits the output with the status 416 is called with a lower limit", async () => {
    script = { [CHAT]: [[416, { message: "max_completion_tokens cannot exceed 512" }], OK] };
    expect((await connect()(call({ max_tokens: 900 }))).status).toBe(200);
  });

  it("gets its key and its headers with each request", async () => {
    script = { [CHAT]: [OK] };
    await connect({ key: async () => "secret", headers: { "x-title": "runs" } })(call());
    expect(seen.map(({ path }) => path)).toEqual([
      ...["/v1/models", "/props", "/api/show", "/api/v0/models", "/info"],
      CHAT,
    ]);
    for (const { headers } of seen)
      expect(headers).toMatchObject({ authorization: "Bearer secret", "x-title": "runs" });
  });

  it("has no key and no header that is long enough to be a secret in what is shown of its responses", async () => {
    script = { [CHAT]: [OK] };
    const provider = connect({
      key: async () => "team-secret",
      headers: { "x-key": "Token other-secret", "x-title": "runs" },
    });
    await provider(call());
    await provider({ ...call(), key: "third-secret" });
    expect(provider.hide?.("runs: team-secret, other-secret, third-secret")).toBe(
      "runs: [redacted], [redacted], [redacted]",
    );
  });

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
    ["deflate", deflateSync],
  ] as const)("may pack its responses with %s, which nobody requests", async (encoding, pack) => {
    await using packing = await startServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-encoding": encoding });
      response.end(pack('{"choices":[]}'));
    });
    const response = await compatibleServer(`${packing.url}/v1`)(call());
    expect([await response.json(), response.headers.get("content-encoding")]).toEqual([{ choices: [] }, null]);
  });

  it("cannot redirect a request to another address", async () => {
    script = {
      [CHAT]: [
        [302, {}],
        [302, {}],
      ],
    };
    await expect(connect()(call())).rejects.toThrow(NotConfigured);
    await expect(connect()(call())).rejects.toThrow("redirected the request");
    expect(seen.map(({ path }) => path)).not.toContain("/elsewhere");
  });

  it("is not called after the call was given up", async () => {
    const provider = connect();
    await expect(provider({ ...call(), signal: AbortSignal.abort() })).rejects.toThrow();
    expect(bodies()).toEqual([]);
  });

  it("has the time for its first byte that the settings say", () => {
    expect(connect().timeouts).toEqual({ firstByteMs: 780_000, idleMs: 780_000 });
    expect(connect({ timeouts: { firstByteMs: 5 } }).timeouts).toEqual({ firstByteMs: 5, idleMs: 5 });
    expect(connect({ timeouts: { idleMs: 5, totalMs: 9 } }).timeouts).toEqual({
      firstByteMs: 780_000,
      idleMs: 5,
      totalMs: 9,
    });
  });
});
