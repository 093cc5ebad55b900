import { lastRunWrites } from "#shared/environments/environment-store.ts";
import { RunyardError } from "#shared/errors.ts";
import { uuidv7 } from "#shared/ids.ts";
import { type RateLimitToken, rateLimited } from "#shared/limits/token-bucket.ts";
import { logLine } from "#shared/log/log.ts";
import { statusText } from "#shared/records/run.ts";
import { createWithinLimits } from "#shared/runs/capacity/admit-run.ts";
import { RUN_ROOM } from "#shared/runs/capacity/slots.ts";
import { toNewRunWrites } from "#shared/runs/new-run-store.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { ReceivedDelivery } from "#shared/wire/triggers/trigger.ts";
import { claimEvent, deliveryStore, type NewDelivery, putDelivery } from "./delivery-store.ts";
import { parseEvent, type ReceivedEvent, readChallenge } from "./event.ts";
import { findReasonToIgnore, planRun } from "./plan-run.ts";
import type { IngressPorts } from "./trigger-ports.ts";
import { type Trigger, triggerStore } from "./trigger-store.ts";
import { isBodyRecent, isVerified, type SignedRequest } from "./verify.ts";

/** Takes the place of the secret of a trigger that does not exist, so that both take the same time. */
const NO_SECRET = "whsec_bm8gdHJpZ2dlciBoYXMgdGhpcyBzZWNyZXQgYXQgYWxs";

/**
 * Receives a delivery: verifies it, and writes its outcome together with the run that it starts, so that an event has one outcome
 * however often it is delivered. Where the run cannot be created for now, nothing is written, and the sender is asked to repeat
 * the delivery. Resolves with the id of the delivery, or with the answer to a question of Slack, which is no event.
 */
export async function receiveDelivery(
  uid: string,
  request: SignedRequest,
  rateLimitToken: RateLimitToken,
  ports: IngressPorts,
): Promise<ReceivedDelivery> {
  const trigger = await verify(uid, request, ports);
  const event = parseEvent(trigger, request.body, request.header);
  const now = ports.now();
  if (!isBodyRecent(trigger, event.payload, now)) throw notVerified();
  const challenge = readChallenge(trigger, event);
  if (challenge !== undefined) return { challenge };
  const facts = {
    delivery_id: uuidv7(now),
    received_at: now,
    event_type: event.type,
    ...(event.action === "" ? {} : { action: event.action }),
    ...(event.externalId === undefined ? {} : { external_id: event.externalId }),
  };
  const store = deliveryStore(ports.table);
  const first = await store.findFirst(uid, event.digests);
  if (first !== undefined) {
    await store.add(uid, { ...facts, outcome: "duplicate", of: first });
  } else if (!trigger.enabled) {
    // Not an outcome of the event: once the trigger is enabled, a repeated delivery starts a run.
    await store.add(uid, { ...facts, outcome: "ignored", reason: "paused" });
  } else {
    const ignored = findReasonToIgnore(trigger, event);
    if (ignored === undefined) await start(facts, trigger, event, rateLimitToken, ports);
    else if (!(await store.addFirst(uid, event.digests, { ...facts, ...ignored }))) {
      await addDuplicate(uid, event, facts, store);
    }
  }
  return { delivery_id: facts.delivery_id };
}

async function verify(uid: string, request: SignedRequest, ports: IngressPorts): Promise<Trigger> {
  const trigger = await triggerStore(ports.table).get(uid);
  const now = ports.now();
  const { team_uid = uid } = trigger ?? {};
  const choice = trigger ?? { kind: "webhook" as const };
  const [id = uid, previous] = trigger === undefined ? [] : listValidSecrets(trigger, now);
  const secrets = await ports.webhookSecrets.getAll(team_uid, previous === undefined ? [id] : [id, previous]);
  // Two comparisons, whether the trigger has a second secret or not.
  const matches = [id, previous ?? ""].map((one) => {
    const secret = secrets.get(one);
    const isGenuine = isVerified(choice, secret ?? NO_SECRET, request, now);
    return secret !== undefined && isGenuine;
  });
  if (trigger !== undefined && matches.includes(true)) return trigger;
  throw notVerified();
}

const notVerified = (): RunyardError =>
  new RunyardError("authentication_required", {
    detail: "the request has no valid signature for this trigger",
    headers: { "www-authenticate": "Bearer" },
  });

const listValidSecrets = ({ secret_id, previous_secret: previous }: Trigger, now: number): string[] =>
  previous === undefined || previous.expires_at <= now ? [secret_id] : [secret_id, previous.id];

type Facts = Omit<NewDelivery, "outcome">;

async function addDuplicate(
  uid: string,
  { digests }: ReceivedEvent,
  facts: Facts,
  store: ReturnType<typeof deliveryStore>,
): Promise<void> {
  const of = await store.findFirst(uid, digests);
  await store.add(uid, { ...facts, outcome: "duplicate", ...(of === undefined ? {} : { of }) });
}

/** Starts the run of an event. A refusal that time does not change is the delivery's outcome; a repeated delivery tries again. */
async function start(
  facts: Facts,
  trigger: Trigger,
  event: ReceivedEvent,
  rateLimitToken: RateLimitToken,
  ports: IngressPorts,
): Promise<void> {
  const store = deliveryStore(ports.table);
  try {
    await createRun(facts, trigger, event, rateLimitToken, ports);
  } catch (error) {
    if (error instanceof ConflictError && (error.failed.has("event") || error.failed.has("sameBody"))) {
      return addDuplicate(trigger.uid, event, facts, store);
    }
    if (!(error instanceof RunyardError) || error.retryable) throw error;
    logLine("warn", "a trigger could not start a run", { trigger_uid: trigger.uid, error });
    await store.add(trigger.uid, { ...facts, outcome: "failed", detail: statusText(error.message) });
  }
}

async function createRun(
  facts: Facts,
  trigger: Trigger,
  event: ReceivedEvent,
  rateLimitToken: RateLimitToken,
  ports: IngressPorts,
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
    ...claimEvent(uid, event.digests, delivery.delivery_id, now),
    delivery: putDelivery(uid, delivery),
    lastRun: lastRunWrites(environment, owner, { run_id: runId, title: name, created_at: now }),
    rateLimit: rateLimitToken(now),
  };
  await createWithinLimits(writes, RUN_ROOM, ports).catch((error: unknown) => {
    throw error instanceof ConflictError && error.failedOnly("rateLimit") ? rateLimited(now) : error;
  });
  await ports.queue.sendRun(runId, owner).catch(() => undefined);
}
