import { describe, expect, it } from "vitest";
import { droppedHeader, limitToKnownPrices } from "#shared/model-gateway/budgeted-request.ts";
import { boundInput } from "#shared/model-gateway/input-bound.ts";
import { messages } from "#shared/model-gateway/messages-dialect.ts";
import { chat } from "#shared/model-gateway/openai-dialects.ts";
import { changedOptions, choices, outputTokens, pinPrice } from "#shared/model-gateway/price-options.ts";
import { newNotes } from "#shared/model-gateway/request-filter.ts";
import {
  calculateCost,
  highestPrice,
  inputTokens,
  isFree,
  NOTHING_USED,
  outputTokenCost,
  priceForInput,
  usualTokens,
} from "#shared/model-gateway/usage.ts";

const COST = { input_per_million_usd: 2, output_per_million_usd: 10 };
const ANTHROPIC = { id: "anthropic/any", providerKind: "anthropic" } as const;
const COMPATIBLE = { id: "box/any", providerKind: "compatible" } as const;
const STEPS = {
  ...COST,
  cache_read_per_million_usd: 0.1,
  steps: [
    { above_input_tokens: 500, input_per_million_usd: 3, output_per_million_usd: 30, cache_read_per_million_usd: 1 },
    { above_input_tokens: 200, input_per_million_usd: 4, output_per_million_usd: 20 },
  ],
};

describe("calculateCost", () => {
  const countWith = (price: ReturnType<typeof priceForInput>) => (usage: object) =>
    calculateCost({ ...NOTHING_USED, ...usage }, price);

  it("counts input, output and each kind of use of the cache at its own price, in billionths of a dollar", () => {
    const price = priceForInput(ANTHROPIC, COST, 1);
    const cost = countWith(price);
    expect([cost({}), cost({ input: 1 }), cost({ output: 1 })]).toEqual([0, 2_000, 10_000]);
    expect([cost({ cacheRead: 10 }), cost({ cacheWrite: 4 }), cost({ cacheWriteLong: 1 })]).toEqual([
      2_000, 10_000, 4_000,
    ]);
    const all = { input: 1, output: 1, cacheRead: 10, cacheWrite: 4, cacheWriteLong: 1 };
    expect([cost(all), inputTokens(all)]).toEqual([28_000, 16]);
    const cheap = priceForInput(ANTHROPIC, { input_per_million_usd: 0.0001, output_per_million_usd: 0 }, 1);
    expect(countWith(cheap)({ input: 1 }), "rounded up").toBe(1);
    expect([outputTokenCost(price), usualTokens(3), usualTokens(4), usualTokens(0)]).toEqual([10_000, 1, 2, 0]);
  });

  it("counts the cache at the model's own price, and else at that of input where the API has no common discount", () => {
    const own = { ...COST, cache_read_per_million_usd: 0.1, cache_write_per_million_usd: 5 };
    for (const model of [ANTHROPIC, COMPATIBLE]) {
      const cost = countWith(priceForInput(model, own, 1));
      expect([cost({ cacheRead: 1 }), cost({ cacheWrite: 1 }), cost({ cacheWriteLong: 1 })]).toEqual([
        100, 5_000, 5_000,
      ]);
    }
    const without = countWith(priceForInput(COMPATIBLE, COST, 1));
    expect([without({ cacheRead: 1 }), without({ cacheWrite: 1 })]).toEqual([2_000, 2_000]);
    const free = { input_per_million_usd: 0, output_per_million_usd: 1, cache_read_per_million_usd: 0 };
    expect(countWith(priceForInput(ANTHROPIC, free, 1))({ cacheRead: 5, cacheWrite: 5 })).toBe(0);
  });
});

