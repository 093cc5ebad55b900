import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import * as v from "valibot";
import { queueConsumer } from "#shared/queue/consumer.ts";
import { invocation } from "#shared/queue/invocation.ts";
import { attemptReplies, type ReplyPorts } from "#shared/triggers/replies/attempt-replies.ts";
import { attempt } from "#shared/webhooks/attempt-deliveries.ts";
import { AttemptMessage } from "#shared/webhooks/webhook-messages.ts";
import type { AttemptPorts, DeliveryRef } from "#shared/webhooks/webhook-ports.ts";

type Event = v.InferOutput<typeof AttemptMessage> | SQSEvent;

/** The queue `webhook-attempts` of a single machine. */
const attemptSome = queueConsumer({
  message: AttemptMessage,
  async run({ deliveries }, ports: AttemptPorts & ReplyPorts) {
    await attemptAll(deliveries, ports);
  },
});

/** Attempts deliveries of one webhook, or the reply of one run, which plan-deliveries requests. */
export const attemptDeliveries = invocation(
  async (event: Event, ports: AttemptPorts & ReplyPorts): Promise<SQSBatchResponse> => {
    if ("Records" in event) return attemptSome.handle(event, ports);
    await attemptAll(v.parse(AttemptMessage, event).deliveries, ports);
    return { batchItemFailures: [] };
  },
);

async function attemptAll(refs: readonly DeliveryRef[], ports: AttemptPorts & ReplyPorts): Promise<void> {
  const replies = refs.filter(({ is_reply }) => is_reply === true);
  const deliveries = refs.filter(({ is_reply }) => is_reply !== true);
  if (replies.length > 0) await attemptReplies(replies, ports);
  if (deliveries.length > 0) await attempt(deliveries, ports);
}
