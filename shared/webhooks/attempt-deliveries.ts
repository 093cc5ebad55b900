import { splitIntoBatches } from "#shared/arrays.ts";
import { logLine } from "#shared/log/log.ts";
import { ConditionFailed } from "#shared/table/table.ts";
import type { Attempt, Delivery } from "./delivery-store.ts";
import { attemptStore, formatId } from "./delivery-store.ts";
import { type Receiver, readReceivers } from "./receivers.ts";
import type { AttemptRequest, AttemptResult } from "./send-webhooks.ts";
import { toSlackMessage } from "./slack-message.ts";
import type { AttemptPorts, DeliveryRef } from "./webhook-ports.ts";
import { markSlow, type Webhook, webhookStore } from "./webhook-store.ts";

/** Seconds between an attempt and the next one: ten attempts within 24 hours. */
export const BACK_OFF_SECONDS = [60, 300, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 36_000];
/** The share by which waits are shortened at random, so that the deliveries of an outage do not all come back at once. */
const JITTER = 0.1;
/** Milliseconds for the result of an attempt; after that it counts as lost and is made again. */
const CLAIM_MS = 90_000;
/** Deliveries that are attempted together, and milliseconds after which no further ones are begun. */
const AT_ONCE = 50;
const BEGIN_MS = 30_000;
/**
 * Milliseconds from which a receiver counts as slow, and for which it then does. Its new deliveries wait for the next minute, in which
 * they are attempted together, so that many events cannot take up the whole service with waiting for one receiver.
 */
const SLOW_MS = 2_000;
const SLOW_FOR_MS = 300_000;
/** Attempts that are kept of one delivery. */
const KEPT_ATTEMPTS = 20;
/** The receiver is gone and wants no further deliveries. */
const GONE = 410;

/** When a delivery is attempted again after `tries` attempts, in milliseconds; undefined after the last one. */
export function nextAttemptAt(tries: number, now: number, random: number = Math.random()): number | undefined {
  const seconds = BACK_OFF_SECONDS[tries - 1];
  return seconds === undefined ? undefined : now + Math.round(seconds * 1000 * (1 - JITTER * random));
}

/**
 * Attempts deliveries that are pending, unless another attempt has them, for at most half a minute: the others are due a minute later
 * as they were. Returns the number of those attempted.
 */
export async function attempt(refs: readonly DeliveryRef[], ports: AttemptPorts): Promise<number> {
  const deadline = ports.now() + BEGIN_MS;
  let count = 0;
  for (const some of splitIntoBatches(refs, AT_ONCE)) {
    if (ports.now() < deadline) count += await attemptTogether(some, ports);
  }
  return count;
}

async function attemptTogether(refs: readonly DeliveryRef[], ports: AttemptPorts): Promise<number> {
  const { table, now, sender } = ports;
  const store = attemptStore(table);
  const until = now() + CLAIM_MS;
  const read = await store.getMany(refs);
  const claimed = (await Promise.all(read.map((delivery) => store.claim(delivery, until)))).filter(
    (delivery) => delivery !== undefined,
  );
  const find = await readReceivers(claimed, ports);
  const sendable: { delivery: Delivery; receiver: Receiver; request: AttemptRequest }[] = [];
  for (const delivery of claimed) {
    const receiver = find(delivery);
    if (typeof receiver === "string") await giveUp(delivery, receiver, ports);
    else sendable.push({ delivery, receiver, request: toRequest(delivery, receiver) });
  }
  if (sendable.length === 0) return 0;
  const results = new Map((await sender.send(sendable.map(({ request }) => request))).map((one) => [one.id, one]));
  await Promise.all(
    sendable.map(async ({ delivery, receiver, request }) => {
      const result = results.get(request.id);
      if (result !== undefined) await recordResult(delivery, result, receiver.webhook, ports);
    }),
  );
  const slow = sendable.filter(({ request }) => (results.get(request.id)?.duration_ms ?? 0) >= SLOW_MS);
  await Promise.all(
    [...new Set(slow.map(({ receiver }) => receiver.webhook))].map(async (webhook) => {
      if (webhook !== undefined) await markSlow(webhook, now() + SLOW_FOR_MS, table);
    }),
  );
  return sendable.length;
}

/** The id is the same for all attempts, so that a receiver can ignore what it has received before. */
const toRequest = (delivery: Delivery, { url, signing, webhook }: Receiver): AttemptRequest => ({
  id: formatId(delivery),
  url,
  body: webhook?.format === "slack" ? toSlackMessage(delivery.body) : delivery.body,
  ...signing,
});

async function recordResult(
  delivery: Delivery,
  { id: _, ...attempted }: AttemptResult,
  webhook: Webhook | undefined,
  ports: AttemptPorts,
): Promise<void> {
  const store = attemptStore(ports.table);
  const tries = delivery.tries + 1;
  const attempts = addAttempt(delivery, attempted);
  const status = attempted.status_code ?? 0;
  if (status >= 200 && status < 300) return store.record(delivery, { state: "delivered", tries, attempts });
  if (status === GONE && webhook !== undefined) await disable(webhook, ports);
  const next = status === GONE ? undefined : nextAttemptAt(tries, ports.now());
  await store.record(delivery, { state: next === undefined ? "failed" : "pending", tries, attempts }, next);
}

const addAttempt = ({ attempts }: Delivery, attempted: Attempt): Attempt[] =>
  [...attempts, attempted].slice(-KEPT_ATTEMPTS);

async function giveUp(delivery: Delivery, error: string, { table, now }: AttemptPorts): Promise<void> {
  const attempts = addAttempt(delivery, { at: now(), duration_ms: 0, error });
  await attemptStore(table).record(delivery, { state: "failed", tries: delivery.tries, attempts });
}

async function disable(webhook: Webhook, { table, now }: AttemptPorts): Promise<void> {
  try {
    await webhookStore(table).update(webhook, {
      ...webhook,
      enabled: false,
      updated_at: Math.max(now(), webhook.updated_at + 1),
    });
    logLine("info", "webhook disabled", { webhook_uid: webhook.uid, reason: "its receiver responded 410" });
  } catch (error) {
    // It was changed meanwhile: the next delivery to a receiver that is gone disables it.
    if (!(error instanceof ConditionFailed)) throw error;
  }
}
