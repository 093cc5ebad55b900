import { eventConsumer } from "#shared/queue/event-consumer.ts";
import { attemptReplies, type ReplyPorts } from "#shared/triggers/replies/attempt-replies.ts";
import { attempt } from "#shared/webhooks/attempt-deliveries.ts";
import { AttemptMessage } from "#shared/webhooks/webhook-messages.ts";
import type { AttemptPorts } from "#shared/webhooks/webhook-ports.ts";

/**
 * Attempts deliveries of one webhook, or the reply of one run. `planDeliveries` invokes it with the message itself; on a single
 * machine the message comes through a queue.
 */
export const attemptDeliveries = eventConsumer({
  message: AttemptMessage,
  async run(message, ports: AttemptPorts & ReplyPorts) {
    const replies = message.deliveries.filter(({ is_reply }) => is_reply === true);
    const deliveries = message.deliveries.filter(({ is_reply }) => is_reply !== true);
    if (replies.length > 0) await attemptReplies(replies, ports);
    if (deliveries.length > 0) await attempt(deliveries, ports);
  },
});
