import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { IngressPorts, TriggerPorts, TriggerTestPorts } from "#shared/triggers/trigger-ports.ts";
import { createTablePorts } from "./common.ts";
import { createRunEndpointPorts, hasContainers } from "./runs.ts";
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

/** The ports of the endpoint that receives events. */
export const createIngressPorts = (): IngressPorts & HttpPorts => ({
  ...createRunEndpointPorts(),
  webhookSecrets: createWebhookSecrets(),
});
