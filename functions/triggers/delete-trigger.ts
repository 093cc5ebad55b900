import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { NO_CONTENT, toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { removeTriggerOnce } from "#shared/triggers/remove-trigger.ts";
import type { TriggerPorts } from "#shared/triggers/trigger-ports.ts";

/**
 * DELETE /agent/triggers/{triggerUid}: deletes a trigger with its secret. Its runs continue. Requires the role `admin`, unless
 * the trigger is personal.
 */
export const deleteTrigger = endpoint({
  request: { path: v.object({ triggerUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal, header }, ports: TriggerPorts) {
    const idempotency = toIdempotentRequest(header, principal, `delete-trigger:${path.triggerUid}`, "");
    const { replayed } = await removeTriggerOnce(path.triggerUid, { principal, idempotency }, ports);
    return { status: 204, headers: toReplayHeaders(replayed) };
  },
});
