import * as v from "valibot";
import { invocation } from "#shared/queue/invocation.ts";
import { type AttemptResult, type SendPorts, sendRequests } from "#shared/webhooks/send-webhooks.ts";
import { SendMessage } from "#shared/webhooks/webhook-messages.ts";

/** Sends signed requests to the URLs of webhooks, and returns their results. It has no right on the table. */
export const sendWebhooks = invocation(async (event: unknown, ports: SendPorts): Promise<readonly AttemptResult[]> => {
  return sendRequests(v.parse(SendMessage, event).requests, ports);
});
