import type { IdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { type ReplacedSecret, replaceSecretOnce } from "./replace-secret.ts";
import { generateSigningSecret } from "./signature.ts";
import type { WebhookPorts } from "./webhook-ports.ts";
import { replaceSecret, type Webhook } from "./webhook-store.ts";
import { readWebhook } from "./webhooks.ts";

/** Replaces the signing secret of a webhook once. Deliveries are signed with the previous secret as well for 24 hours. */
export const rotateSecret = (
  teams: readonly string[],
  uid: string,
  idempotency: IdempotentRequest,
  ports: WebhookPorts,
): Promise<ReplacedSecret<Webhook>> =>
  replaceSecretOnce(
    {
      noun: "webhook",
      read: () => readWebhook(teams, uid, ports.table),
      getScope: ({ team_uid }) => team_uid,
      generate: generateSigningSecret,
      replace: (before, webhook, record) => replaceSecret(before, webhook, record, ports.table),
    },
    idempotency,
    ports,
  );
