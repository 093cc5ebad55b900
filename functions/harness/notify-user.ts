import { authorizeExecution } from "#shared/executions/execution-access.ts";
import { storeNotification } from "#shared/executions/notifications.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { Empty, NotifyUserRequest } from "#shared/wire/harness.ts";

/**
 * POST /harness-support/notify-user: notifies the user of a run while the run continues. The message becomes an event
 * of type `user_notified`. A run can send at most 10 notifications.
 */
export const notifyUser = endpoint({
  request: { body: NotifyUserRequest },
  reply: { 200: Empty },
  async run({ body, principal, header }, ports: RunPorts) {
    await storeNotification(await authorizeExecution(principal, header, ports), body.message, ports);
    return { status: 200, body: {} };
  },
});
