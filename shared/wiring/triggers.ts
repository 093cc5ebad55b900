import * as v from "valibot";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import { configuredRateLimits } from "#shared/limits/token-bucket.ts";
import { setting } from "#shared/settings.ts";
import { SystemResult, type Systems } from "#shared/triggers/systems/system-request.ts";
import type {
  DecisionPorts,
  IngressPorts,
  RequestPorts,
  TriggerPorts,
  TriggerTestPorts,
} from "#shared/triggers/trigger-ports.ts";
import { createEventQueue, createFiles, createFunctionCaller } from "#shared/wiring/adapters.ts";
import { createTablePorts } from "./common.ts";
import { createRunPorts, hasContainers } from "./runs.ts";
import { createWebhookSecrets } from "./webhook-secrets.ts";

/** The ports of the endpoints that create and delete triggers. */
export const createTriggerPorts = (): TriggerPorts & HttpPorts => ({
  ...createTablePorts(),
  webhookSecrets: createWebhookSecrets(),
});

/** The ports of the endpoint that tests a trigger. */
export const createTriggerTestPorts = (): TriggerTestPorts & HttpPorts => ({
  ...createTablePorts(),
  hasContainers: hasContainers(),
  networkLimits: () => [],
});

/** The ports of the endpoint that delivers an event again. */
export const createRedeliveryPorts = (): RequestPorts & HttpPorts => ({
  ...createTablePorts(),
  files: createFiles(),
  events: createEventQueue(),
});

/** The ports of the endpoint that receives events. */
export const createIngressPorts = (): IngressPorts & HttpPorts => ({
  ...createRedeliveryPorts(),
  webhookSecrets: createWebhookSecrets(),
});

/** Milliseconds that a call of the function which calls other systems may take. */
const SYSTEM_CALL_MS = 15_000;

/** Calls other systems by the function that does. */
function createSystems(): Systems {
  const callFunction = createFunctionCaller();
  return {
    async call(request) {
      const options = { timeoutMs: SYSTEM_CALL_MS };
      return v.parse(
        SystemResult,
        await callFunction(setting("CALL_SYSTEMS_FUNCTION_NAME"), { v: 1, request }, options),
      );
    },
  };
}

/** The ports of the consumer that decides on events. */
export const createDecisionPorts = (): DecisionPorts => ({
  ...createRunPorts(),
  events: createEventQueue(),
  systems: createSystems(),
  rates: configuredRateLimits(),
});
