import type { Message } from "#shared/wire/conversation.ts";
import type { ClientEvent } from "#shared/wire/event.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { randomUUID } from "../support/lazy-crypto.ts";
import { cutBytes } from "../support/text-limits.ts";

/** Sends messages and events of an execution in the order in which they were queued. */
export interface Outbox {
  /** Queues a message of the conversation; `onStored` is called once the control plane has accepted it. */
  message(message: Message, onStored?: () => void): void;
  /** Queues an event of the run. Its texts are redacted, then truncated. */
  event(name: ClientEvent["event_name"], payload?: ClientEvent["payload"]): void;
  /** Sends everything that is queued and resolves when it is stored. @throws the failure that stopped the outbox */
  flush(): Promise<void>;
  /**
   * Takes the messages that are not sent yet, for a request that stores them. If they do not fit into one batch, or events are among
   * them, sends everything and returns undefined.
   */
  takeUnsent(): Promise<UnsentMessages | undefined>;
}

/** Messages that the caller of `takeUnsent` has to store. */
export interface UnsentMessages {
  readonly first_sequence: number;
  readonly messages: Message[];
  /** To be called once they are stored. */
  readonly onStored: () => void;
}

type Item =
  | { kind: "event"; event: ClientEvent }
  | { kind: "message"; message: Message; bytes: number; onStored: () => void };

const BATCH_BYTES = 32 * 1024;
const BATCH_MESSAGES = 100;
const HOLD_MS = 1_000;
/** The longest detail of an event. */
const DETAIL_BYTES = 4_000;
/** The longest reason of a retry. */
const REASON_BYTES = 1_000;

export interface OutboxOptions {
  readonly plane: Pick<ControlPlane, "sendEvent" | "sendMessages">;
  readonly redactor: Redactor;
  /** The number of the first message. */
  readonly nextSequence: number;
  /** Called once when something could not be sent. Nothing is sent after that. */
  readonly onFailure: (error: unknown) => void;
  /** How long a message may wait for others to share its batch, in milliseconds. @default 1000 */
  readonly holdMs?: number;
}

/**
 * Queueing never waits for the network: the first command starts while its own message is in flight. Each batch is one billed event of
 * the run, so messages wait up to a second for others to share their batch.
 */
export function createOutbox(options: OutboxOptions): Outbox {
  const { plane, redactor, onFailure, holdMs = HOLD_MS } = options;
  const queue: Item[] = [];
  let nextSequence = options.nextSequence;
  let failure: { error: unknown } | undefined;
  let pump: Promise<void> | undefined;
  let flushing = 0;
  /** The last request. */
  let sending: Promise<void> | undefined;
  let wake = Promise.withResolvers<void>();

  const isDue = () => flushing > 0 || queue.some((item) => item.kind === "event") || sumBytes(queue) >= BATCH_BYTES;
  const hold = async () => {
    wake = Promise.withResolvers<void>();
    const timer = setTimeout(wake.resolve, holdMs);
    await wake.promise;
    clearTimeout(timer);
  };
  const sendNext = async () => {
    nextSequence = await sendFirst(queue, plane, nextSequence);
  };
  const run = async () => {
    while (queue.length > 0) {
      if (!isDue()) await hold();
      // What was held may have been taken.
      if (queue.length === 0) break;
      sending = sendNext();
      await sending;
    }
  };
  const start = () => {
    if (failure !== undefined) return;
    if (isDue()) wake.resolve();
    pump ??= run()
      .catch((error: unknown) => {
        failure = { error };
        onFailure(error);
      })
      .finally(() => {
        pump = undefined;
        if (queue.length > 0) start();
      });
  };

  return {
    message(message, onStored = () => {}) {
      const clean = redactor.message({ timestamp: toTimestamp(Date.now()), ...message });
      queue.push({ kind: "message", message: clean, bytes: Buffer.byteLength(JSON.stringify(clean)), onStored });
      start();
    },
    event(name, payload) {
      queue.push({ kind: "event", event: createEvent(redactor, name, payload) });
      start();
    },
    async flush() {
      flushing++;
      start();
      while (queue.length > 0 && failure === undefined) await pump;
      flushing--;
      if (failure !== undefined) throw failure.error;
    },
    async takeUnsent() {
      // A failure to send is thrown below.
      await sending?.catch(() => undefined);
      const batch = takeBatch(queue);
      if (failure !== undefined || batch.length === 0 || batch.length < queue.length) {
        await this.flush();
        return undefined;
      }
      queue.splice(0);
      wake.resolve();
      const first_sequence = nextSequence;
      nextSequence += batch.length;
      const onStored = () => batch.forEach((item) => void item.onStored());
      return { first_sequence, messages: batch.map((item) => item.message), onStored };
    },
  };
}

/** Sends the first event, or the first batch of messages. Returns the number of the next message. */
async function sendFirst(queue: Item[], plane: OutboxOptions["plane"], nextSequence: number): Promise<number> {
  const [head] = queue;
  if (head?.kind === "event") {
    await plane.sendEvent(head.event);
    queue.shift();
    return nextSequence;
  }
  const batch = takeBatch(queue);
  const messages = batch.map((item) => item.message);
  const next = await plane.sendMessages(nextSequence, messages);
  queue.splice(0, batch.length);
  for (const item of batch) item.onStored();
  return next;
}

function createEvent(
  redactor: Redactor,
  name: ClientEvent["event_name"],
  payload: ClientEvent["payload"],
): ClientEvent {
  const event = { event_uuid: randomUUID(), event_name: name, timestamp: toTimestamp(Date.now()) };
  if (payload === undefined) return event;
  const { detail, reason, ...rest } = payload;
  const clean = {
    ...(detail === undefined ? {} : { detail: cutBytes(redactor.text(detail), DETAIL_BYTES) }),
    ...(reason === undefined ? {} : { reason: cutBytes(redactor.text(reason), REASON_BYTES) }),
  };
  return { ...event, payload: { ...rest, ...clean } };
}

function takeBatch(queue: readonly Item[]): (Item & { kind: "message" })[] {
  const batch: (Item & { kind: "message" })[] = [];
  let bytes = 0;
  for (const item of queue) {
    if (item.kind !== "message" || batch.length >= BATCH_MESSAGES) break;
    if (batch.length > 0 && bytes + item.bytes > BATCH_BYTES) break;
    batch.push(item);
    bytes += item.bytes;
  }
  return batch;
}

function sumBytes(queue: readonly Item[]): number {
  return queue.reduce((sum, item) => sum + (item.kind === "message" ? item.bytes : 0), 0);
}
