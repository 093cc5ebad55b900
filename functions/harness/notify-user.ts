import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { notifyUser as notify } from "#shared/executions/notifications.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { Empty, NotifyUserRequest } from "#shared/wire/harness.ts";

/** POST /harness-support/notify-user: a word to the run's user while it goes on, as an event of the run. */
export const notifyUser = endpoint({
  request: { body: NotifyUserRequest },
  reply: { 200: Empty },
  errors: ["resource_unavailable"],
  async run({ body, principal, header }, ports: RunPorts) {
    await notify(await authorizeExecution(principal, header, ports), body.message, ports);
    return { status: 200, body: {} };
  },
});
