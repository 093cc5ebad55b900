import * as v from "valibot";
import { invalid } from "#shared/errors.ts";
import { listSetting } from "#shared/settings.ts";
import type { Model } from "#shared/wire/model.ts";
import { CATALOGUE, PROVIDERS, type Provider } from "./catalogue.ts";

/** The id of the embedded model, which needs no network and no key. */
export const RUNBOOK_MODEL = "local/runbook";

const RUNBOOK: Model = {
  id: RUNBOOK_MODEL,
  display_name: "Runbook",
  provider: "LOCAL",
  vision_supported: false,
  description:
    "Runs the fenced sh, bash and shell blocks of the prompt in order and stops at the first failure. It understands nothing else: no network, no key, no reasoning.",
  cost: { input_per_million_usd: 0, output_per_million_usd: 0 },
};

/** The models of this deployment: those of its providers, in their order, and the embedded one. */
export function models(): readonly Model[] {
  const disabled = new Set(listSetting("DISABLED_MODELS"));
  const prices = givenPrices();
  return [...offered(), RUNBOOK].map((model) => ({
    ...model,
    ...prices.get(model.id),
    ...(disabled.has(model.id) ? { disable_reason: "ADMIN_DISABLED" as const } : {}),
  }));
}

const GivenPrice = v.pipe(
  v.string(),
  v.regex(/^[^=]+=[\d.]+\/[\d.]+$/),
  v.transform((text) => {
    const [, id = "", input, output] = /^([^=]+)=([\d.]+)\/([\d.]+)$/.exec(text) ?? [];
    return [id, { cost: { input_per_million_usd: Number(input), output_per_million_usd: Number(output) } }] as const;
  }),
);

/** The prices that the deployment sets, for models whose price is not known here or is a different one. */
const givenPrices = () => new Map(listSetting("MODEL_PRICES").map((text) => v.parse(GivenPrice, text)));

/** The price of a model, or nothing where it is not known. */
export const findPrice = (id: string): Model["cost"] => models().find((model) => model.id === id)?.cost;

/** A model with its provider and the provider's name for it. */
export type ProvidedModel = Model & { readonly of: Provider; readonly name: string };

/**
 * Finds the model of one of these providers that a call names, by its id or by the provider's own name. Refuses a model that this
 * deployment does not have or has disabled.
 */
export function resolveModel(named: string, providers: readonly Provider[]): ProvidedModel {
  const ids = [named, ...providers.map((provider) => `${provider}/${named}`)];
  const candidates = providers.flatMap((of) => models().flatMap((model) => providedBy(of, model)));
  const found = ids.flatMap((id) => candidates.find((model) => model.id === id) ?? []).at(0);
  if (found === undefined) {
    const some = candidates.map(({ id }) => id).join(", ") || "none";
    throw invalid(
      "model",
      `${named} is not a model of this deployment that this API can call; available models: ${some}`,
    );
  }
  if (!isUsable(found)) throw invalid("model", `${named} is disabled in this deployment (${found.disable_reason})`);
  return found;
}

const providedBy = (of: Provider, model: Model): ProvidedModel[] =>
  model.id.startsWith(`${of}/`) ? [{ ...model, of, name: model.id.slice(of.length + 1) }] : [];

/** The default model if neither the run nor its team names one: the first model of the first provider that has one. */
export const defaultModel = (): string => (models().find(isUsable) ?? RUNBOOK).id;

/** Refuses a model that no run of this deployment could have; `path` is where the request names it. */
export function checkModel(id: string, path: string): void {
  const model = models().find((one) => one.id === id);
  if (model === undefined) throw invalid(path, "is not a model of this deployment; GET /agent/models lists the models");
  if (!isUsable(model)) {
    throw invalid(
      path,
      `is disabled in this deployment (${model.disable_reason}); GET /agent/models lists the usable models`,
    );
  }
}

/** Refuses fallback models that no run of this deployment could continue with. */
export function checkFallbackModels(ids: readonly string[], path: string): void {
  for (const [index, id] of ids.entries()) {
    checkModel(id, `${path}[${index}]`);
    if (id === RUNBOOK.id) throw invalid(`${path}[${index}]`, "is not a language model; name a model of a provider");
  }
}

/** Ids of the models of this deployment that a run may use, except the embedded one, in the order of its providers. */
export const usableModels = (): readonly string[] =>
  models()
    .filter((model) => isUsable(model) && model.id !== RUNBOOK.id)
    .map(({ id }) => id);

const isUsable = ({ disable_reason }: Model): boolean => disable_reason === undefined;

function offered(): Model[] {
  const configured = listSetting("MODEL_PROVIDERS");
  return PROVIDERS.filter((provider) => configured.includes(provider)).flatMap((provider) =>
    provider === "compatible" ? listSetting("COMPATIBLE_MODELS").map(compatible) : CATALOGUE[provider],
  );
}

/** A model of a server with a provider's API. Only its operator knows its capabilities and its price. */
const compatible = (name: string): Model => ({
  id: `compatible/${name}`,
  display_name: name,
  provider: "UNKNOWN",
  vision_supported: false,
});
