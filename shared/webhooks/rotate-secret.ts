import { retryableConflict } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { generateSigningSecret } from "./signature.ts";
import type { WebhookPorts } from "./webhook-ports.ts";
import { replaceSecret, type Webhook } from "./webhook-store.ts";
import { readWebhook, secretReplaced } from "./webhooks.ts";

/** Milliseconds for which deliveries are signed with the previous secret as well. */
const OVERLAP_MS = 24 * 3_600_000;

export interface RotatedSecret {
  readonly webhook: Webhook;
  readonly secret: string;
  /** When deliveries are no longer signed with the previous secret. */
  readonly expiresAt: string;
  readonly replayed: boolean;
}

/** Replaces the signing secret of a webhook once: a repeated request gets the same secret. */
export function rotateSecret(
  teams: readonly string[],
  uid: string,
  idempotency: IdempotentRequest,
  { table, now: clock, webhookSecrets }: WebhookPorts,
): Promise<RotatedSecret> {
  return runIdempotent<RotatedSecret>(
    table,
    idempotency,
    clock,
    async (record) => {
      const before = await readWebhook(teams, uid, table);
      const now = clock();
      const [id, secret] = [uuidv7(now), generateSigningSecret()];
      const previous_secret = { id: before.secret_id, expires_at: now + OVERLAP_MS };
      const updated_at = Math.max(now, before.updated_at + 1);
      const webhook = { ...before, secret_id: id, previous_secret, updated_at };
      await webhookSecrets.put(before.team_uid, id, secret);
      try {
        await replaceSecret(before, webhook, record(id), table);
      } catch (error) {
        // After any other error, such as a lost response, the new secret may be in use.
        if (!(error instanceof ConflictError)) throw error;
        await webhookSecrets.remove(before.team_uid, id);
        if (error.failed.has("idempotency")) throw new IdempotencyRecordExists();
        throw retryableConflict("the webhook is changed by another request; send the request again");
      }
      if (before.previous_secret !== undefined) {
        await webhookSecrets.remove(before.team_uid, before.previous_secret.id);
      }
      return { webhook, secret, expiresAt: toTimestamp(previous_secret.expires_at), replayed: false };
    },
    async (id) => {
      const webhook = await readWebhook(teams, uid, table);
      const secret = (await webhookSecrets.getAll(webhook.team_uid, [id])).get(id);
      if (secret === undefined || webhook.secret_id !== id || webhook.previous_secret === undefined) {
        throw secretReplaced();
      }
      return { webhook, secret, expiresAt: toTimestamp(webhook.previous_secret.expires_at), replayed: true };
    },
    { checkFirst: true },
  );
}
