import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { requireOwners } from "#shared/triggers/read-trigger.ts";
import { rotateSecret } from "#shared/triggers/rotate-secret.ts";
import type { TriggerPorts } from "#shared/triggers/trigger-ports.ts";
import { toTriggerItem } from "#shared/triggers/triggers.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { RotatedTrigger, RotateTriggerSecretRequest } from "#shared/wire/triggers/trigger.ts";

/**
 * POST /agent/triggers/{triggerUid}/rotate-secret: replaces the secret of a trigger. The response contains the new secret,
 * which is never shown again. Requests are accepted by both secrets for 24 hours; rotating again ends the older one at once.
 * Requires the role `admin`, unless the trigger is personal.
 */
export const rotateTriggerSecret = endpoint({
  request: { path: v.object({ triggerUid: PathId }), body: RotateTriggerSecretRequest },
  reply: { 200: RotatedTrigger },
  async run({ path, body: { secret: requested }, principal, header }, ports: TriggerPorts) {
    const owners = await requireOwners(principal, path.triggerUid, ports.table);
    const once = toIdempotentRequest(header, principal, `rotate-trigger-secret:${path.triggerUid}`, requested ?? "");
    const { owner, secret, expiresAt, replayed } = await rotateSecret(
      owners,
      path.triggerUid,
      principal,
      requested,
      once,
      ports,
    );
    const previous_secret_expires_at = toTimestamp(expiresAt);
    const body = { ...toTriggerItem(owner, ports), previous_secret_expires_at, secret };
    return { status: 200, body, headers: toReplayHeaders(replayed) };
  },
});