describe("the price of a call", () => {
  it("is that of the last step whose number of input tokens it exceeds", () => {
    const prices = [200, 201, 500, 501].map((tokens) => priceForInput(COMPATIBLE, STEPS, tokens));
    expect(prices.map(({ input, output, cacheRead }) => [input, output, cacheRead])).toEqual([
      [2, 10, 0.1],
      // As large a part of the price of input as that of the standard price.
      [4, 20, 0.2],
      [4, 20, 0.2],
      [3, 30, 1],
    ]);
  });

  it("is reserved at the highest price of each kind that the call may have", () => {
    const reserved = [200, 300, 501].map((tokens) => highestPrice(COMPATIBLE, STEPS, tokens));
    expect(reserved.map(({ input, output, cacheRead }) => [input, output, cacheRead])).toEqual([
      [2, 10, 0.1],
      [4, 20, 0.2],
      [4, 30, 1],
    ]);
    expect(reserved[2]).toMatchObject({ cacheWrite: 4, cacheWriteLong: 8 });
  });

  it("has the price of long input that is known of a model whose price has no steps", () => {
    const model = { id: "openai/gpt-5.4", providerKind: "openai" } as const;
    const read = (tokens: number, cost: Parameters<typeof priceForInput>[1] = COST) => {
      const { input, output } = priceForInput(model, cost, tokens);
      return [input, output];
    };
    expect([read(272_000), read(272_001)]).toEqual([
      [2, 10],
      [4, 15],
    ]);
    expect(read(300_000, { ...COST, steps: [] })).toEqual([2, 10]);
    for (const id of ["anthropic/other", "toString"]) {
      expect(priceForInput({ id, providerKind: "anthropic" }, COST, 1e9)).toMatchObject({ input: 2, output: 10 });
    }
  });
});

describe("isFree", () => {
  const FREE = { input_per_million_usd: 0, output_per_million_usd: 0 };

  it.each([
    [true, FREE],
    [true, { ...FREE, cache_read_per_million_usd: 0, steps: [{ ...FREE, above_input_tokens: 1 }] }],
    [false, { ...FREE, output_per_million_usd: 0.0001 }],
    [false, { ...FREE, cache_write_per_million_usd: 1 }],
    [false, { ...FREE, steps: [{ ...FREE, above_input_tokens: 200_000, input_per_million_usd: 1 }] }],
    [false, undefined],
  ])("is %s for a model with the price %j", (expected, cost) => {
    expect(isFree({ ...COMPATIBLE, ...(cost === undefined ? {} : { cost }) })).toBe(expected);
  });
});

describe("boundInput", () => {
  const bound = (request: object, notes = {}, provider: "anthropic" | "bedrock" | "openai" | "compatible" = "openai") =>
    boundInput({ model: "m", ...request }, provider, { ...newNotes(), ...notes });
  const base = '{"model":"m"}'.length + 1_000;

  it("counts the bytes of the request and the overhead of the provider", () => {
    expect(bound({})).toEqual({ ...NOTHING_USED, input: base + 2 - 2 });
    expect(bound({ system: "é" }).input).toBe(base + ',"system":"é"'.length + 1);
  });

  it("counts each image by the provider's most, and not by the characters of its data", () => {
    const image = { images: 2, imageCharacters: 4 };
    const most = { anthropic: 5_000, bedrock: 5_000, openai: 25_000, compatible: 50_000 } as const;
    for (const provider of ["anthropic", "bedrock", "openai", "compatible"] as const) {
      expect(bound({}, image, provider).input).toBe(base - 4 + 2 * most[provider]);
    }
  });

  it("counts tools of the provider, and characters outside of ASCII in definitions of tools as escapes", () => {
    expect(bound({}, { providerTools: 3 }).input).toBe(base + 6_000);
    const tools = [{ name: "é\u007f" }];
    expect(bound({ tools }).input).toBe(base + Buffer.byteLength(`,"tools":${JSON.stringify(tools)}`) + 6);
  });

  it("counts the input as written to the cache if the request enables caching", () => {
    const request = { cache_control: { type: "ephemeral" } };
    const { input, cacheWrite, ...rest } = bound(request);
    expect([input, cacheWrite]).toEqual([0, base + JSON.stringify(request).length - 1]);
    expect(rest).toEqual({ output: 0, cacheRead: 0, cacheWriteLong: 0 });
  });
});

describe("pinPrice", () => {
  it.each([
    ["service_tier", ["auto", "default", "standard", "standard_only", "flex", null], ["priority", "", 5]],
    ["speed", ["standard", null], ["fast", "auto"]],
    ["inference_geo", ["global", null], ["us", "standard"]],
  ] as const)("accepts %s for the standard price only", (name, accepted, refused) => {
    for (const value of accepted) expect(() => pinPrice({ model: "m", [name]: value }, "openai")).not.toThrow();
    for (const value of refused) {
      expect(() => pinPrice({ model: "m", [name]: value }, "openai")).toThrow(`${name}: must be left out or standard`);
    }
  });

  it("sends the standard options of each provider, and a place only where it was named", () => {
    const request = { model: "m", user: "u", service_tier: "flex", speed: "standard", inference_geo: "global" };
    const rest = { model: "m", user: "u" };
    expect(pinPrice(request, "anthropic")).toEqual({ ...rest, service_tier: "standard_only", inference_geo: "global" });
    expect(pinPrice({ ...request, inference_geo: null }, "anthropic")).toEqual({
      ...rest,
      service_tier: "standard_only",
    });
    expect(pinPrice(request, "openai")).toEqual({ ...rest, service_tier: "default" });
    expect(pinPrice(request, "openai", true), "a server that may not know the member").toEqual(rest);
    for (const provider of ["bedrock", "compatible"] as const) expect(pinPrice(request, provider)).toEqual(rest);
    expect(changedOptions(request, pinPrice(request, "anthropic"))).toEqual(["service_tier", "speed"]);
    expect(changedOptions(request, pinPrice(request, "openai"))).toEqual(["service_tier", "speed", "inference_geo"]);
    const silent = { model: "m", service_tier: null, speed: undefined };
    expect(changedOptions(silent, pinPrice(silent, "openai"))).toEqual([]);
  });
});

