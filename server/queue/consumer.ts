import { setTimeout as pause } from "node:timers/promises";
import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import { logLine } from "#shared/log/log.ts";
import type { Delivery, MessageStore } from "./message-store.ts";
import type { QueueDefinition } from "./queue-names.ts";
import { toSqsEvent } from "./sqs-event.ts";

/** Groups whose last turn is remembered. */
const MAX_REMEMBERED_GROUPS = 10_000;

export interface Consumer {
  readonly queue: QueueDefinition;
  /** Batches that are handled at the same time at most. */
  readonly concurrency: number;
  /** Messages of one batch at most, 1 to 10. @default 1 */
  readonly batchSize?: number;
  /** The same function as on AWS; it reports which messages of the batch failed. */
  handle(event: SQSEvent): Promise<SQSBatchResponse>;
}

interface Surroundings {
  readonly messages: MessageStore;
  /** Looks for what is to be delivered next. */
  wake(): void;
}

/** Delivers the messages of one queue, a limited number at a time, to the groups in turn. */
export class QueueConsumer {
  readonly #consumer: Consumer;
  readonly #around: Surroundings;
  readonly #batches = new Set<Promise<void>>();
  /** Messages that are being handled, by group. */
  readonly #inFlight = new Map<string, number>();
  /** When each group was served last, as a count. */
  readonly #served = new Map<string, number>();
  #count = 0;

  constructor(consumer: Consumer, around: Surroundings) {
    this.#consumer = consumer;
    this.#around = around;
  }

  get name(): string {
    return this.#consumer.queue.name;
  }

  hasRoom = (): boolean => this.#batches.size < this.#consumer.concurrency;

  /** Begins to handle as many messages as there is room for. True where some have become dead letters. */
  takeAll(): boolean {
    let buried = false;
    while (this.hasRoom()) {
      const batch: Delivery[] = [];
      while (batch.length < (this.#consumer.batchSize ?? 1)) {
        const taken = this.#around.messages.take(this.#consumer.queue, this.#compareGroups);
        buried ||= taken.buried;
        if (taken.delivery === undefined) break;
        this.#note(taken.delivery.group, 1);
        batch.push(taken.delivery);
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
      this.#around.wake();
    });
    this.#batches.add(handling);
  }

  /** Those with the fewest messages in the works first, then those that have waited longest for their turn. */
  #compareGroups = (a: string, b: string): number =>
    (this.#inFlight.get(a) ?? 0) - (this.#inFlight.get(b) ?? 0) ||
    (this.#served.get(a) ?? 0) - (this.#served.get(b) ?? 0);

  #note(group: string, change: 1 | -1): void {
    const inFlight = (this.#inFlight.get(group) ?? 0) + change;
    if (inFlight > 0) this.#inFlight.set(group, inFlight);
    else this.#inFlight.delete(group);
    if (change < 0) return;
    // Deleted first, so that the groups stay in the order of their service and the oldest can be forgotten.
    this.#served.delete(group);
    this.#served.set(group, ++this.#count);
    const [oldest] = this.#served.keys();
    if (this.#served.size > MAX_REMEMBERED_GROUPS && oldest !== undefined) this.#served.delete(oldest);
  }

  async #handle(batch: readonly Delivery[]): Promise<void> {
    const failed = await this.#failures(batch);
    const { messages } = this.#around;
    try {
      for (const delivery of batch) {
        if (failed.has(delivery.messageId)) messages.giveBack(delivery);
        else messages.complete(delivery);
      }
    } catch (error) {
      // What is not completed is delivered again.
      logLine("error", "messages could not be completed", { queue: this.name, error });
    }
  }

  /** Ids of the messages that were not handled. */
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
