import { splitIntoBatches } from "#shared/arrays.ts";
import { RunyardError } from "#shared/errors.ts";
import { logLine } from "#shared/log/log.ts";
import type { DeliveryRef } from "#shared/queue/event-queue.ts";
import { statusText } from "#shared/records/run.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { decide, failDelivery } from "./decide.ts";
import { type Delivery, deliveryStore } from "./delivery-store.ts";
import { eventStore } from "./event-store.ts";
import type { DecisionPorts } from "./trigger-ports.ts";
import { type Trigger, triggerStore } from "./trigger-store.ts";

/** Milliseconds for which a decision is repeated that fails for a reason which time may change. */
const RETRY_MS = 24 * 3_600_000;
const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSE_MS = 3_600_000;
/** Decisions that one pass requests, and those that it requests at the same time. */
const MAX_DUE = 1_000;
const AT_ONCE = 20;

/**
 * Decides what the event of a delivery results in. A repeated message changes nothing, since the outcome is written under the
 * condition that there is none. A decision that fails for a reason which time may change is repeated for a day.
 */
export async function decideDelivery(ref: DeliveryRef, ports: DecisionPorts): Promise<void> {
  const store = deliveryStore(ports.table);
  const delivery = await store.get(ref.trigger_uid, ref.delivery_id);
  if (delivery === undefined || delivery.outcome !== undefined) return;
  try {
    await attempt(ref, delivery, ports);
  } catch (error) {
    // Another message of the same delivery was handled at the same time.
    if (error instanceof ConflictError && error.failed.has("delivery")) return;
    logLine("warn", "an event could not be decided on", { ...ref, error });
    await postpone(ref, delivery, error, ports);
  }
}

async function attempt(
  { trigger_uid: uid, delivery_id }: DeliveryRef,
  delivery: Delivery,
  ports: DecisionPorts,
): Promise<void> {
  const { table, files } = ports;
  const trigger = await triggerStore(table).get(uid);
  const event = trigger === undefined ? undefined : await eventStore(files).get(uid, delivery_id);
  if (trigger !== undefined && event !== undefined) return decide(delivery, trigger, event, ports);
  await fail(uid, trigger, delivery, `the ${trigger === undefined ? "trigger" : "payload"} was deleted`, ports);
}

/** Reports the failure, unless the trigger was deleted. */
async function fail(
  uid: string,
  trigger: Trigger | undefined,
  delivery: Delivery,
  detail: string,
  ports: DecisionPorts,
): Promise<void> {
  if (trigger !== undefined) return failDelivery(trigger, delivery, detail, ports);
  await deliveryStore(ports.table).decide(uid, delivery, { outcome: "failed", detail });
}

async function postpone(
  { trigger_uid }: DeliveryRef,
  delivery: Delivery,
  error: unknown,
  ports: DecisionPorts,
): Promise<void> {
  const { table, now } = ports;
  const attempts = delivery.attempts + 1;
  const detail = error instanceof RunyardError ? statusText(error.message) : "the service failed for a time";
  const nextAt = now() + Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), MAX_PAUSE_MS);
  const isLast = nextAt > delivery.received_at + RETRY_MS;
  if (!isLast) return deliveryStore(table).postpone(trigger_uid, delivery, { attempts, detail, nextAt });
  const trigger = await triggerStore(table).get(trigger_uid);
  await fail(trigger_uid, trigger, delivery, detail, ports).catch((failure: unknown) => {
    if (!(failure instanceof ConflictError)) throw failure;
  });
}

/** Requests the decisions that are due, the longest due first. Returns their number. */
export async function requestDueDecisions({ table, now, events }: DecisionPorts): Promise<number> {
  const due = await deliveryStore(table).findDue(now(), MAX_DUE);
  for (const some of splitIntoBatches(due, AT_ONCE)) await Promise.all(some.map((ref) => events.sendDelivery(ref)));
  return due.length;
}
