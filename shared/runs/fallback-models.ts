import { invalid, RunyardError } from "#shared/errors.ts";
import { checkFallbackModels, defaultModel, findPrice, RUNBOOK_MODEL } from "#shared/models/models.ts";
import type { AmbientAgentConfig } from "#shared/wire/config.ts";
import type { RunAgentRequest } from "#shared/wire/runs/new-run.ts";
import { getThirdParty } from "./harness-model.ts";

/** Refuses fallback models that no agent could continue with. */
export function checkFallbacks({
  config = {},
  execution_location,
}: Pick<RunAgentRequest, "config" | "execution_location">): void {
  const { fallback_model_ids: ids = [] } = config;
  checkFallbackModels(ids, "config.fallback_model_ids");
  if (ids.length === 0) return;
  if (getThirdParty(config) === undefined && execution_location !== "LOCAL") return;
  throw new RunyardError("operation_not_supported", {
    detail: "config.fallback_model_ids: only the built-in agent changes its model; leave them out",
  });
}

interface Requested {
  readonly config?: AmbientAgentConfig;
  readonly execution_location?: RunAgentRequest["execution_location"];
}

/** Drops fallback models that come from a default, where the run's agent cannot change its model. */
export function withUsableFallbacks<R extends Requested>(filled: R, sent: Requested): R {
  const { fallback_model_ids: ids, ...config } = filled.config ?? {};
  if (ids === undefined || sent.config?.fallback_model_ids !== undefined) return filled;
  const model = config.harness?.model_id ?? config.model_id ?? defaultModel();
  const isUsable =
    getThirdParty(config) === undefined && filled.execution_location !== "LOCAL" && model !== RUNBOOK_MODEL;
  return isUsable ? filled : { ...filled, config };
}

/** Refuses fallback models that the run's model does not need, or whose cost its budget cannot limit. */
export function checkResolvedFallbacks(
  { fallback_model_ids = [], budget_usd }: AmbientAgentConfig,
  modelId: string,
): void {
  if (fallback_model_ids.length > 0 && modelId === RUNBOOK_MODEL) {
    throw invalid("config.fallback_model_ids", `must be left out with ${RUNBOOK_MODEL}, which calls no provider`);
  }
  if (budget_usd === undefined) return;
  for (const [index, id] of fallback_model_ids.entries()) {
    if (findPrice(id) !== undefined) continue;
    throw invalid(`config.fallback_model_ids[${index}]`, `has no known price, which config.budget_usd requires: ${id}`);
  }
}
