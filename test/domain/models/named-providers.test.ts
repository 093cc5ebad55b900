import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CATALOGUE } from "#shared/models/catalogue.ts";
import { findLimits } from "#shared/models/find-limits.ts";
import { defaultModel, findPrice, models, resolveModel } from "#shared/models/models.ts";
import { findProvider, listModelApis } from "#shared/models/providers.ts";

const cost = {
  ...{ input_per_million_usd: 1, output_per_million_usd: 2, cache_read_per_million_usd: 0.25 },
  steps: [{ above_input_tokens: 200_000, input_per_million_usd: 2, output_per_million_usd: 4 }],
};

beforeEach(() => {
  vi.stubEnv("MODEL_PROVIDERS", "");
  vi.stubEnv(
    "NAMED_PROVIDERS",
    JSON.stringify([
      {
        name: "box",
        kind: "compatible",
        is_custom: true,
        models: [{ name: "org/qwen", cost, context_tokens: 9, tools: false }],
      },
      { name: "azure", kind: "openai", is_custom: true, models: [{ name: "gpt", vision_supported: true }] },
      { name: "gemini", kind: "google", models: [{ name: "flash", display_name: "Flash", output_tokens: 8 }] },
      { name: "claude", kind: "anthropic" },
    ]),
  );
});
afterEach(() => void vi.unstubAllEnvs());

describe("providers with names of their own", () => {
  it("offer the models that are described, or those of the catalogue, under their names", () => {
    const listed = CATALOGUE.anthropic.map((model) => ({ ...model, id: model.id.replace("anthropic/", "claude/") }));
    expect(models().slice(0, -1)).toEqual([
      { id: "box/org/qwen", display_name: "org/qwen", provider: "UNKNOWN", vision_supported: false, cost },
      { id: "azure/gpt", display_name: "gpt", provider: "UNKNOWN", vision_supported: true },
      { id: "gemini/flash", display_name: "Flash", provider: "GOOGLE", vision_supported: false },
      ...listed,
    ]);
    expect(defaultModel()).toBe("box/org/qwen");
    expect(findPrice("box/org/qwen")).toEqual(cost);
    vi.stubEnv("MODEL_PRICES", "box/org/qwen=3/4");
    expect(findPrice("box/org/qwen")?.input_per_million_usd, "the setting takes precedence").toBe(3);
  });

  it("are replaced by one of the same name that has settings of its own", () => {
    vi.stubEnv("MODEL_PROVIDERS", "anthropic");
    const proxy = { name: "anthropic", kind: "anthropic", is_custom: true, models: [{ name: "m", context_tokens: 9 }] };
    vi.stubEnv("NAMED_PROVIDERS", JSON.stringify([proxy]));
    expect(models().slice(0, -1)).toEqual(CATALOGUE.anthropic);
    expect(findLimits("anthropic/m")).toEqual({});
    expect(listModelApis(["anthropic/claude-opus-5-5"])).toEqual({});
  });

  it("have the limits that are stated, unless the setting has others", () => {
    expect(findLimits("box/org/qwen")).toEqual({ contextTokens: 9, tools: false });
    expect(findLimits("gemini/flash")).toEqual({ outputTokens: 8 });
    expect(findLimits("azure/gpt")).toEqual({});
    vi.stubEnv("MODEL_LIMITS", "box/org/qwen=7/3");
    expect(findLimits("box/org/qwen")).toEqual({ contextTokens: 7, outputTokens: 3 });
  });

  it("of the kind bedrock offer the models of the catalogue, which have the Messages API", () => {
    vi.stubEnv("NAMED_PROVIDERS", JSON.stringify([{ name: "aws", kind: "bedrock", is_custom: false }]));
    const [first = ""] = CATALOGUE.bedrock.map(({ id }) => id.replace("bedrock/", "aws/"));
    expect(models()[0]).toMatchObject({ id: first, provider: "AMAZON" });
    expect(listModelApis([first])).toEqual({ [first]: "messages" });
    expect(resolveModel(first, ["anthropic", "bedrock"])).toMatchObject({
      providerKind: "bedrock",
      providerName: "aws",
    });
  });

  it("are called by the API of their kind alone", () => {
    expect(resolveModel("box/org/qwen", ["openai", "compatible"])).toMatchObject({
      providerName: "box",
      providerKind: "compatible",
      name: "org/qwen",
    });
    expect(resolveModel("flash", ["openai", "compatible"])).toMatchObject({
      providerName: "gemini",
      providerKind: "compatible",
    });
    expect(resolveModel("claude/claude-opus-5-5", ["anthropic"])).toMatchObject({
      providerName: "claude",
      providerKind: "anthropic",
    });
    expect(() => resolveModel("claude/claude-opus-5-5", ["openai", "compatible"])).toThrow("claude-opus-5-5");
    expect(findProvider("anthropic/claude-opus-5-5")).toBeUndefined();
  });

  it("tell the agent the API of each model that its id does not name", () => {
    vi.stubEnv("MODEL_PROVIDERS", "openai");
    const ids = ["box/org/qwen", "azure/gpt", "claude/x", "openai/gpt-5.4", "gone/x"];
    expect(listModelApis(ids)).toEqual({ "box/org/qwen": "chat", "azure/gpt": "responses", "claude/x": "messages" });
  });
});
