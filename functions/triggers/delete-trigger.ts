import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { requireOwners } from "#shared/triggers/read-trigger.ts";
import { removeTrigger } from "#shared/triggers/remove-trigger.ts";
import type { TriggerPorts } from "#shared/triggers/trigger-ports.ts";

/**
 * DELETE /agent/triggers/{triggerUid}: deletes a trigger with its secret. Its runs continue. Requires the role `admin`, unless
 * the trigger is personal.
 */
export const deleteTrigger = endpoint({
  request: { path: v.object({ triggerUid: PathId }) },
  reply: { 204: NO_CONTENT },
  async run({ path, principal }, ports: TriggerPorts) {
    await removeTrigger(await requireOwners(principal, path.triggerUid, ports.table), path.triggerUid, ports);
    return { status: 204 };
  },
});
