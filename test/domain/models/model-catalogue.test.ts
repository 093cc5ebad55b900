import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findBedrockRemedy } from "#shared/model-provider/bedrock-remedies.ts";
import { CATALOGUE } from "#shared/models/catalogue.ts";
import { checkModel, defaultModel, findPrice, models, resolveModel, usableModels } from "#shared/models/models.ts";

const OPUS = "anthropic/claude-opus-5-5";
const SONNET = "anthropic/claude-sonnet-5-5";
const HAIKU = "anthropic/claude-haiku-4-5-20251001";

beforeEach(() => {
  vi.stubEnv("MODEL_PROVIDERS", "compatible,anthropic");
  vi.stubEnv("COMPATIBLE_MODELS", "llama,claude-opus-5-5");
  vi.stubEnv("MODEL_PRICES", `compatible/llama=0.5/12.25,${HAIKU}=3/4`);
  vi.stubEnv("DISABLED_MODELS", OPUS);
});
afterEach(() => void vi.unstubAllEnvs());

describe("the models of a deployment", () => {
  it("are those of its providers in a fixed order and the embedded one, with its own prices", () => {
    const [opus, sonnet, haiku] = CATALOGUE.anthropic;
    const compatible = { provider: "UNKNOWN", vision_supported: false };
    expect(models()).toEqual([
      { ...opus, disable_reason: "ADMIN_DISABLED" },
      sonnet,
      { ...haiku, cost: { input_per_million_usd: 3, output_per_million_usd: 4 } },
      {
        ...compatible,
        id: "compatible/llama",
        display_name: "llama",
        cost: { input_per_million_usd: 0.5, output_per_million_usd: 12.25 },
      },
      { ...compatible, id: "compatible/claude-opus-5-5", display_name: "claude-opus-5-5" },
      {
        id: "local/runbook",
        display_name: "Runbook",
        provider: "LOCAL",
        vision_supported: false,
        description: expect.stringContaining("fenced"),
        cost: { input_per_million_usd: 0, output_per_million_usd: 0 },
      },
    ]);
    expect(usableModels()).toEqual([SONNET, HAIKU, "compatible/llama", "compatible/claude-opus-5-5"]);
    expect(defaultModel()).toBe(SONNET);
    vi.stubEnv("MODEL_PROVIDERS", "");
    expect([defaultModel(), usableModels()]).toEqual(["local/runbook", []]);
    vi.stubEnv("DISABLED_MODELS", "local/runbook");
    expect(defaultModel(), "even if it is disabled").toBe("local/runbook");
  });

  it("have the price that is known, or none", () => {
    expect(findPrice(SONNET)).toEqual({
      ...{ input_per_million_usd: 2, output_per_million_usd: 10 },
      ...{ cache_read_per_million_usd: 0.1, cache_write_per_million_usd: 2.5 },
    });
    expect(findPrice(HAIKU)).toEqual({ input_per_million_usd: 3, output_per_million_usd: 4 });
    expect([findPrice("compatible/claude-opus-5-5"), findPrice("none")]).toEqual([undefined, undefined]);
  });

  it.each(["x", "x=1", "x=1/", "=1/2", "x=1/2/3", "x=a/2", "x=1/b", "x=1/2 "])("refuse the price %j", (price) => {
    vi.stubEnv("MODEL_PRICES", `${price},y=1/2`);
    expect(() => models()).toThrow("Invalid format");
  });
});

