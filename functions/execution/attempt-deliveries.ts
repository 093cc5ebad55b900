import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import * as v from "valibot";
import { queueConsumer } from "#shared/queue/consumer.ts";
import { invocation } from "#shared/queue/invocation.ts";
import { attempt } from "#shared/webhooks/attempt-deliveries.ts";
import { AttemptMessage } from "#shared/webhooks/webhook-messages.ts";
import type { AttemptPorts } from "#shared/webhooks/webhook-ports.ts";

type Event = v.InferOutput<typeof AttemptMessage> | SQSEvent;

/** The queue `webhook-attempts` of a single machine. */
const attemptSome = queueConsumer({
  message: AttemptMessage,
  async run({ deliveries }, ports: AttemptPorts) {
    await attempt(deliveries, ports);
  },
});

/** Attempts deliveries of one webhook, which plan-deliveries requests. */
export const attemptDeliveries = invocation(async (event: Event, ports: AttemptPorts): Promise<SQSBatchResponse> => {
  if ("Records" in event) return attemptSome.handle(event, ports);
  await attempt(v.parse(AttemptMessage, event).deliveries, ports);
  return { batchItemFailures: [] };
});
