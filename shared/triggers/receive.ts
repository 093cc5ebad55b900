import { RunyardError } from "#shared/errors.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { ReceivedDelivery } from "#shared/wire/triggers/delivery.ts";
import { toFacts } from "./decide.ts";
import { deliveryStore, type NewDelivery } from "./delivery-store.ts";
import { parseEvent, type ReceivedEvent, readChallenge } from "./event.ts";
import { requestDecision } from "./request-decision.ts";
import type { IngressPorts, RequestPorts } from "./trigger-ports.ts";
import { type Trigger, triggerStore } from "./trigger-store.ts";
import { isBodyRecent, isVerified, type SignedRequest } from "./verify.ts";

/** Takes the place of the secret of a trigger that does not exist, so that both take the same time. */
export const NO_SECRET = "whsec_bm8gdHJpZ2dlciBoYXMgdGhpcyBzZWNyZXQgYXQgYWxs";

/**
 * Receives a delivery: verifies it, stores it, and requests the decision on it. An event is decided on once, however often it is
 * delivered. Resolves with the id of the delivery, or with the answer to a question of Slack, which is no event.
 */
export async function receiveDelivery(
  uid: string,
  request: SignedRequest,
  ports: IngressPorts,
): Promise<ReceivedDelivery> {
  const trigger = await verify(uid, request, ports);
  const event = parseEvent(trigger, request.body, request.header);
  const now = ports.now();
  if (!isBodyRecent(trigger, event.payload, now)) throw notVerified();
  const challenge = readChallenge(trigger, event);
  if (challenge !== undefined) return { challenge };
  const facts = toFacts(event, now);
  await storeDelivery(uid, facts, event, ports);
  return { delivery_id: facts.delivery_id };
}

/** Stores a delivery to a trigger, and requests the decision on it, unless it repeats an earlier one. */
export async function storeDelivery(
  uid: string,
  facts: NewDelivery,
  event: ReceivedEvent,
  ports: RequestPorts,
): Promise<void> {
  const store = deliveryStore(ports.table);
  await retryOnConflict("the event is", async () => {
    const found = await store.claim(uid, event.digests, facts);
    // Of this request, whose response was lost.
    if ("of" in found && found.of === facts.delivery_id) return;
    if ("of" in found) return store.add(uid, facts, { outcome: "duplicate", of: found.of });
    return requestDecision(uid, facts, event, { ...found.claim }, ports);
  });
}

async function verify(uid: string, request: SignedRequest, ports: IngressPorts): Promise<Trigger> {
  const trigger = await triggerStore(ports.table).get(uid);
  const now = ports.now();
  const { uid: scope = uid } = trigger?.owner ?? {};
  const choice = trigger ?? { kind: "webhook" as const };
  const [id = uid, previous] = trigger === undefined ? [] : listValidSecrets(trigger, now);
  const secrets = await ports.webhookSecrets.getAll(scope, previous === undefined ? [id] : [id, previous]);
  // Two comparisons, whether the trigger has a second secret or not.
  const matches = [id, previous ?? ""].map((one) => {
    const secret = secrets.get(one);
    const isGenuine = isVerified(choice, secret ?? NO_SECRET, request, now);
    return secret !== undefined && isGenuine;
  });
  if (trigger !== undefined && matches.includes(true)) return trigger;
  throw notVerified();
}

export const notVerified = (): RunyardError =>
  new RunyardError("authentication_required", {
    detail: "the request has no valid signature for this trigger",
    headers: { "www-authenticate": "Bearer" },
  });

const listValidSecrets = ({ secret_id, previous_secret: previous }: Trigger, now: number): string[] =>
  previous === undefined || previous.expires_at <= now ? [secret_id] : [secret_id, previous.id];
