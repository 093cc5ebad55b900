import { submitEventFollowup } from "#shared/conversations/followups.ts";
import { lastRunWrites } from "#shared/environments/environment-store.ts";
import { RunyardError } from "#shared/errors.ts";
import { uuidv7 } from "#shared/ids.ts";
import { logLine } from "#shared/log/log.ts";
import { toFollowupId } from "#shared/records/followup.ts";
import { isTerminal, statusText } from "#shared/records/run.ts";
import { isLocal } from "#shared/records/run-head.ts";
import { createWithinLimits } from "#shared/runs/capacity/admit-run.ts";
import { RUN_ROOM } from "#shared/runs/capacity/slots.ts";
import { continueConversation } from "#shared/runs/conversation-store.ts";
import { toNewRunWrites } from "#shared/runs/new-run-store.ts";
import type { FoundRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { readEndedTail } from "#shared/runs/run-tree.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import { ConflictError, type NamedWrites } from "#shared/table/transact.ts";
import type { UserProfile } from "#shared/wire/run.ts";
import { type AccessPorts, findAccessRefusal } from "./access.ts";
import { type Delivery, type DeliveryOutcome, deliveryStore, type NewDelivery, putOutcome } from "./delivery-store.ts";
import type { ReceivedEvent } from "./event.ts";
import { storeEventFile } from "./event-file.ts";
import { selectEvent } from "./filter.ts";
import { planRun, requireMember } from "./plan-run.ts";
import { decidePress } from "./presses/decide-press.ts";
import { findPullHead } from "./pulls/find-pull-head.ts";
import { notePullStatus } from "./pulls/note-status.ts";
import { findOpenedRun, type OpenedRun } from "./pulls/opened-run.ts";
import { react, toReply } from "./replies/new-reply.ts";
import { findSource } from "./sources/find-source.ts";
import type { Press } from "./sources/source.ts";
import { DEFAULT_FOLLOWUP, renderPrompt } from "./template.ts";
import { countEvent } from "./threads/event-rates.ts";
import { addThreadMessages } from "./threads/thread-messages.ts";
import { readThread, type Thread } from "./threads/thread-store.ts";
import { putTriggerFailed } from "./trigger-failed.ts";
import type { DecisionPorts } from "./trigger-ports.ts";
import { putTriggerRun } from "./trigger-run-store.ts";
import type { Trigger } from "./trigger-store.ts";

type DecidePorts = RunPorts & AccessPorts & Pick<DecisionPorts, "rates">;

/** The follow-up of an event for which the template is empty, such as one that closes an issue. */
const WITHOUT_TEXT = "An event without a text: {{ event.type }} {{ event.action }}";

/** What every delivery of an event says. */
export const toFacts = (event: ReceivedEvent, now: number): NewDelivery => ({
  delivery_id: uuidv7(now),
  received_at: now,
  event_type: event.type,
  ...(event.action === "" ? {} : { action: event.action }),
  ...(event.externalId === undefined ? {} : { external_id: event.externalId }),
});

/**
 * Writes the outcome of a delivery, together with the run or the follow-up that it results in. Where the run cannot be created for now, nothing is
 * written, and the error is retryable. A refusal that time does not change is the outcome.
 * @throws ConflictError naming `delivery` if it has an outcome
 */
export async function decide(
  delivery: Delivery,
  trigger: Trigger,
  received: ReceivedEvent,
  ports: DecidePorts,
): Promise<void> {
  const store = deliveryStore(ports.table);
  await notePullStatus(trigger, received, ports.table);
  if (!trigger.enabled) return store.decide(trigger.uid, delivery, { outcome: "ignored", reason: "paused" });
  const press = findSource(trigger).toPress?.(received);
  try {
    if (press === undefined) await decideEvent(delivery, trigger, received, ports);
    else await pressButton(delivery, trigger, received, press, ports);
  } catch (error) {
    if (!(error instanceof RunyardError) || error.retryable) throw error;
    logLine("warn", "a trigger could not start a run", { trigger_uid: trigger.uid, error });
    await failDelivery(trigger, delivery, statusText(error.message), ports);
  }
}

async function decideEvent(
  delivery: Delivery,
  trigger: Trigger,
  received: ReceivedEvent,
  ports: DecidePorts,
): Promise<void> {
  const selected = await selectEvent(trigger, received);
  const { event } = selected;
  // The system is asked last, since most events of a repository do not meet the filter.
  const ignored = selected.ignored ?? (await findAccessRefusal(trigger, event, ports));
  if (ignored !== undefined) return deliveryStore(ports.table).decide(trigger.uid, delivery, ignored);
  if (await act(delivery, trigger, event, ports)) await react(trigger, event, ports);
}

async function pressButton(
  delivery: Delivery,
  trigger: Trigger,
  event: ReceivedEvent,
  press: Press,
  ports: DecidePorts,
): Promise<void> {
  const answer = async (run: FoundRun): Promise<void> => void (await followUp(delivery, trigger, event, run, ports));
  const attempt = () => decidePress(delivery, trigger, event, press, answer, ports);
  await retryOnConflict("the run of the button is", attempt, { isConflict: isRunChanged });
}

/** Whether another run of the conversation was started, or this one was deleted, since it was read. */
const isRunChanged = (error: unknown): boolean =>
  error instanceof RunyardError && ["conflict", "resource_not_found"].includes(error.code);

/**
 * Records that no run could be created for an event, together with the event that webhooks of the team deliver.
 * @throws ConflictError naming `delivery` if it has an outcome
 */
export function failDelivery(
  { uid, owner, name }: Trigger,
  delivery: Delivery,
  detail: string,
  { table, now }: Pick<RunPorts, "table" | "now">,
): Promise<void> {
  const { delivery_id, event_type, action } = delivery;
  const facts = { delivery_id, event_type, ...(action === undefined ? {} : { action }), reason: detail };
  const event = { event_id: `${uid}.${delivery_id}`, trigger_uid: uid, title: name, facts };
  const teamEvent = putTriggerFailed(owner, event, now());
  return deliveryStore(table).decide(uid, delivery, { outcome: "failed", detail }, { teamEvent });
}

const toSender = ({ type, uid, display_name }: UserProfile): UserProfile => ({
  type,
  uid,
  ...(display_name === undefined ? {} : { display_name }),
});

/**
 * Starts a run, or sends a follow-up to the run of the event's thread. Of first events that come together, one starts a run. Returns
 * false for an event that does neither, since the run is active.
 */
async function act(delivery: Delivery, trigger: Trigger, event: ReceivedEvent, ports: DecidePorts): Promise<boolean> {
  let continued: FoundRun | undefined;
  const attempt = async (): Promise<boolean> => {
    const thread = await readThread(trigger, event, ports);
    const opened =
      thread !== undefined && thread.run === undefined ? await findOpenedRun(trigger, event, ports) : undefined;
    const run = thread?.run ?? opened?.run;
    continued = run;
    // The caller who has executed a run does not learn of follow-ups after its end.
    if (run === undefined || isEndedLocalRun(run)) {
      await createRun(delivery, trigger, event, { thread, continued: run }, ports);
      return true;
    }
    const writes = opened === undefined ? {} : joinThread(thread, opened, trigger, event, ports);
    return await followUp(delivery, trigger, event, run, ports, writes);
  };
  const isConflict = (error: unknown): boolean => {
    if (error instanceof ConflictError) return error.failedOnly("thread");
    return isRunChanged(error) && continued !== undefined;
  };
  return retryOnConflict("the thread of the event is", attempt, { isConflict });
}

const isEndedLocalRun = ({ head }: FoundRun): boolean => isLocal(head) && isTerminal(head.state);

/** The writes by which the thread of a pull request is that of the run which has opened it, and the run replies there. */
function joinThread(
  thread: Thread | undefined,
  { run, branch }: OpenedRun,
  trigger: Trigger,
  event: ReceivedEvent,
  { now: clock }: DecidePorts,
): NamedWrites {
  const now = clock();
  return {
    thread: thread?.putRun(run.body.conversation_id, now),
    branch,
    reply: toReply(run.head.run_id, trigger, event, now),
  };
}

async function followUp(
  delivery: Delivery,
  trigger: Trigger,
  event: ReceivedEvent,
  run: FoundRun,
  ports: DecidePorts,
  writes: NamedWrites = {},
): Promise<boolean> {
  const { uid, owner, busy, created_by, followup_prompt = DEFAULT_FOLLOWUP } = trigger;
  await requireMember(owner, created_by.uid, ports.table);
  if (busy === "skip" && !isTerminal(run.head.state)) {
    const ignored = { outcome: "ignored", reason: "busy", run_id: run.head.run_id } as const;
    await deliveryStore(ports.table).decide(uid, delivery, ignored);
    return false;
  }
  const { run_id } = run.head;
  const file = await storeEventFile(run_id, delivery.delivery_id, `event-${delivery.delivery_id}.json`, event, ports);
  const { prompt, missing } = renderPrompt(followup_prompt, event);
  const isEmpty = prompt.trim() === "";
  const rates = countEvent(trigger, event, ports.rates, ports.now());
  await submitEventFollowup(
    run,
    {
      message: isEmpty ? renderPrompt(WITHOUT_TEXT, event).prompt : prompt,
      policy: busy === "interrupt" ? "interrupt" : "enqueue",
      attachments: [file],
      sender: toSender(created_by),
      toWrites: ({ runId, number }) => ({
        ...writes,
        ...rates.writes,
        delivery: putOutcome(uid, delivery, {
          outcome: "followed_up",
          run_id: runId,
          followup_id: toFollowupId(number),
          ...(missing.length === 0 || isEmpty ? {} : { missing_values: [...missing] }),
        }),
      }),
    },
    ports,
  ).catch((error: unknown) => {
    throw rates.toError(error);
  });
  return true;
}

async function createRun(
  delivery: Delivery,
  trigger: Trigger,
  event: ReceivedEvent,
  { thread, continued }: { readonly thread: Thread | undefined; readonly continued: FoundRun | undefined },
  ports: DecidePorts,
): Promise<void> {
  const { uid, name } = trigger;
  const now = ports.now();
  const runId = uuidv7(now);
  const conversation = continued && (await readEndedTail(continued.body.conversation_id, ports.table));
  const head = await findPullHead(trigger, event, ports);
  const { owner, environment, part, body: planned, missing } = await planRun(runId, trigger, event, head, ports);
  const file = await storeEventFile(runId, delivery.delivery_id, "event.json", event, ports);
  const prompt = await addThreadMessages(planned.prompt, trigger, event, ports);
  const conversation_id = conversation?.conversationId ?? runId;
  const body = { ...planned, prompt, conversation_id, attachments: [file] };
  const rates = countEvent(trigger, event, ports.rates, now);
  const outcome: DeliveryOutcome = {
    outcome: "started",
    run_id: runId,
    ...(missing.length === 0 ? {} : { missing_values: [...missing] }),
  };
  const writes = {
    ...toNewRunWrites({ runId, owner, body, now, scopes: trigger.scopes, part }),
    thread: thread?.putRun(conversation_id, now),
    conversation: conversation && continueConversation(conversation, runId),
    triggerRun: putTriggerRun(uid, runId, now),
    reply: toReply(runId, trigger, event, now),
    delivery: putOutcome(uid, delivery, outcome),
    lastRun: lastRunWrites(environment, owner, { run_id: runId, title: name, created_at: now }),
    ...rates.writes,
  };
  await createWithinLimits(writes, RUN_ROOM, ports).catch((error: unknown) => {
    throw rates.toError(error);
  });
  await ports.queue.sendRun(runId, owner).catch(() => undefined);
}
