import { invalid } from "#shared/errors.ts";
import { listSetting } from "#shared/settings.ts";
import type { Model } from "#shared/wire/model.ts";
import { CATALOGUE, PROVIDERS } from "./catalogue.ts";

/** The embedded model, which needs no network and no key. */
const RUNBOOK: Model = {
  id: "local/runbook",
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
  return [...offered(), RUNBOOK].map((model) =>
    disabled.has(model.id) ? { ...model, disable_reason: "ADMIN_DISABLED" } : model,
  );
}

/** The model of a run that names none, and whose team has none either: the first of the first provider that has one. */
export const defaultModel = (): string => (models().find(isUsable) ?? RUNBOOK).id;

/** Refuses a model that no run of this deployment could have; `path` is where the request names it. */
export function checkModel(id: string, path: string): void {
  const model = models().find((one) => one.id === id);
  if (model === undefined)
    throw invalid(path, "is no model of this deployment; GET /agent/models lists those that are");
  if (!isUsable(model)) {
    throw invalid(path, `is not to be used here (${model.disable_reason}); GET /agent/models lists what is`);
  }
}

const isUsable = ({ disable_reason }: Model): boolean => disable_reason === undefined;

function offered(): Model[] {
  const configured = listSetting("MODEL_PROVIDERS");
  return PROVIDERS.filter((provider) => configured.includes(provider)).flatMap((provider) =>
    provider === "compatible" ? listSetting("COMPATIBLE_MODELS").map(compatible) : CATALOGUE[provider],
  );
}

/** A model of a server that speaks a provider's API; what it can do, and what it costs, only its operator knows. */
const compatible = (name: string): Model => ({
  id: `compatible/${name}`,
  display_name: name,
  provider: "UNKNOWN",
  vision_supported: false,
});
