import { describe, expect, it } from "vitest";
import { droppedHeader, limitToKnownPrices } from "#shared/model-gateway/budgeted-request.ts";
import { boundInput } from "#shared/model-gateway/input-bound.ts";
import { messages } from "#shared/model-gateway/messages-dialect.ts";
import { chat } from "#shared/model-gateway/openai-dialects.ts";
import { changedOptions, choices, outputTokens, pinPrice } from "#shared/model-gateway/price-options.ts";
import { newNotes } from "#shared/model-gateway/request-filter.ts";
import {
  calculateCost,
  inputTokens,
  NOTHING_USED,
  outputTokenCost,
  priceForInput,
  usualTokens,
} from "#shared/model-gateway/usage.ts";

const PRICE = { input_per_million_usd: 2, output_per_million_usd: 10 };

describe("calculateCost", () => {
  it("counts input, output and each kind of use of the cache at its own price, in billionths of a dollar", () => {
    const cost = (usage: object) => calculateCost({ ...NOTHING_USED, ...usage }, PRICE);
    expect([cost({}), cost({ input: 1 }), cost({ output: 1 })]).toEqual([0, 2_000, 10_000]);
    expect([cost({ cacheRead: 10 }), cost({ cacheWrite: 4 }), cost({ cacheWriteLong: 1 })]).toEqual([
      2_000, 10_000, 4_000,
    ]);
    const all = { input: 1, output: 1, cacheRead: 10, cacheWrite: 4, cacheWriteLong: 1 };
    expect([cost(all), inputTokens(all)]).toEqual([28_000, 16]);
    const cheap = { input_per_million_usd: 0.0001, output_per_million_usd: 0 };
    expect(calculateCost({ ...NOTHING_USED, input: 1 }, cheap), "rounded up").toBe(1);
    expect([outputTokenCost(PRICE), usualTokens(3), usualTokens(4), usualTokens(0)]).toEqual([10_000, 1, 2, 0]);
  });

  it("has the price of long input above the number of tokens of its model", () => {
    expect(priceForInput("openai/gpt-5.4", PRICE, 272_000)).toEqual(PRICE);
    expect(priceForInput("openai/gpt-5.4", PRICE, 272_001)).toEqual({
      input_per_million_usd: 4,
      output_per_million_usd: 15,
    });
    for (const model of ["anthropic/other", "toString"]) expect(priceForInput(model, PRICE, 1e9)).toEqual(PRICE);
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
