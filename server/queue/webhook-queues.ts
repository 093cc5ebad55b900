import { keys } from "#shared/table/keys.ts";
import type { Item, Key } from "#shared/table/table.ts";
import { findWebhookEvent, parseEventKey } from "#shared/webhooks/run-event-store.ts";
import type { DeliveryPlanPorts } from "#shared/webhooks/webhook-ports.ts";
import type { Database } from "../database/database.ts";
import { QUEUES } from "./queue-names.ts";
import type { Queues } from "./queues.ts";

const HAS_ITEM = "SELECT 1 FROM items WHERE pk = ? AND sk = ?";

/**
 * Takes the place of the table's stream: an event of a run is sent to the planner of webhooks in the transaction that writes
 * it, so that no event is lost however the process ends. Without webhooks, events cost one read.
 */
export class EventOutbox {
  readonly #database: Database;
  readonly #queues: Queues;
  #wasUsed = false;

  constructor(database: Database, queues: Queues) {
    this.#database = database;
    this.#queues = queues;
  }

  /** Sends a new item that is an event. Called in the transaction that writes it. */
  readonly send = (item: Item): void => {
    const event = findWebhookEvent(item);
    if (event === undefined || !this.#hasWebhooks()) return;
    this.#wasUsed = true;
    this.#queues.enqueue(QUEUES.webhookEvents, JSON.stringify({ v: 1, ...event }));
  };

  /** Delivers what was sent. Called after the transaction. */
  wake(key: Key): void {
    if (this.#wasUsed && parseEventKey(key) !== undefined) this.#queues.wake();
  }

  #hasWebhooks(): boolean {
    const { pk, sk } = keys.webhooksExist();
    return this.#database.statement(HAS_ITEM).get(pk, sk) !== undefined;
  }
}

/** The queue by which deliveries are attempted. The webhook is the message group, so that a slow receiver delays no other. */
export const sqliteAttemptQueue = (queues: Queues): DeliveryPlanPorts["attempts"] => ({
  request: (deliveries) => {
    const group = deliveries[0]?.webhook_uid ?? "";
    return queues.send(QUEUES.webhookAttempts, JSON.stringify({ v: 1, deliveries }), { group });
  },
});
