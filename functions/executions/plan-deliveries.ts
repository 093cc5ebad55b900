import { logLine } from "#shared/log/log.ts";
import { hasReceivers } from "#shared/notifications/receivers-mark-store.ts";
import { eventConsumer } from "#shared/queue/event-consumer.ts";
import { planReplies } from "#shared/triggers/replies/plan-replies.ts";
import { planEvents, requestDue } from "#shared/webhooks/plan-deliveries.ts";
import { type EventRef, parseEventKey } from "#shared/webhooks/run-event-store.ts";
import { EventMessage } from "#shared/webhooks/webhook-messages.ts";
import type { DeliveryPlanPorts } from "#shared/webhooks/webhook-ports.ts";

/**
 * The stream of the table, or the queue `webhook-events` of a single machine: adds deliveries of new events of runs, triggers and
 * schedules to the webhooks of their teams, and requests their first attempt. It requests the replies of runs with new events likewise.
 * Each minute: requests attempts of the deliveries that are due.
 */
export const planDeliveries = eventConsumer({
  message: EventMessage,
  async run({ v: _, ...ref }, ports: DeliveryPlanPorts) {
    await planAll([ref], ports);
  },
  async onInserts(keys, ports: DeliveryPlanPorts) {
    const refs = keys.map((key) => {
      const ref = parseEventKey(key);
      if (ref === undefined) throw new Error(`${key.sk} is not an event`);
      return ref;
    });
    await planAll(refs, ports);
  },
  async everyMinute(ports: DeliveryPlanPorts) {
    const count = await requestDue(ports);
    if (count > 0) logLine("info", "attempts of webhook deliveries requested", { count });
  },
});

async function planAll(refs: readonly EventRef[], ports: DeliveryPlanPorts): Promise<void> {
  // Without receivers in the deployment this is one read.
  if (refs.length === 0 || !(await hasReceivers(ports.table))) return;
  await planReplies(refs, ports);
  await planEvents(refs, ports);
}
