import * as v from "valibot";
import { splitIntoBatches } from "#shared/arrays.ts";
import { readTeamEvents, type TeamEvent, type TeamEventRef } from "#shared/notifications/team-event-store.ts";
import { readBodies } from "#shared/records/run-body.ts";
import { parseOwner, readHeads } from "#shared/records/run-head.ts";
import { type FoundRun, matchingRuns } from "#shared/runs/listing/filters.ts";
import { toFilters } from "#shared/runs/listing/run-filter.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import { RunState } from "#shared/wire/run.ts";
import { WebhookEventType, type WebhookPayload } from "#shared/wire/webhooks/webhook.ts";
import { attemptStore, deliveryStore, type NewDelivery, type NewRunDelivery } from "./delivery-store.ts";
import { type EventRef, type RunEventRef, runEventStore, type StoredRunEvent } from "./run-event-store.ts";
import { MAX_REQUESTED } from "./webhook-messages.ts";
import type { DeliveryPlanPorts, DeliveryRef } from "./webhook-ports.ts";
import { type Webhook, webhookStore } from "./webhook-store.ts";

/** Events that one transaction adds to a webhook. */
const AT_ONCE = 40;
/** Tries of a transaction that others prevent. */
const MAX_ATTEMPTS = 10;
/** Milliseconds after which a delivery is attempted if the request for its first attempt is lost. */
const FIRST_CHECK_MS = 90_000;
/** Entries of one read of what is due, and milliseconds after which no further ones are read. */
const DUE_AT_ONCE = 1_000;
const READ_MS = 15_000;
/** Attempts that are requested at the same time. */
const REQUESTED_AT_ONCE = 20;

/**
 * Adds a delivery of each event to each webhook of its team that wants it, and of each end of a run to the run's `notify_url`,
 * once, and requests their first attempt. Webhooks get no events of personal runs.
 */
export async function planEvents(refs: readonly EventRef[], ports: DeliveryPlanPorts): Promise<void> {
  const ofRuns = refs.filter((ref) => "run_id" in ref);
  const ofTeams = refs.filter((ref) => "team_uid" in ref);
  if (ofRuns.length > 0) await planRunEvents(ofRuns, ports);
  if (ofTeams.length > 0) await planTeamEvents(ofTeams, ports);
}

async function planRunEvents(refs: readonly RunEventRef[], ports: DeliveryPlanPorts): Promise<void> {
  const { table } = ports;
  const runs = await readRuns([...new Set(refs.map(({ run_id }) => run_id))], ports);
  const notifying = runs.filter(({ run }) => run.body.notify_url !== undefined);
  const teams = [...new Set(runs.flatMap(({ team }) => team ?? []))];
  const webhooks = (await webhookStore(table).list(teams)).filter(({ enabled }) => enabled);
  if (webhooks.length === 0 && notifying.length === 0) return;
  const events = await runEventStore(table).getMany(refs);
  await planEnds(notifying, events, ports);
  for (const webhook of webhooks) {
    const deliveries = runs
      .filter(({ team, run }) => team === webhook.team_uid && isWanted(run, webhook))
      .flatMap(({ run }) => events.flatMap((event) => toDelivery(event, run, webhook, ports)));
    await addAll(webhook, deliveries, ports);
  }
}

/** Adds deliveries of events of triggers and schedules. */
async function planTeamEvents(refs: readonly TeamEventRef[], ports: DeliveryPlanPorts): Promise<void> {
  const { table } = ports;
  const events = await readTeamEvents(refs, table);
  const webhooks = await webhookStore(table).list([...new Set(events.map(({ team_uid }) => team_uid))]);
  for (const webhook of webhooks.filter(({ enabled }) => enabled)) {
    const deliveries = events
      .filter((event) => event.team_uid === webhook.team_uid && isAbout(event, webhook))
      .flatMap((event) => toTeamDelivery(event, webhook));
    await addAll(webhook, deliveries, ports);
  }
}

async function addAll(webhook: Webhook, wanted: readonly NewDelivery[], ports: DeliveryPlanPorts): Promise<void> {
  for (const some of splitIntoBatches(wanted, AT_ONCE)) {
    const planned = await addOnce(webhook, some, ports);
    if (planned.length > 0) await ports.attempts.request(planned);
  }
}

/**
 * Requests an attempt of the deliveries that are due, for each webhook apart: one whose receiver is slow or has many of them then
 * delays no other. Returns their number.
 */
export async function requestDue({ table, now, attempts }: DeliveryPlanPorts): Promise<number> {
  const began = now();
  const byWebhook = new Map<string, DeliveryRef[]>();
  let after: string | undefined;
  for (let more = true; more && now() < began + READ_MS; ) {
    const page = await attemptStore(table).findDue(began, DUE_AT_ONCE, after);
    for (const ref of page.due) {
      const refs = byWebhook.get(ref.webhook_uid);
      if (refs === undefined) byWebhook.set(ref.webhook_uid, [ref]);
      else if (refs.length < MAX_REQUESTED) refs.push(ref);
    }
    // What was due in the same millisecond as the last one may be left for the next minute.
    after = page.due.at(-1)?.check_at;
    more = page.more && after !== undefined;
  }
  const requested = [...byWebhook.values()];
  for (const some of splitIntoBatches(requested, REQUESTED_AT_ONCE)) {
    await Promise.all(some.map((refs) => attempts.request(refs)));
  }
  return requested.flat().length;
}

interface PlannedRun {
  readonly run: FoundRun;
  /** Absent for a personal run. */
  readonly team: string | undefined;
}

