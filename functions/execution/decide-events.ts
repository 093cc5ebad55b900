import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import * as v from "valibot";
import { createRateLimitToken } from "#shared/limits/token-bucket.ts";
import { logLine } from "#shared/log/log.ts";
import { queueConsumer } from "#shared/queue/consumer.ts";
import { EventMessage } from "#shared/queue/event-queue.ts";
import { invocation } from "#shared/queue/invocation.ts";
import { ScheduledEvent } from "#shared/queue/scheduled-event.ts";
import { decideDelivery, requestDueDecisions } from "#shared/triggers/decide-delivery.ts";
import type { DecisionPorts } from "#shared/triggers/trigger-ports.ts";

const decideOne = queueConsumer({
  message: EventMessage,
  async run({ trigger_uid, delivery_id }, ports: DecisionPorts) {
    const rateLimitToken = createRateLimitToken(`trigger:${trigger_uid}`, "create", ports.rates);
    await decideDelivery({ trigger_uid, delivery_id }, rateLimitToken, ports);
  },
});

/**
 * SQS `events`: decides what the events of triggers result in. Each minute: requests the decisions that are due again, and those
 * whose message was lost.
 */
export const decideEvents = invocation(
  async (event: SQSEvent | ScheduledEvent, ports: DecisionPorts): Promise<SQSBatchResponse> => {
    if ("Records" in event) return decideOne.handle(event, ports);
    v.parse(ScheduledEvent, event);
    const count = await requestDueDecisions(ports);
    if (count > 0) logLine("info", "decisions on events requested", { count });
    return { batchItemFailures: [] };
  },
);
