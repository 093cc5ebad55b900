import * as v from "valibot";
import { invocation } from "#shared/queue/invocation.ts";
import { type RenewalResult, RenewToken } from "#shared/secrets/renewal-grant.ts";
import { callSystem, type SystemPorts } from "#shared/triggers/systems/call-system.ts";
import { renewToken } from "#shared/triggers/systems/renew-token.ts";
import { SystemMessage, type SystemResult } from "#shared/triggers/systems/system-request.ts";

const Message = v.union([SystemMessage, v.object({ v: v.literal(1), request: RenewToken })]);

/** Calls the API of another system with a secret of a team, and returns what came of it. It has no right on the table. */
export const callSystems = invocation(
  async (event: unknown, ports: SystemPorts): Promise<SystemResult | RenewalResult> => {
    const { request } = v.parse(Message, event);
    return request.action === "renew_token" ? renewToken(request, ports) : callSystem(request, ports);
  },
);
