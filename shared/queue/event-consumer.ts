import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import * as v from "valibot";
import { queueConsumer } from "./consumer.ts";
import { invocation } from "./invocation.ts";
import { ScheduledEvent } from "./scheduled-event.ts";

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

/** The keys of an item. */
interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

/** What invokes a function. Each handler knows what one source sends. */
interface EventSources<M, P> {
  readonly message: v.GenericSchema<unknown, M>;
  /** Handles a message of an SQS queue or, where there is no other source, an event that is the message itself. */
  run(message: M, ports: P): Promise<void>;
  /** Runs each minute, by an EventBridge rule. */
  everyMinute?(ports: P): Promise<void>;
  /** Handles new items, by the stream of the table. */
  onInserts?(keys: readonly ItemKey[], ports: P): Promise<void>;
}

/** Defines a function that has several event sources. */
export function eventConsumer<M, P>(sources: EventSources<M, P>) {
  const queue = queueConsumer(sources);
  return invocation(async (event: unknown, ports: P): Promise<SQSBatchResponse> => {
    if (isQueueEvent(event)) return queue.handle(event, ports);
    await handleOther(event, sources, ports);
    return { batchItemFailures: [] };
  });
}

/** Handles an event that does not come from a queue: of the stream, of the rule, or a message. */
async function handleOther<M, P>(event: unknown, sources: EventSources<M, P>, ports: P): Promise<void> {
  if (sources.everyMinute !== undefined && (v.is(ScheduledEvent, event) || isEmpty(event))) {
    return sources.everyMinute(ports);
  }
  if (sources.onInserts !== undefined) {
    const { Records } = v.parse(StreamEvent, event);
    const keys = Records.map(({ dynamodb: { Keys } }) => ({ pk: Keys.pk.S, sk: Keys.sk.S }));
    return sources.onInserts(keys, ports);
  }
  if (sources.everyMinute !== undefined) v.parse(ScheduledEvent, event);
  return sources.run(v.parse(sources.message, event), ports);
}

/** An operator may invoke a function that runs each minute with an empty event. */
const isEmpty = (event: unknown): boolean =>
  typeof event === "object" && event !== null && Object.keys(event).length === 0;

const isQueueEvent = (event: unknown): event is SQSEvent =>
  v.is(v.object({ Records: v.array(v.object({ eventSource: v.literal("aws:sqs") })) }), event);
