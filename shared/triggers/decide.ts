import { submitEventFollowup } from "#shared/conversations/followups.ts";
import { lastRunWrites } from "#shared/environments/environment-store.ts";
import { RunyardError, retryableConflict } from "#shared/errors.ts";
import { uuidv7 } from "#shared/ids.ts";
import { type RateLimitToken, rateLimited } from "#shared/limits/token-bucket.ts";
import { logLine } from "#shared/log/log.ts";
import { toFollowupId } from "#shared/records/followup.ts";
import { isTerminal, statusText } from "#shared/records/run.ts";
import { createWithinLimits } from "#shared/runs/capacity/admit-run.ts";
import { RUN_ROOM } from "#shared/runs/capacity/slots.ts";
import { toNewRunWrites } from "#shared/runs/new-run-store.ts";
import type { FoundRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Put } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { UserProfile } from "#shared/wire/run.ts";
import { deliveryStore, type EventClaim, type NewDelivery, putDelivery } from "./delivery-store.ts";
import type { ReceivedEvent } from "./event.ts";
import { selectEvent } from "./filter.ts";
import { planRun, requireMember } from "./plan-run.ts";
import { renderPrompt } from "./template.ts";
import { readThread, type Thread } from "./thread-store.ts";
import type { Trigger } from "./trigger-store.ts";

const MAX_ATTEMPTS = 5;
const DEFAULT_FOLLOWUP = "{{ event.text }}";
/** The follow-up of an event for which the template is empty, such as one that closes an issue. */
const WITHOUT_TEXT = "An event without a text: {{ event.type }} {{ event.action }}";

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
 * Writes the outcome of a delivery, together with the run or the follow-up that it results in. Where the run cannot be created for now, nothing is
 * written, and the error is retryable. A refusal that time does not change is the outcome, without the claim of the event: a
 * repeated delivery tries again.
 * @throws ConflictError naming `event`, `sameBody` or `idempotency`
 */
export async function decide(
  facts: DeliveryFacts,
  trigger: Trigger,
  received: ReceivedEvent,
  { claim, idempotency, rateLimitToken }: OutcomeWrites & { readonly rateLimitToken: RateLimitToken },
  ports: RunPorts,
): Promise<void> {
  const store = deliveryStore(ports.table);
  // Not an outcome of the event: once the trigger is enabled, a repeated delivery starts a run.
  if (!trigger.enabled)
    return store.add(trigger.uid, { ...facts, outcome: "ignored", reason: "paused" }, { idempotency });
  const { event, ignored } = await selectEvent(trigger, received);
  if (ignored !== undefined) return store.add(trigger.uid, { ...facts, ...ignored }, { ...claim, idempotency });
  try {
    await act(facts, trigger, event, { claim, idempotency, rateLimitToken }, ports);
  } catch (error) {
    if (!(error instanceof RunyardError) || error.retryable) throw error;
    logLine("warn", "a trigger could not start a run", { trigger_uid: trigger.uid, error });
    await store.add(trigger.uid, { ...facts, outcome: "failed", detail: statusText(error.message) }, { idempotency });
  }
}

const toSender = ({ type, uid, display_name }: UserProfile): UserProfile => ({
  type,
  uid,
  ...(display_name === undefined ? {} : { display_name }),
});

interface ActionWrites {
  readonly claim: EventClaim | undefined;
  readonly idempotency: Put | undefined;
  readonly rateLimitToken: RateLimitToken;
}

/** Starts a run, or sends a follow-up to the run of the event's thread. Of first events that come together, one starts a run. */
async function act(
  facts: DeliveryFacts,
  trigger: Trigger,
  event: ReceivedEvent,
  writes: ActionWrites,
  ports: RunPorts,
): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const thread = await readThread(trigger, event, ports);
    try {
      if (thread?.run === undefined) await createRun(facts, trigger, event, { ...writes, thread }, ports);
      else await followUp(facts, trigger, event, { ...writes, run: thread.run }, ports);
      return;
    } catch (error) {
      const isOther = error instanceof ConflictError && error.failedOnly("thread");
      // Another run of the conversation was started, or this one was deleted, since it was read.
      const isChanged = error instanceof RunyardError && ["conflict", "resource_not_found"].includes(error.code);
      const isContinued = isChanged && thread?.run !== undefined;
      if (!isOther && !isContinued) throw error;
    }
  }
  throw retryableConflict("other events of the same thread are processed; send the event again");
}

async function followUp(
  facts: DeliveryFacts,
  trigger: Trigger,
  event: ReceivedEvent,
  { claim, idempotency, rateLimitToken, run }: ActionWrites & { readonly run: FoundRun },
  ports: RunPorts,
): Promise<void> {
  const { uid, team_uid, busy, created_by, followup_prompt = DEFAULT_FOLLOWUP } = trigger;
  await requireMember(team_uid, created_by.uid, ports.table);
  if (busy === "skip" && !isTerminal(run.head.state)) {
    const ignored = { ...facts, outcome: "ignored", reason: "busy", run_id: run.head.run_id } as const;
    return deliveryStore(ports.table).add(uid, ignored, { ...claim, idempotency });
  }
  const { prompt, missing } = renderPrompt(followup_prompt, event);
  const isEmpty = prompt.trim() === "";
  await submitEventFollowup(
    run,
    {
      message: isEmpty ? renderPrompt(WITHOUT_TEXT, event).prompt : prompt,
      policy: busy === "interrupt" ? "interrupt" : "enqueue",
      sender: toSender(created_by),
      rateLimitToken,
      toWrites: ({ runId, number }) => ({
        ...claim,
        idempotency,
        delivery: putDelivery(uid, {
          ...facts,
          outcome: "followed_up",
          run_id: runId,
          followup_id: toFollowupId(number),
          ...(missing.length === 0 || isEmpty ? {} : { missing_values: [...missing] }),
        }),
      }),
    },
    ports,
  );
}

async function createRun(
  facts: DeliveryFacts,
  trigger: Trigger,
  event: ReceivedEvent,
  { claim, idempotency, rateLimitToken, thread }: ActionWrites & { readonly thread: Thread | undefined },
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
    thread: thread?.putRun(runId, now),
    delivery: putDelivery(uid, delivery),
    lastRun: lastRunWrites(environment, owner, { run_id: runId, title: name, created_at: now }),
    rateLimit: rateLimitToken(now),
  };
  await createWithinLimits(writes, RUN_ROOM, ports).catch((error: unknown) => {
    throw error instanceof ConflictError && error.failedOnly("rateLimit") ? rateLimited(now) : error;
  });
  await ports.queue.sendRun(runId, owner).catch(() => undefined);
}
