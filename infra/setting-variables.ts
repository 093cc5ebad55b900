import { toNamedProvider } from "#shared/wire/providers/provider-settings.ts";
import { sandboxUsdPerHour } from "./sandbox-price.ts";
import type { Settings } from "./settings.ts";

/** The settings of functions by the names of their variables; unset ones are absent. */
export function settingVariables(settings: Settings): Record<string, string> {
  const { anthropicKeyParameter, openaiKeyParameter, bedrock, compatible, disabledModels, modelPrices, modelLimits } =
    settings;
  const { createsPerMinute, followupsPerMinute, keysPerMinute, workerClaimSeconds } = settings;
  const { triggerEventsPerMinute, threadEventsPerMinute } = settings;
  const providers = [
    ...(anthropicKeyParameter === undefined ? [] : ["anthropic"]),
    ...(openaiKeyParameter === undefined ? [] : ["openai"]),
    ...(bedrock ? ["bedrock"] : []),
    ...(compatible === undefined ? [] : ["compatible"]),
  ];
  return {
    STAGE: settings.stage,
    SANDBOX_USD_PER_HOUR: sandboxUsdPerHour(settings).toFixed(6),
    ...(createsPerMinute !== undefined && { CREATES_PER_MINUTE: String(createsPerMinute) }),
    ...(followupsPerMinute !== undefined && { FOLLOWUPS_PER_MINUTE: String(followupsPerMinute) }),
    ...(keysPerMinute !== undefined && { KEYS_PER_MINUTE: String(keysPerMinute) }),
    ...(triggerEventsPerMinute !== undefined && { TRIGGER_EVENTS_PER_MINUTE: String(triggerEventsPerMinute) }),
    ...(threadEventsPerMinute !== undefined && { THREAD_EVENTS_PER_MINUTE: String(threadEventsPerMinute) }),
    ...(workerClaimSeconds !== undefined && { WORKER_CLAIM_SECONDS: String(workerClaimSeconds) }),
    ...(settings.githubApp?.team !== undefined && { GITHUB_APP_TEAM: settings.githubApp.team }),
    ...(providers.length > 0 && { MODEL_PROVIDERS: providers.join(",") }),
    ...(settings.modelProviders.length > 0 && {
      NAMED_PROVIDERS: JSON.stringify(settings.modelProviders.map(toNamedProvider)),
    }),
    ...(compatible !== undefined && { COMPATIBLE_MODELS: compatible.models.join(",") }),
    ...(disabledModels.length > 0 && { DISABLED_MODELS: disabledModels.join(",") }),
    ...(modelPrices.length > 0 && { MODEL_PRICES: modelPrices.join(",") }),
    ...(modelLimits.length > 0 && { MODEL_LIMITS: modelLimits.join(",") }),
    ...(settings.compatibleTimeoutSeconds !== undefined && {
      COMPATIBLE_TIMEOUT_SECONDS: String(settings.compatibleTimeoutSeconds),
    }),
  };
}