describe("a number of tokens or of responses", () => {
  it("is a whole number within its limits, or absent", () => {
    for (const value of [undefined, null]) expect([outputTokens(value, "max"), choices(value)]).toEqual([undefined, 1]);
    for (const value of [1, 1_000_000]) expect(outputTokens(value, "max")).toBe(value);
    for (const value of [1, 128]) expect(choices(value)).toBe(value);
  });

  it.each([0, -1, 1.5, 1_000_001, "1", true, [], Number.NaN])("is not %j", (value) => {
    expect(() => outputTokens(value, "max")).toThrow("max: must be a whole number from 1 to 1000000");
    expect(() => choices(value === 1_000_001 ? 129 : value)).toThrow("n: must be a whole number from 1 to 128");
  });
});

describe("limitToKnownPrices", () => {
  const limit = (request: object, headers: Readonly<Record<string, string>> = {}) =>
    limitToKnownPrices({ model: "m", ...request }, headers, messages, "anthropic");

  it("removes an empty list of tools with the choice among them, and keeps the model", () => {
    const none = limit({ tools: [{ type: "web_search_20250305" }], tool_choice: { type: "auto" }, max_tokens: 5 });
    expect(none.request).toEqual({ model: "m", max_tokens: 5 });
    expect(none.dropped).toEqual(['tools[]("web_search_20250305")']);
    const tools = [{ name: "own" }];
    expect(limit({ tools, tool_choice: { type: "auto" } }).request).toEqual({
      model: "m",
      tools,
      tool_choice: { type: "auto" },
    });
    expect(none.input).toEqual(boundInput(none.request, "anthropic", newNotes()));
  });

  it("keeps the beta features with a known price, and no other header of features", () => {
    const betas = "prompt-caching-2024-07-31 , fast-mode-2026-01-01,,effort-2025-11-24";
    const { headers, dropped } = limit({}, { "anthropic-beta": betas, "openai-beta": "x", "anthropic-version": "v" });
    expect(headers).toEqual({
      "anthropic-version": "v",
      "anthropic-beta": "prompt-caching-2024-07-31,effort-2025-11-24",
    });
    expect(dropped).toEqual(["anthropic-beta(fast-mode-2026-01-01)", "openai-beta"]);
    expect(limit({}, { "anthropic-beta": "other" }).headers).toEqual({});
    expect(limit({}).dropped).toEqual([]);
    expect(limitToKnownPrices({ model: "m", n: 2 }, {}, chat, "openai").request).toEqual({ model: "m", n: 2 });
  });

  it.each([
    ..."adaptive-thinking-2026-01-28 claude-code-20250219 computer-use-2025-01-24 computer-use-2025-11-24".split(" "),
    ..."context-management-2025-06-27 effort-2025-11-24 fine-grained-tool-streaming-2025-05-14".split(" "),
    ..."interleaved-thinking-2025-05-14 output-128k-2025-02-19 prompt-caching-2024-07-31".split(" "),
    ..."redact-thinking-2026-02-12 structured-outputs-2025-11-13 structured-outputs-2025-12-15".split(" "),
    ..."token-efficient-tools-2025-02-19 tool-examples-2025-10-29".split(" "),
  ])("keeps the beta feature %s", (name) => {
    expect(limit({}, { "anthropic-beta": name }).headers).toEqual({ "anthropic-beta": name });
  });

  it("lists what was dropped in a header of at most 1,000 visible characters", () => {
    expect(droppedHeader([])).toEqual({});
    expect(droppedHeader(["a", "b\né", " ~"])).toEqual({ "runyard-dropped": "a, b??,  ~" });
    expect(droppedHeader(["x".repeat(2_000)])["runyard-dropped"]).toBe("x".repeat(1_000));
  });
});
