import * as v from "valibot";
import { endpoint, PathId } from "#shared/http/endpoint.ts";
import { requireAdministeredTeams } from "#shared/teams/require-role.ts";
import type { TriggerReadPorts } from "#shared/triggers/trigger-ports.ts";
import { readTrigger, toTriggerItem } from "#shared/triggers/triggers.ts";
import { TriggerItem } from "#shared/wire/triggers/trigger.ts";

/** GET /agent/triggers/{triggerUid}: returns a trigger. Requires the role `admin`. */
export const getTrigger = endpoint({
  request: { path: v.object({ triggerUid: PathId }) },
  reply: { 200: TriggerItem },
  async run({ path, principal }, ports: TriggerReadPorts) {
    const trigger = await readTrigger(requireAdministeredTeams(principal), path.triggerUid, ports.table);
    return { status: 200, body: toTriggerItem(trigger, ports) };
  },
});
