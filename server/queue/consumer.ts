import { setTimeout as pause } from "node:timers/promises";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { logLine } from "#shared/log/log.ts";
import type { Delivery, MessageStore } from "./message-store.ts";
import type { QueueDefinition } from "./queue-names.ts";
import { toSqsEvent } from "./sqs-event.ts";

/** Number of groups whose last delivery is remembered. */
const MAX_REMEMBERED_GROUPS = 10_000;

export interface Consumer {
  readonly queue: QueueDefinition;
  /** Maximum number of batches handled at the same time. */
  readonly concurrency: number;
  /** Maximum number of messages in a batch, 1 to 10. @default 1 */
  readonly batchSize?: number;
  /** Returns whether more can be delivered while `inFlight` batches are handled. @default up to `concurrency` */
  readonly hasRoom?: (inFlight: number) => boolean;
  /** Returns whether a message of this group can be delivered while `ofGroup` of the `inFlight` messages are its own. @default always */
  readonly accepts?: (group: string, inFlight: number, ofGroup: number) => boolean;
  /** Handles a batch, with the event and the response of a Lambda function. */
  handle(event: SQSEvent): Promise<SQSBatchResponse>;
}

interface ConsumerContext {
  readonly messages: MessageStore;
  /** Delivers what can be delivered now. */
  wake(): void;
}

/** Delivers the messages of one queue, with limited concurrency and fair between groups. */
export class QueueConsumer {
  readonly #consumer: Consumer;
  readonly #context: ConsumerContext;
  readonly #batches = new Set<Promise<void>>();
  /** Number of messages being handled, by group. */
  readonly #inFlight = new Map<string, number>();
  /** Sequence number of each group's last delivery. */
  readonly #served = new Map<string, number>();
  #count = 0;

  constructor(consumer: Consumer, context: ConsumerContext) {
    this.#consumer = consumer;
    this.#context = context;
  }

  get name(): string {
    return this.#consumer.queue.name;
  }

  hasRoom(): boolean {
    const { concurrency, hasRoom } = this.#consumer;
    return this.#batches.size < concurrency && (hasRoom === undefined || hasRoom(this.#batches.size));
  }

  /** Delivers messages up to the concurrency limit. Returns true if some were moved to the dead letters. */
  takeAll(): boolean {
    let buried = false;
    while (this.hasRoom()) {
      const batch: Delivery[] = [];
      while (batch.length < (this.#consumer.batchSize ?? 1)) {
        const attempt = this.#context.messages.take(this.#consumer.queue, this.#compareGroups, this.#accepts);
        buried ||= attempt.buried;
        if (attempt.delivery === undefined) break;
        this.#note(attempt.delivery.group, 1);
        batch.push(attempt.delivery);
      }
      if (batch.length === 0) break;
      this.#begin(batch);
    }
    return buried;
  }

  /** Resolves when nothing is being handled. */
  async idle(): Promise<void> {
    await Promise.all(this.#batches);
  }

  #begin(batch: readonly Delivery[]): void {
    const handling = this.#handle(batch).finally(() => {
      this.#batches.delete(handling);
      for (const { group } of batch) this.#note(group, -1);
      this.#context.wake();
    });
    this.#batches.add(handling);
  }

  /** Orders groups by the number of messages being handled, then by the time since their last delivery. */
  #compareGroups = (a: string, b: string): number =>
    (this.#inFlight.get(a) ?? 0) - (this.#inFlight.get(b) ?? 0) ||
    (this.#served.get(a) ?? 0) - (this.#served.get(b) ?? 0);

  #accepts = (group: string): boolean =>
    this.#consumer.accepts?.(group, this.#batches.size, this.#inFlight.get(group) ?? 0) ?? true;

  #note(group: string, change: 1 | -1): void {
    const inFlight = (this.#inFlight.get(group) ?? 0) + change;
    if (inFlight > 0) this.#inFlight.set(group, inFlight);
    else this.#inFlight.delete(group);
    if (change < 0) return;
    // Deleted first, so that the map stays in the order of deliveries and its first entry is the oldest.
    this.#served.delete(group);
    this.#served.set(group, ++this.#count);
    const [oldest] = this.#served.keys();
    if (this.#served.size > MAX_REMEMBERED_GROUPS && oldest !== undefined) this.#served.delete(oldest);
  }

  async #handle(batch: readonly Delivery[]): Promise<void> {
    const failed = await this.#failures(batch);
    const { messages } = this.#context;
    try {
      for (const delivery of batch) {
        if (failed.has(delivery.messageId)) messages.giveBack(delivery);
        else messages.complete(delivery);
      }
    } catch (error) {
      // The messages are delivered again after their visibility time-out.
      logLine("error", "messages could not be completed", { queue: this.name, error });
    }
  }

  /** Handles a batch and returns the ids of the messages that failed. */
  async #failures(batch: readonly Delivery[]): Promise<ReadonlySet<string>> {
    const ended = new AbortController();
    try {
      const { batchItemFailures } = await Promise.race([
        this.#consumer.handle(toSqsEvent(this.name, batch)),
        pause(this.#consumer.queue.timeoutSeconds * 1000, undefined, { ref: false, signal: ended.signal }).then(() => {
          throw new Error(`not handled within ${this.#consumer.queue.timeoutSeconds} seconds`);
        }),
      ]);
      return new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    } catch (error) {
      logLine("error", "messages failed", { queue: this.name, error });
      return new Set(batch.map(({ messageId }) => messageId));
    } finally {
      ended.abort();
    }
  }
}
