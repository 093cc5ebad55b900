import { logLine } from "#shared/log/log.ts";
import { eventConsumer } from "#shared/queue/event-consumer.ts";
import { EventMessage } from "#shared/queue/event-queue.ts";
import { decideDelivery, requestDueDecisions } from "#shared/triggers/decide-delivery.ts";
import type { DecisionPorts } from "#shared/triggers/trigger-ports.ts";

/**
 * SQS `events`: decides what the events of triggers result in. Each minute: requests the decisions that are due again, and those
 * whose message was lost.
 */
export const decideEvents = eventConsumer({
  message: EventMessage,
  async run({ trigger_uid, delivery_id }, ports: DecisionPorts) {
    await decideDelivery({ trigger_uid, delivery_id }, ports);
  },
  async everyMinute(ports: DecisionPorts) {
    const count = await requestDueDecisions(ports);
    if (count > 0) logLine("info", "decisions on events requested", { count });
  },
});
