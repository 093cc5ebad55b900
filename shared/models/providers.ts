import * as v from "valibot";
import type { ModelLimits } from "#shared/model-provider/model-limits.ts";
import { listSetting, settingIfAny } from "#shared/settings.ts";
import { type Model, ModelCost } from "#shared/wire/model.ts";
import { CATALOGUE, PROVIDERS, type Provider } from "./catalogue.ts";

/** A provider of this deployment: the part before the slash of its models' ids, and whose API it has. */
export interface NamedProvider {
  readonly name: string;
  readonly kind: Provider;
  /** Whether its address is not that of the company with this API. */
  readonly isCustom: boolean;
  readonly models: readonly Model[];
}

/** A model as the operator describes it. */
const DescribedModel = v.object({
  name: v.string(),
  display_name: v.exactOptional(v.string()),
  vision_supported: v.exactOptional(v.boolean()),
  context_tokens: v.exactOptional(v.number()),
  output_tokens: v.exactOptional(v.number()),
  tools: v.exactOptional(v.boolean()),
  cost: v.exactOptional(ModelCost),
});
type DescribedModel = v.InferOutput<typeof DescribedModel>;

/** The setting NAMED_PROVIDERS: providers with names of their own, without their addresses and keys. */
const NamedProviders = v.pipe(
  v.string(),
  v.parseJson(),
  v.array(
    v.object({
      name: v.string(),
      kind: v.picklist([...PROVIDERS, "google"]),
      /** Absent for the models of the catalogue. */
      models: v.exactOptional(v.array(DescribedModel)),
      is_custom: v.exactOptional(v.boolean()),
    }),
  ),
);
type ConfiguredProvider = v.InferOutput<typeof NamedProviders>[number];

/** The providers of this deployment: the known ones in a fixed order, then those with names of their own. */
export function listProviders(): readonly NamedProvider[] {
  const configured = listSetting("MODEL_PROVIDERS");
  const known = PROVIDERS.filter((name) => configured.includes(name)).map((name) => ({
    name,
    kind: name,
    isCustom: name === "compatible",
    models: name === "compatible" ? listSetting("COMPATIBLE_MODELS").map(compatible) : CATALOGUE[name],
  }));
  return [...known, ...configuredProviders().map(toNamedProvider)];
}

/** The provider of a model; undefined if this deployment does not have it. */
export const findProvider = (modelId: string): NamedProvider | undefined =>
  listProviders().find(({ name }) => modelId.startsWith(`${name}/`));

/** The limits that the provider's settings state for a model. */
export function findStatedLimits(modelId: string): ModelLimits {
  const described = configuredProviders().flatMap(({ name, models = [] }) =>
    models.filter((model) => `${name}/${model.name}` === modelId),
  );
  const { context_tokens, output_tokens, tools } = described.at(0) ?? {};
  return {
    ...(context_tokens === undefined ? {} : { contextTokens: context_tokens }),
    ...(output_tokens === undefined ? {} : { outputTokens: output_tokens }),
    ...(tools === undefined ? {} : { tools }),
  };
}

const APIS = { anthropic: "messages", bedrock: "messages", openai: "responses", compatible: "chat" } as const;

/** The APIs by which the built-in agent calls models of providers with names of their own, whose ids do not tell. */
export function listModelApis(modelIds: readonly string[]): Record<string, "messages" | "chat" | "responses"> {
  const named = configuredProviders().map(({ name }) => name);
  return Object.fromEntries(
    modelIds.flatMap((id) => {
      const provider = findProvider(id);
      return provider === undefined || !named.includes(provider.name) ? [] : [[id, APIS[provider.kind]]];
    }),
  );
}

/** The providers of the setting. One with the name of a provider in MODEL_PROVIDERS is left out: the model gateway calls the other. */
function configuredProviders(): readonly ConfiguredProvider[] {
  const value = settingIfAny("NAMED_PROVIDERS");
  const replaced = listSetting("MODEL_PROVIDERS");
  return value === undefined ? [] : v.parse(NamedProviders, value).filter(({ name }) => !replaced.includes(name));
}

function toNamedProvider({ name, kind, models, is_custom = false }: ConfiguredProvider): NamedProvider {
  // Google's own servers have OpenAI's Chat Completions too.
  const api = kind === "google" ? "compatible" : kind;
  const owner = is_custom ? "compatible" : kind;
  return {
    name,
    kind: api,
    isCustom: is_custom,
    models: models?.map((model) => toModel(name, owner, model)) ?? listCatalogue(name, api),
  };
}

/** The models of the catalogue for this API, with ids of the provider. */
const listCatalogue = (provider: string, api: Provider): Model[] =>
  api === "compatible"
    ? []
    : CATALOGUE[api].map((model) => ({ ...model, id: `${provider}/${model.id.slice(api.length + 1)}` }));

const OWNERS = {
  anthropic: "ANTHROPIC",
  openai: "OPENAI",
  bedrock: "AMAZON",
  google: "GOOGLE",
  compatible: "UNKNOWN",
} as const;

const toModel = (
  provider: string,
  owner: keyof typeof OWNERS,
  { name, display_name = name, vision_supported = false, cost }: DescribedModel,
): Model => ({
  id: `${provider}/${name}`,
  display_name,
  provider: OWNERS[owner],
  vision_supported,
  ...(cost === undefined ? {} : { cost }),
});

/** A model of a server with a provider's API. Only its operator knows its capabilities and its price. */
const compatible = (name: string): Model => toModel("compatible", "compatible", { name });