async function readRuns(ids: readonly string[], { table }: DeliveryPlanPorts): Promise<PlannedRun[]> {
  const heads = (await readHeads(ids, table)).filter((head) => head !== undefined);
  const bodies = await readBodies(
    heads.map(({ run_id }) => run_id),
    table,
  );
  return heads.flatMap((head, index) => {
    const body = bodies[index];
    const { type, uid } = parseOwner(head);
    return body === undefined ? [] : [{ run: { head, body }, team: type === "Team" ? uid : undefined }];
  });
}

/** The events that end a run, for the first time or again after a follow-up. */
const ENDS: readonly WebhookEventType[] = [
  "run_succeeded",
  "run_failed",
  "run_errored",
  "run_blocked",
  "run_cancelled",
];

/** Adds a delivery of each end of a run that has a `notify_url`, and requests their first attempt. */
async function planEnds(
  runs: readonly PlannedRun[],
  events: readonly StoredRunEvent[],
  ports: DeliveryPlanPorts,
): Promise<void> {
  const { table, now, attempts } = ports;
  const ends = runs.flatMap(({ run }) =>
    events.flatMap((event) => toDelivery(event, run, { uid: run.head.run_id, event_types: ENDS }, ports)),
  );
  const store = deliveryStore(table);
  const added = await Promise.all(ends.map((end) => store.addOfRun(end, now(), now() + FIRST_CHECK_MS)));
  const planned = added.filter((ref) => ref !== undefined);
  if (planned.length > 0) await attempts.request(planned);
}

const isWanted = (run: FoundRun, { filter }: Webhook): boolean =>
  filter === undefined || matchingRuns([run], { ...toFilters(filter), archived: "all" }).length === 1;

/** Whether the filter of a webhook, which is about runs, names the trigger or the schedule of an event, or there is no filter. */
function isAbout({ trigger_uid, schedule_id }: TeamEvent, { filter = {} }: Webhook): boolean {
  const origins: Readonly<Record<string, string | undefined>> = {
    trigger_id: trigger_uid,
    schedule_id,
    automation_id: trigger_uid,
  };
  return Object.entries(filter).every(([name, value]) => origins[name] === value);
}

function toTeamDelivery(event: TeamEvent, webhook: Webhook): NewDelivery[] {
  const { event_id, trigger_uid, schedule_id, title, facts } = event;
  const type = v.safeParse(WebhookEventType, event.type);
  if (!type.success || (webhook.event_types.length > 0 && !webhook.event_types.includes(type.output))) return [];
  const subject = {
    ...(trigger_uid === undefined ? {} : { trigger_uid }),
    ...(schedule_id === undefined ? {} : { schedule_id }),
  };
  const toBody = (sequence: number) => {
    const payload: WebhookPayload = {
      type: type.output,
      timestamp: toTimestamp(event.occurred_at),
      data: { webhook_uid: webhook.uid, sequence, ...subject, title, event: facts },
    };
    return JSON.stringify(payload);
  };
  return [{ event_id, ...subject, type: type.output, toBody }];
}

function toDelivery(
  event: StoredRunEvent,
  run: FoundRun,
  webhook: { readonly uid: string; readonly event_types: readonly WebhookEventType[] },
  { webUrl }: DeliveryPlanPorts,
): NewRunDelivery[] {
  const type = v.safeParse(WebhookEventType, event.type);
  if (event.run_id !== run.head.run_id || !type.success) return [];
  if (webhook.event_types.length > 0 && !webhook.event_types.includes(type.output)) return [];
  const { run_id, sequence: run_sequence } = event;
  const toBody = (sequence: number) => {
    const { title, metadata } = run.body;
    const payload: WebhookPayload = {
      type: type.output,
      timestamp: toTimestamp(event.occurred_at),
      data: {
        webhook_uid: webhook.uid,
        sequence,
        run_id,
        run_sequence,
        state: v.parse(v.fallback(RunState, run.head.state), event.data["state"]),
        title,
        ...(metadata === undefined ? {} : { metadata }),
        ...(webUrl === undefined ? {} : { session_link: `${webUrl}/runs/${run_id}` }),
        event: pickFacts(event),
      },
    };
    return JSON.stringify(payload);
  };
  return [{ run_id, run_sequence, type: type.output, toBody }];
}

/** The members of events that are facts: none of them contains what a person or the agent has written. */
const FACTS = [
  ...["artifact_uid", "artifact_type", "execution_id", "worker_host", "number", "policy", "losses"],
  ...["confirmed_by", "duration_ms", "is_error"],
];
const Fact = v.union([v.string(), v.number(), v.boolean()]);

const pickFacts = ({ data }: StoredRunEvent): WebhookPayload["data"]["event"] =>
  Object.fromEntries(
    FACTS.flatMap((name) => {
      const fact = v.safeParse(Fact, data[name]);
      return fact.success ? [[name, fact.output]] : [];
    }),
  );

/**
 * Adds the deliveries that the webhook does not have yet. Returns those to attempt now: none where it was deleted, or where its
 * receiver is slow, whose deliveries are due with the next minute.
 */
async function addOnce(
  { team_uid, uid }: Webhook,
  events: readonly NewDelivery[],
  { table, now }: DeliveryPlanPorts,
): Promise<DeliveryRef[]> {
  const store = deliveryStore(table);
  const addMissing = async () => {
    const webhook = await webhookStore(table).find([team_uid], uid);
    if (webhook === undefined) return [];
    const delivered = await store.findDelivered(uid, events);
    const missing = events.filter((_, index) => delivered[index] !== true);
    if (missing.length === 0) return [];
    const isSlow = (webhook.slow_until ?? 0) > now();
    const added = await store.append(webhook, missing, now(), now() + (isSlow ? 0 : FIRST_CHECK_MS));
    return isSlow ? [] : added;
  };
  return retryOnConflict("the deliveries of the webhook are", addMissing, { maxAttempts: MAX_ATTEMPTS });
}
