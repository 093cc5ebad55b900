import type { HttpPorts } from "#shared/http/endpoint.ts";
import { configuredRateLimits } from "#shared/limits/token-bucket.ts";
import type {
  DecisionPorts,
  IngressPorts,
  RequestPorts,
  TriggerPorts,
  TriggerTestPorts,
  TriggerWritePorts,
} from "#shared/triggers/trigger-ports.ts";
import { createEventQueue, createFiles } from "#shared/wiring/adapters.ts";
import { createTablePorts, receiverRules } from "./common.ts";
import { createRunEndpointPorts, createRunPorts, hasContainers } from "./runs.ts";
import { createSystems } from "./system-calls.ts";
import { createWebhookSecrets } from "./vault.ts";

/** The ports of the endpoint that changes triggers. */
export const createTriggerWritePorts = (): TriggerWritePorts & HttpPorts => ({
  ...createTablePorts(),
  webhooks: receiverRules(),
});

/** The ports of the endpoints that create and delete triggers. */
export const createTriggerPorts = (): TriggerPorts & HttpPorts => ({
  ...createTriggerWritePorts(),
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

/** The ports of the endpoint that pushes commits of runs. */
export const createPushPorts = () => ({ ...createRunEndpointPorts(), systems: createSystems() });

/** The ports of the consumer that decides on events. */
export const createDecisionPorts = (): DecisionPorts => ({
  ...createRunPorts(),
  events: createEventQueue(),
  systems: createSystems(),
  rates: configuredRateLimits(),
});
