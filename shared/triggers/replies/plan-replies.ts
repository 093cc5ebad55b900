import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { EventRef } from "#shared/webhooks/run-event-store.ts";
import type { DeliveryPlanPorts } from "#shared/webhooks/webhook-ports.ts";
import { replyStore } from "./reply-store.ts";

/** Has the replies of runs show new events, and requests an attempt of each. Events that are repeated change nothing. */
export async function planReplies(refs: readonly EventRef[], ports: DeliveryPlanPorts): Promise<void> {
  const { table, now, attempts } = ports;
  const latest = new Map<string, number>();
  for (const ref of refs) {
    if ("run_id" in ref) latest.set(ref.run_id, Math.max(ref.sequence, latest.get(ref.run_id) ?? 0));
  }
  if (latest.size === 0) return;
  const store = replyStore(table);
  for (const { run_id } of await store.getMany([...latest.keys()])) {
    const requested = await retryOnConflict("the reply is", async () => {
      const [reply] = await store.getMany([run_id]);
      return reply && store.want(reply, latest.get(run_id) ?? 0, now());
    });
    if (requested !== undefined) await attempts.request([requested]);
  }
}
