import { AsyncLocalStorage } from "node:async_hooks";
import { logLine } from "#shared/log/log.ts";
import type { Database } from "../database/database.ts";
import { type Consumer, QueueConsumer } from "./consumer.ts";
import { type MessageStore, messageStore } from "./message-store.ts";
import { type QueueDefinition, toDeadLetterQueue } from "./queue-names.ts";

/** Limits of SQS. */
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_DELAY_SECONDS = 900;
const RETENTION_MS = 14 * 24 * 3_600_000;
/** Maximum wait of the timer, so that a changed clock is noticed. */
const MAX_WAIT_MS = 60_000;
/** Wait before the next attempt after the database could not be read or written. */
const RETRY_MS = 1_000;

export interface SendOptions {
  /** Message group; groups are served in turn. Messages without a group form one group. */
  readonly group?: string;
  /** At most 900. @default 0 */
  readonly delaySeconds?: number;
  /** Whether the message is sent again if a power failure loses it, so that nobody waits for the disk. @default false */
  readonly isSentAgain?: boolean;
}

export interface QueueDepth {
  readonly waiting: number;
  readonly inFlight: number;
  /** When the oldest message was sent, in milliseconds. */
  readonly oldestSentAt: number | undefined;
}

/**
 * The queues of the single machine. They deliver at least once, like SQS, with the same time-outs, receive counts and dead
 * letters. Sending wakes the consumer directly; one timer waits for the earliest message that becomes visible later.
 */
export class Queues {
  readonly #messages: MessageStore;
  readonly #now: () => number;
  readonly #consumers = new Map<string, QueueConsumer>();
  /** Keeps the asynchronous context of senders out of the consumers. */
  readonly #inOwnContext = AsyncLocalStorage.snapshot();
  #timer: NodeJS.Timeout | undefined;
  #running = false;

  constructor(database: Database, now: () => number) {
    this.#messages = messageStore(database, now);
    this.#now = now;
  }

  /** Sends a message. Resolves when it is on the disk, unless it is sent again where it is lost. */
  async send(
    queue: QueueDefinition,
    body: string,
    { group = "", delaySeconds = 0, isSentAgain = false }: SendOptions = {},
  ): Promise<void> {
    if (body === "" || Buffer.byteLength(body) > MAX_BODY_BYTES) throw new RangeError("a message has 1 byte to 1 MiB");
    if (!Number.isInteger(delaySeconds) || delaySeconds < 0 || delaySeconds > MAX_DELAY_SECONDS) {
      throw new RangeError(`a delay is a whole number of seconds up to ${MAX_DELAY_SECONDS}`);
    }
    const message = { queue: queue.name, group, body, visibleAt: this.#now() + delaySeconds * 1000 };
    if (isSentAgain) this.#messages.addUnsynced(message);
    else await this.#messages.add(message);
    this.wake();
  }

  /** Sends a message in the transaction that the caller is in, which calls `wake` afterwards. */
  enqueue(queue: QueueDefinition, body: string): void {
    this.#messages.addInTransaction({ queue: queue.name, group: "", body, visibleAt: this.#now() });
  }

  /** Registers the consumer of a queue. A queue has at most one. */
  consume(consumer: Consumer): void {
    const { name } = consumer.queue;
    if (this.#consumers.has(name)) throw new Error(`queue ${name} has a consumer already`);
    this.#consumers.set(name, new QueueConsumer(consumer, { messages: this.#messages, wake: () => this.wake() }));
    this.wake();
  }

  /** Starts delivery. Messages that a previous process was handling are delivered again immediately. */
  start(): void {
    this.#messages.releaseAll();
    this.#running = true;
    this.wake();
  }

  /** Stops delivery and waits for the messages that are being handled. */
  async stop(): Promise<void> {
    this.#running = false;
    clearTimeout(this.#timer);
    await Promise.all([...this.#consumers.values()].map((consumer) => consumer.idle()));
  }

  /** Moves the dead letters of a queue back to it; resolves with their number. */
  async redrive(queue: QueueDefinition): Promise<number> {
    const count = await this.#messages.redrive(queue.name);
    this.wake();
    return count;
  }

  depth = (queue: QueueDefinition): Promise<QueueDepth> => this.#depthOf(queue.name);

  deadLetters = (queue: QueueDefinition): Promise<QueueDepth> => this.#depthOf(toDeadLetterQueue(queue.name));

  /** Deletes messages older than the retention period of SQS; resolves with their number. */
  purgeOld = (): Promise<number> => this.#messages.purge(this.#now() - RETENTION_MS);

  async #depthOf(name: string): Promise<QueueDepth> {
    const { total, in_flight, oldest } = await this.#messages.depth(name);
    return { waiting: total - in_flight, inFlight: in_flight, oldestSentAt: oldest ?? undefined };
  }

  /** Delivers what can be delivered now; for consumers that have room again. */
  wake(): void {
    if (this.#running) this.#inOwnContext(() => this.#deliver());
  }

  #deliver(): void {
    clearTimeout(this.#timer);
    // What was visible before is delivered now, or has to wait for its consumer.
    const began = this.#now();
    try {
      let buried = true;
      while (buried) {
        // The dead letters of one queue are the messages of another.
        buried = [...this.#consumers.values()].map((consumer) => consumer.takeAll()).some((some) => some);
      }
      this.#setTimer(this.#nextTime(began));
    } catch (error) {
      logLine("error", "the queues cannot be read", { error });
      this.#setTimer(this.#now() + RETRY_MS);
    }
  }

  #nextTime(after: number): number | undefined {
    const times = [...this.#consumers.values()].filter((consumer) => consumer.hasRoom());
    return times
      .map((consumer) => this.#messages.nextTime(consumer.name, after))
      .reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a), undefined);
  }

  #setTimer(time: number | undefined): void {
    if (time === undefined) return;
    const wait = Math.min(Math.max(time - this.#now(), 0), MAX_WAIT_MS);
    this.#timer = setTimeout(() => this.wake(), wait);
  }
}
