import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import * as v from "valibot";
import { logLine } from "#shared/log/log.ts";
import { queueConsumer } from "#shared/queue/consumer.ts";
import { invocation } from "#shared/queue/invocation.ts";
import { ScheduledEvent } from "#shared/queue/scheduled-event.ts";
import { attempt, attemptDue } from "#shared/webhooks/attempt-deliveries.ts";
import { AttemptMessage } from "#shared/webhooks/webhook-messages.ts";
import type { AttemptPorts } from "#shared/webhooks/webhook-ports.ts";

type Event = ScheduledEvent | v.InferOutput<typeof AttemptMessage> | SQSEvent;

/** The queue `webhook-attempts` of a single machine. */
const attemptSome = queueConsumer({
  message: AttemptMessage,
  async run({ deliveries }, ports: AttemptPorts) {
    await attempt(deliveries, ports);
  },
});

/**
 * Attempts deliveries of webhooks: those that were just planned, by an invocation of plan-deliveries, and each minute those
 * that are due.
 */
export const attemptDeliveries = invocation(async (event: Event, ports: AttemptPorts): Promise<SQSBatchResponse> => {
  if ("Records" in event) return attemptSome.handle(event, ports);
  const parsed = v.parse(v.union([ScheduledEvent, AttemptMessage]), event);
  const count = "deliveries" in parsed ? await attempt(parsed.deliveries, ports) : await attemptDue(ports);
  if (count > 0) logLine("info", "webhook deliveries attempted", { count });
  return { batchItemFailures: [] };
});
