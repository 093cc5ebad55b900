import type { HttpPorts } from "#shared/http/endpoint.ts";
import { configuredRateLimits } from "#shared/limits/token-bucket.ts";
import type {
  AppIngressPorts,
  DecisionPorts,
  IngressPorts,
  RequestPorts,
  TriggerPorts,
  TriggerTestPorts,
  TriggerWritePorts,
} from "#shared/triggers/trigger-ports.ts";
import { createEventQueue, createFiles } from "#shared/wiring/adapters.ts";
import { createTablePorts, receiverRules } from "./common.ts";
import { createAppWebhookSecret, createOwnerOf } from "./github.ts";
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
export function createTriggerTestPorts(): TriggerTestPorts & HttpPorts {
  const ports = createTablePorts();
  return { ...ports, hasContainers: hasContainers(), networkLimits: () => [], ownerOf: createOwnerOf(ports.table) };
}

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
export function createPushPorts() {
  const ports = createRunEndpointPorts();
  return { ...ports, systems: createSystems(), ownerOf: createOwnerOf(ports.table) };
}

/** The ports of the endpoint that receives events of the GitHub App. */
export function createAppIngressPorts(): AppIngressPorts & HttpPorts {
  const ports = createRedeliveryPorts();
  return { ...ports, appWebhookSecret: createAppWebhookSecret(), ownerOf: createOwnerOf(ports.table) };
}

/** The ports of the consumer that decides on events. */
export function createDecisionPorts(): DecisionPorts {
  const ports = createRunPorts();
  return {
    ...ports,
    events: createEventQueue(),
    systems: createSystems(),
    ownerOf: createOwnerOf(ports.table),
    rates: configuredRateLimits(),
  };
}
