import type { EventQueue } from "#shared/queue/event-queue.ts";
import type { RunQueue } from "#shared/queue/run-queue.ts";
import { sqsClient } from "./sqs-client.ts";
import { sqsEventQueue, sqsRunQueue } from "./sqs-queue.ts";

/** The queues in SQS, with the client. The bundler makes it a part that is loaded by its first use; see infra/bundle-parts.ts. */
export const openRunQueue = (urls: { runs: () => string; ends: () => string }): RunQueue =>
  sqsRunQueue(sqsClient(), urls);

/** The queue of events for triggers. */
export const openEventQueue = (url: () => string): EventQueue => sqsEventQueue(sqsClient(), url);
