import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";
import { hasReceivers } from "#shared/notifications/receivers-mark-store.ts";
import { queueConsumer } from "#shared/queue/consumer.ts";
import { invocation } from "#shared/queue/invocation.ts";
import { ScheduledEvent } from "#shared/queue/scheduled-event.ts";
import { planReplies } from "#shared/triggers/replies/plan-replies.ts";
import { planEvents, requestDue } from "#shared/webhooks/plan-deliveries.ts";
import { type EventRef, parseEventKey } from "#shared/webhooks/run-event-store.ts";
import { EventMessage } from "#shared/webhooks/webhook-messages.ts";
import type { DeliveryPlanPorts } from "#shared/webhooks/webhook-ports.ts";

const Text = v.object({ S: v.string() });
const StreamEvent = v.object({
  Records: v.array(
    v.object({
      eventSource: v.literal("aws:dynamodb"),
      eventName: v.literal("INSERT"),
      dynamodb: v.object({ Keys: v.object({ pk: Text, sk: Text }) }),
    }),
  ),
});

/** The queue `webhook-events` of a single machine. */
const planOne = queueConsumer({
  message: EventMessage,
  async run({ v: _, ...ref }, ports: DeliveryPlanPorts) {
    await planAll([ref], ports);
  },
});

/**
 * The stream of the table: adds deliveries of new events of runs, triggers and schedules to the webhooks of their teams, and
 * requests their first attempt. It requests the replies of runs with new events likewise.
 * Each minute: requests attempts of the deliveries that are due.
 */
export const planDeliveries = invocation(
  async (event: unknown, ports: DeliveryPlanPorts): Promise<SQSBatchResponse> => {
    if (isQueueEvent(event)) return planOne.handle(event, ports);
    if (v.is(ScheduledEvent, event)) {
      const count = await requestDue(ports);
      if (count > 0) logLine("info", "attempts of webhook deliveries requested", { count });
      return { batchItemFailures: [] };
    }
    const refs = v.parse(StreamEvent, event).Records.map(({ dynamodb: { Keys } }) => {
      const ref = parseEventKey({ pk: Keys.pk.S, sk: Keys.sk.S });
      if (ref === undefined) throw new Error(`${Keys.sk.S} is not an event`);
      return ref;
    });
    await planAll(refs, ports);
    return { batchItemFailures: [] };
  },
);

async function planAll(refs: readonly EventRef[], ports: DeliveryPlanPorts): Promise<void> {
  // Without receivers in the deployment this is one read.
  if (refs.length === 0 || !(await hasReceivers(ports.table))) return;
  await planReplies(refs, ports);
  await planEvents(refs, ports);
}

const isQueueEvent = (event: unknown): event is SQSEvent =>
  v.is(v.object({ Records: v.array(v.object({ eventSource: v.literal("aws:sqs") })) }), event);
