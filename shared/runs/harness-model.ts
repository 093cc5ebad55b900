import { invalid, RunyardError } from "#shared/errors.ts";
import { PROVIDERS, type Provider } from "#shared/models/catalogue.ts";
import { checkModel, usableModels } from "#shared/models/models.ts";
import type { AmbientAgentConfig } from "#shared/wire/config.ts";
import type { RunAgentRequest } from "#shared/wire/run.ts";

type ThirdParty = "claude" | "codex" | "gemini";

/** Whose models each harness of others can speak to, by the API that it speaks; for gemini it is translated to either. */
const SPEAKS: Readonly<Record<ThirdParty, readonly Provider[]>> = {
  claude: ["anthropic", "bedrock"],
  codex: ["openai", "compatible"],
  gemini: PROVIDERS,
};

/** The harness of others that a configuration asks for; undefined for the default one. */
export function thirdPartyOf({ harness }: Pick<AmbientAgentConfig, "harness">): ThirdParty | undefined {
  const type = harness?.type;
  return type === "claude" || type === "codex" || type === "gemini" ? type : undefined;
}

/** Refuses a harness of others where none can run, or with a model that it cannot speak to. */
export function checkHarness({
  config = {},
  execution_location,
}: Pick<RunAgentRequest, "config" | "execution_location">) {
  const model = config.harness?.model_id;
  if (model !== undefined) checkModel(model, "config.harness.model_id");
  const type = thirdPartyOf(config);
  if (type === undefined) return;
  if (execution_location === "LOCAL") {
    throw notSupported(
      "config.harness.type",
      `${type} is run by this service; a run that its caller executes has no harness`,
    );
  }
  const secret = type === "gemini" ? undefined : config.harness_auth_secrets?.[`${type}_auth_secret_name`];
  if (secret !== undefined) {
    throw notSupported(
      `config.harness_auth_secrets.${type}_auth_secret_name`,
      `${type} calls models by the model gateway, with the deployment's own keys; leave it out`,
    );
  }
  if (model !== undefined && !isSpokenTo(type, model)) throw wrongModel("config.harness.model_id", type);
}

/** Refuses a model that a caller names for a harness which cannot speak to it. */
export function checkNamedModel({ config = {} }: Pick<RunAgentRequest, "config">): void {
  const type = thirdPartyOf(config);
  if (type === undefined || config.model_id === undefined || config.harness?.model_id !== undefined) return;
  if (!isSpokenTo(type, config.model_id)) throw wrongModel("config.model_id", type);
}

/**
 * The model of a run with a harness of others: its own, else the run's where it can speak to that, else the first that it can.
 * Undefined for the default harness.
 */
export function modelOfHarness(config: AmbientAgentConfig): string | undefined {
  const type = thirdPartyOf(config);
  if (type === undefined) return undefined;
  const named = config.harness?.model_id ?? config.model_id;
  if (named !== undefined && isSpokenTo(type, named)) return named;
  const [first] = usableModels().filter((id) => isSpokenTo(type, id));
  if (first === undefined) {
    const whose = SPEAKS[type].join(", ");
    throw notSupported("config.harness.type", `${type} needs a model of one of ${whose}, and this deployment has none`);
  }
  return first;
}

const isSpokenTo = (type: ThirdParty, model: string): boolean => SPEAKS[type].some((of) => model.startsWith(`${of}/`));

const wrongModel = (path: string, type: ThirdParty) =>
  invalid(path, `is no model that the harness ${type} can speak to: it takes those of ${SPEAKS[type].join(", ")}`);

const notSupported = (field: string, why: string) =>
  new RunyardError("operation_not_supported", { detail: `${field}: ${why}` });
