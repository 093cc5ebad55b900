import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { toReplayHeaders } from "#shared/http/response.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { setEnabled } from "#shared/triggers/change-trigger.ts";
import { requireOwners } from "#shared/triggers/read-trigger.ts";
import type { TriggerReadPorts } from "#shared/triggers/trigger-ports.ts";
import { toTriggerItem } from "#shared/triggers/triggers.ts";
import { TriggerItem } from "#shared/wire/triggers/trigger.ts";

/**
 * POST /agent/triggers/{triggerUid}/resume: resumes a paused trigger. Events that were delivered meanwhile start runs only if
 * they are delivered again. Resuming an enabled trigger changes nothing. Requires the role `admin`, unless the trigger is
 * personal.
 */
export const resumeTrigger = endpoint({
  request: { path: v.object({ triggerUid: PathId }) },
  reply: { 200: TriggerItem },
  async run({ path, principal, header }, ports: TriggerReadPorts) {
    const owners = await requireOwners(principal, path.triggerUid, ports.table);
    const once = toIdempotentRequest(header, principal, `resume-trigger:${path.triggerUid}`, "");
    const { trigger, replayed } = await setEnabled(owners, path.triggerUid, true, once, ports);
    return { status: 200, body: toTriggerItem(trigger, ports), headers: toReplayHeaders(replayed) };
  },
});
