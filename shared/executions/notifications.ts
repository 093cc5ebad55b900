import { RunyardError } from "#shared/errors.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { isNotified, markNotified } from "./event-marker-store.ts";

/** Notifies the user by an event of the run. The same message again is no new event. */
export async function storeNotification(first: ExecutingHead, message: string, ports: RunPorts): Promise<void> {
  await changeExecution(first, ports, async (head) => {
    if (await isNotified(first.run_id, message, ports.table)) return { result: undefined };
    if (head.notifications >= RUN_CAPS.notifications) {
      throw new RunyardError("resource_unavailable", {
        status: 429,
        retryable: false,
        detail: `a run notifies its user at most ${RUN_CAPS.notifications} times`,
      });
    }
    return {
      change: {
        events: [{ type: "user_notified", data: { message } }],
        set: { notifications: head.notifications + 1, heartbeat_at: ports.now() },
        also: { notification: markNotified(first.run_id, message) },
      },
      result: undefined,
    };
  });
}
