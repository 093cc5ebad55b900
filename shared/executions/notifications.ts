import { RunyardError } from "#shared/errors.ts";
import { sha256 } from "#shared/ids.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { keys } from "#shared/table/keys.ts";

/** notify-user: an event of the run, which whoever follows it is told of. The same words twice are told once. */
export async function notifyUser(first: ExecutingHead, message: string, ports: RunPorts): Promise<void> {
  const marker = keys.notification(first.run_id, sha256(message));
  await changeExecution(first, ports, async (head) => {
    if ((await ports.table.get(marker)) !== undefined) return { result: undefined };
    if (head.notifications >= RUN_CAPS.notifications) {
      throw new RunyardError("resource_unavailable", {
        status: 429,
        retryable: false,
        detail: `a run notifies its user ${RUN_CAPS.notifications} times`,
      });
    }
    return {
      change: {
        events: [{ type: "user_notified", data: { message } }],
        set: { notifications: head.notifications + 1, heartbeat_at: ports.now() },
        also: [{ kind: "put", item: { ...marker, v: 1 } }],
      },
      result: undefined,
    };
  });
}
