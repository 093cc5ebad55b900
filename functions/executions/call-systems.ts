import * as v from "valibot";
import { invocation } from "#shared/queue/invocation.ts";
import { callSystem, type SystemPorts } from "#shared/triggers/systems/call-system.ts";
import { SystemMessage, type SystemResult } from "#shared/triggers/systems/system-request.ts";

/** Calls the API of another system with a secret of a team, and returns what came of it. It has no right on the table. */
export const callSystems = invocation(async (event: unknown, ports: SystemPorts): Promise<SystemResult> => {
  return callSystem(v.parse(SystemMessage, event).request, ports);
});
