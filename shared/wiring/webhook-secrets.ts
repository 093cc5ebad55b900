import type { HttpPorts } from "#shared/http/endpoint.ts";
import { createOutwardFetch } from "#shared/oidc/outward-fetch.ts";
import type { DeletionPorts } from "#shared/teams/delete-team.ts";
import { RECEIVER_MS, type SendPorts } from "#shared/webhooks/send-webhooks.ts";
import type { WebhookPorts } from "#shared/webhooks/webhook-ports.ts";
import { createTablePorts } from "./common.ts";
import { createVault, createWebhookSecrets } from "./vault.ts";
import { createWebhookReadPorts } from "./webhooks.ts";

/** The ports of the endpoints that create and delete webhooks. */
export const createWebhookPorts = (): WebhookPorts & HttpPorts => ({
  ...createWebhookReadPorts(),
  webhookSecrets: createWebhookSecrets(),
});

/** The ports of the endpoint that deletes a team with its secrets and webhooks. */
export const createTeamDeletionPorts = (): DeletionPorts & HttpPorts => ({
  ...createTablePorts(),
  vault: createVault(),
  webhookSecrets: createWebhookSecrets(),
});

/** The ports of the function that sends webhooks: secrets and the internet. */
export const createSendPorts = (): SendPorts => ({
  webhookSecrets: createWebhookSecrets(),
  fetch: createOutwardFetch({ allowsPrivate: false, timeoutMs: RECEIVER_MS }),
  now: Date.now,
});
