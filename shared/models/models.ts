import * as v from "valibot";
import { invalid } from "#shared/errors.ts";
import { listSetting } from "#shared/settings.ts";
import type { AmbientAgentConfig } from "#shared/wire/config.ts";
import type { Model } from "#shared/wire/model.ts";
import type { Provider } from "./catalogue.ts";
import { listMissingModels } from "./missing-models.ts";
import { listProviders, type NamedProvider } from "./providers.ts";

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

/** The models of this deployment: those of its providers, in their order, the embedded one, and those that are missing. */
export function models(): readonly Model[] {
  const disabled = new Set(listSetting("DISABLED_MODELS"));
  const prices = givenPrices();
  const offered = [...listProviders().flatMap((provider) => provider.models), RUNBOOK];
  const missing = listMissingModels().filter(({ id }) => !offered.some((model) => model.id === id));
  return [...offered, ...missing].map((model) => ({
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

export type ProvidedModel = Model & {
  /** The part of the id before the slash. */
  readonly providerName: string;
  /** Whose API the provider has. */
  readonly providerKind: Provider;
  /** The provider's name for the model. */
  readonly name: string;
};

/**
 * Finds the model that a call names, of a provider with one of these APIs, by its id or by the provider's own name. Refuses a model that this
 * deployment does not have or has disabled.
 */
export function resolveModel(named: string, kinds: readonly Provider[]): ProvidedModel {
  const all = listProviders();
  const providers = kinds.flatMap((kind) => all.filter((provider) => provider.kind === kind));
  const ids = [named, ...providers.map(({ name }) => `${name}/${named}`)];
  const known = models();
  const candidates = providers.flatMap((provider) => known.flatMap((model) => providedBy(provider, model)));
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

const providedBy = ({ name: providerName, kind: providerKind }: NamedProvider, model: Model): ProvidedModel[] =>
  model.id.startsWith(`${providerName}/`)
    ? [{ ...model, providerName, providerKind, name: model.id.slice(providerName.length + 1) }]
    : [];

/** The default model if neither the run nor its team names one: the first model of the first provider that has one. */
export const defaultModel = (): string => (models().find(isUsable) ?? RUNBOOK).id;

/** Refuses a model that no run of this deployment could have; `path` is where the request names it. */
export function checkModel(id: string, path: string): void {
  const model = models().find((one) => one.id === id);
  if (model === undefined) throw invalid(path, "is not a model of this deployment; GET /agent/models lists the models");
  if (!isUsable(model)) throw invalid(path, `${explainUnusable(model)}; GET /agent/models lists the usable models`);
}

const explainUnusable = ({ disable_reason, description }: Model): string =>
  disable_reason === "PROVIDER_OUTAGE" && description !== undefined
    ? `is not available: ${description.replace(/\.$/, "")}`
    : `is disabled in this deployment (${disable_reason})`;

/**
 * Finds why unattended runs would fail or use the wrong model: theirs is not usable, or the default model is missing and the embedded one
 * would replace it. Undefined if their model is usable.
 */
export function findModelError({
  model_id,
  harness,
}: Pick<AmbientAgentConfig, "model_id" | "harness"> = {}): string | undefined {
  const id = harness?.model_id ?? model_id;
  const all = models();
  if (id !== undefined) {
    const model = all.find((one) => one.id === id);
    if (model === undefined) return `${id} is not a model of this deployment`;
    return isUsable(model) ? undefined : `${id} ${explainUnusable(model)}`;
  }
  const [missing] = listMissingModels();
  if (missing === undefined || usableModels().length > 0) return undefined;
  return `no model is named, and of the earlier default models, ${missing.id} ${explainUnusable(missing)}`;
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