describe("resolveModel", () => {
  it("finds a model by its id or by its provider's name, at one of the providers, in their order", () => {
    const llama = { providerKind: "compatible", name: "llama", id: "compatible/llama" };
    for (const named of ["llama", "compatible/llama"]) {
      expect(resolveModel(named, ["openai", "compatible"])).toMatchObject(llama);
    }
    expect(resolveModel("claude-sonnet-5-5", ["anthropic", "bedrock"])).toEqual({
      ...CATALOGUE.anthropic[1],
      providerName: "anthropic",
      providerKind: "anthropic",
      name: "claude-sonnet-5-5",
    });
    expect(resolveModel("claude-opus-5-5", ["compatible", "anthropic"])).toMatchObject({ providerKind: "compatible" });
  });

  it("refuses a model of another provider, an unknown one and a disabled one", () => {
    const refusal = (named: string, providers: Parameters<typeof resolveModel>[1]) => () =>
      resolveModel(named, providers);
    expect(refusal(SONNET, ["openai", "compatible"])).toThrow(
      `model: ${SONNET} is not a model of this deployment that this API can call; available models: ` +
        "compatible/llama, compatible/claude-opus-5-5",
    );
    expect(refusal("none", ["openai"])).toThrow("available models: none");
    expect(refusal("claude-opus-5-5", ["anthropic"])).toThrow(
      "model: claude-opus-5-5 is disabled in this deployment (ADMIN_DISABLED)",
    );
    expect(refusal("local/runbook", ["anthropic", "compatible"])).toThrow("is not a model");
  });
});

it("checkModel refuses a model that is unknown or disabled, and names the member", () => {
  expect(() => checkModel(SONNET, "config.model_id")).not.toThrow();
  expect(() => checkModel("local/runbook", "config.model_id")).not.toThrow();
  expect(() => checkModel("claude-sonnet-5-5", "config.model_id")).toThrow(
    "config.model_id: is not a model of this deployment; GET /agent/models",
  );
  expect(() => checkModel(OPUS, "base_model")).toThrow(
    "base_model: is disabled in this deployment (ADMIN_DISABLED); GET /agent/models",
  );
});

describe("the remedy of an error of Bedrock", () => {
  it.each([
    ["Model use case details have not been submitted", "Submit the use-case form"],
    ["fill out the use-case form", "Submit the use-case form"],
    ["INVALID_PAYMENT_INSTRUMENT: none", "Add a payment method"],
    ["a Payment Instrument is missing", "Add a payment method"],
    ["not authorized to perform the required aws-marketplace actions", "Call the model once as a principal"],
    ["your Marketplace subscription is incomplete", "Call the model once as a principal"],
    ["not authorized to perform: bedrock:InvokeModel with an explicit deny", "A policy of the organization denies"],
    ["because of a service control policy", "A policy of the organization denies"],
    ["User: a is not authorized to perform: bedrock:InvokeModel", "Allow the principal bedrock:InvokeModel"],
    ["You don't have access to the model with the specified model ID.", "Enable the model"],
    ["Access to the model is denied", "Enable the model"],
    ["This Model is marked by provider as Legacy", "The provider has retired this model"],
    ["The provided model identifier is invalid.", "This region does not offer the model"],
    ["Could not resolve the foundation model", "This region does not offer the model"],
    ["The model is not supported in this region", "This region does not offer the model"],
  ])("with the message %j begins with %j", (message, start) => {
    expect(findBedrockRemedy({ name: "ThrottlingException", message })).toMatch(new RegExp(`^${start}`));
  });

  it("with another message is a request for more quota if it was throttled, and unknown otherwise", () => {
    for (const name of ["ThrottlingException", "ServiceQuotaExceededException"]) {
      expect(findBedrockRemedy({ name, message: "x" })).toMatch(/^New accounts have low quotas/);
    }
    expect(findBedrockRemedy({ name: "ValidationException", message: "x" })).toBeUndefined();
  });
});

it("the catalogue has the vision and the reasoning level of each model", () => {
  const shown = Object.values(CATALOGUE)
    .flat()
    .map(({ id, vision_supported, reasoning_level }) => [id, vision_supported, reasoning_level]);
  expect(shown).toEqual([
    ["anthropic/claude-opus-5-5", true, "medium"],
    ["anthropic/claude-sonnet-5-5", true, "high"],
    ["anthropic/claude-haiku-4-5-20251001", true, undefined],
    ["openai/gpt-5.4", true, undefined],
    ["openai/gpt-5.4-mini", true, undefined],
    ["bedrock/global.anthropic.claude-opus-5-5", true, "medium"],
    ["bedrock/global.anthropic.claude-sonnet-5-5", true, "high"],
  ]);
});
