import * as v from "valibot";
import { invalid, RunyardError } from "#shared/errors.ts";
import { PROVIDERS, type Provider } from "#shared/models/catalogue.ts";
import { checkModel, usableModels } from "#shared/models/models.ts";
import { findProvider } from "#shared/models/providers.ts";
import type { AmbientAgentConfig } from "#shared/wire/config.ts";
import { REASONING_LEVELS, ReasoningLevel } from "#shared/wire/limits/run-limits.ts";
import type { RunAgentRequest } from "#shared/wire/runs/new-run.ts";

type ThirdParty = "claude" | "codex" | "gemini" | "acp";

/** The providers whose models each third-party harness can call, by the API that it uses; that of gemini is translated to either. */
const PROVIDERS_OF: Readonly<Record<ThirdParty, readonly Provider[]>> = {
  claude: ["anthropic", "bedrock"],
  codex: ["openai", "compatible"],
  gemini: PROVIDERS,
  acp: PROVIDERS,
};

/** The third-party harness that a configuration requests; undefined for the default one. */
export function getThirdParty({ harness }: Pick<AmbientAgentConfig, "harness">): ThirdParty | undefined {
  const type = harness?.type;
  return type === "claude" || type === "codex" || type === "gemini" || type === "acp" ? type : undefined;
}

/** Refuses a third-party harness where none can run, or with a model that it cannot call. */
export function checkHarness({
  config = {},
  execution_location,
}: Pick<RunAgentRequest, "config" | "execution_location">) {
  const model = config.harness?.model_id;
  if (model !== undefined) checkModel(model, "config.harness.model_id");
  checkHarnessLevel(config.harness, "config.harness");
  const type = getThirdParty(config);
  if (type === undefined) return;
  if (execution_location === "LOCAL") {
    throw notSupported(
      "config.harness.type",
      `${type} is run by this service; a run that its caller executes has no harness`,
    );
  }
  if (model !== undefined && !canCall(type, model)) throw wrongModel("config.harness.model_id", type);
}

/** Refuses a reasoning level that the harness does not have. Third-party harnesses have names of their own, and acp none. */
export function checkHarnessLevel(
  harness: Partial<NonNullable<AmbientAgentConfig["harness"]>> | undefined,
  path: string,
): void {
  const { type, reasoning_level: level } = harness ?? {};
  if (level !== undefined && type === "acp") {
    throw notSupported(`${path}.reasoning_level`, "leave it out: an acp agent has none");
  }
  if (level === undefined || (type !== "default" && type !== "oz") || v.is(ReasoningLevel, level)) return;
  throw invalid(`${path}.reasoning_level`, `must be one of ${REASONING_LEVELS.join(", ")} for the built-in agent`);
}

/** Refuses a model that a caller names for a harness which cannot call it. */
export function checkNamedModel({ config = {} }: Pick<RunAgentRequest, "config">): void {
  const type = getThirdParty(config);
  if (type === undefined || config.model_id === undefined || config.harness?.model_id !== undefined) return;
  if (!canCall(type, config.model_id)) throw wrongModel("config.model_id", type);
}

/**
 * Chooses the model of a run with a third-party harness: the harness's own, else the run's where the harness can call it, else
 * the first that it can call. Undefined for the default harness.
 */
export function chooseHarnessModel(config: AmbientAgentConfig): string | undefined {
  const type = getThirdParty(config);
  if (type === undefined) return undefined;
  const named = config.harness?.model_id ?? config.model_id;
  if (named !== undefined && canCall(type, named)) return named;
  const [first] = usableModels().filter((id) => canCall(type, id));
  if (first === undefined) {
    const whose = PROVIDERS_OF[type].join(", ");
    throw notSupported("config.harness.type", `${type} needs a model of one of ${whose}, and this deployment has none`);
  }
  return first;
}

/** A provider with a name of its own counts as one of its kind, except for gemini, whose translation reads the name. */
function canCall(type: ThirdParty, model: string): boolean {
  const [name = ""] = model.split("/", 1);
  const kind = type === "gemini" ? name : (findProvider(model)?.kind ?? name);
  return PROVIDERS_OF[type].some((of) => of === kind);
}

const wrongModel = (path: string, type: ThirdParty) =>
  invalid(
    path,
    `is not a model that the harness ${type} can call: it calls models of ${PROVIDERS_OF[type].join(", ")}`,
  );

const notSupported = (field: string, why: string) =>
  new RunyardError("operation_not_supported", { detail: `${field}: ${why}` });
