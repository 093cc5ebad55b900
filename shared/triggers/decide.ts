import { lastRunWrites } from "#shared/environments/environment-store.ts";
import { RunyardError } from "#shared/errors.ts";
import { uuidv7 } from "#shared/ids.ts";
import { type RateLimitToken, rateLimited } from "#shared/limits/token-bucket.ts";
import { logLine } from "#shared/log/log.ts";
import { statusText } from "#shared/records/run.ts";
import { createWithinLimits } from "#shared/runs/capacity/admit-run.ts";
import { RUN_ROOM } from "#shared/runs/capacity/slots.ts";
import { toNewRunWrites } from "#shared/runs/new-run-store.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Put } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { deliveryStore, type EventClaim, type NewDelivery, putDelivery } from "./delivery-store.ts";
import type { ReceivedEvent } from "./event.ts";
import { findReasonToIgnore, planRun } from "./plan-run.ts";
import type { Trigger } from "./trigger-store.ts";

export type DeliveryFacts = Omit<NewDelivery, "outcome">;

/** What is written together with the outcome of a delivery. */
export interface OutcomeWrites {
  /** Absent where the event has been claimed by an earlier delivery, which is delivered again. */
  readonly claim?: EventClaim;
  readonly idempotency?: Put;
}

/** What every delivery of an event says. */
export const toFacts = (event: ReceivedEvent, now: number): DeliveryFacts => ({
  delivery_id: uuidv7(now),
  received_at: now,
  event_type: event.type,
  ...(event.action === "" ? {} : { action: event.action }),
  ...(event.externalId === undefined ? {} : { external_id: event.externalId }),
});

/**
 * Writes the outcome of a delivery, together with the run that it starts. Where the run cannot be created for now, nothing is
 * written, and the error is retryable. A refusal that time does not change is the outcome, without the claim of the event: a
 * repeated delivery tries again.
 * @throws ConflictError naming `event`, `sameBody` or `idempotency`
 */
export async function decide(
  facts: DeliveryFacts,
  trigger: Trigger,
  event: ReceivedEvent,
  { claim, idempotency, rateLimitToken }: OutcomeWrites & { readonly rateLimitToken: RateLimitToken },
  ports: RunPorts,
): Promise<void> {
  const store = deliveryStore(ports.table);
  // Not an outcome of the event: once the trigger is enabled, a repeated delivery starts a run.
  if (!trigger.enabled)
    return store.add(trigger.uid, { ...facts, outcome: "ignored", reason: "paused" }, { idempotency });
  const ignored = findReasonToIgnore(trigger, event);
  if (ignored !== undefined) return store.add(trigger.uid, { ...facts, ...ignored }, { ...claim, idempotency });
  try {
    await createRun(facts, trigger, event, { claim, idempotency, rateLimitToken }, ports);
  } catch (error) {
    if (!(error instanceof RunyardError) || error.retryable) throw error;
    logLine("warn", "a trigger could not start a run", { trigger_uid: trigger.uid, error });
    await store.add(trigger.uid, { ...facts, outcome: "failed", detail: statusText(error.message) }, { idempotency });
  }
}

async function createRun(
  facts: DeliveryFacts,
  trigger: Trigger,
  event: ReceivedEvent,
  {
    claim,
    idempotency,
    rateLimitToken,
  }: {
    readonly claim: EventClaim | undefined;
    readonly idempotency: Put | undefined;
    readonly rateLimitToken: RateLimitToken;
  },
  ports: RunPorts,
): Promise<void> {
  const { uid, name } = trigger;
  const now = facts.received_at;
  const runId = uuidv7(now);
  const { owner, environment, body, missing } = await planRun(runId, trigger, event, ports);
  const delivery: NewDelivery = {
    ...facts,
    outcome: "started",
    run_id: runId,
    ...(missing.length === 0 ? {} : { missing_values: [...missing] }),
  };
  const writes = {
    ...toNewRunWrites({ runId, owner, body, now, scopes: trigger.scopes }),
    ...claim,
    idempotency,
    delivery: putDelivery(uid, delivery),
    lastRun: lastRunWrites(environment, owner, { run_id: runId, title: name, created_at: now }),
    rateLimit: rateLimitToken(now),
  };
  await createWithinLimits(writes, RUN_ROOM, ports).catch((error: unknown) => {
    throw error instanceof ConflictError && error.failedOnly("rateLimit") ? rateLimited(now) : error;
  });
  await ports.queue.sendRun(runId, owner).catch(() => undefined);
}
