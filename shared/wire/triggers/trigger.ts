import * as v from "valibot";
import { ResolvedAgentConfig } from "../config.ts";
import { Scope, Scopes } from "../keys/scope.ts";
import { FailureLimitChange } from "../limits/failure-limit.ts";
import { PageInfo } from "../list.ts";
import { MAX_METADATA, Metadata } from "../metadata.ts";
import { Count, Id, Name, textOfBytes } from "../primitives.ts";
import { RunMode, UserProfile } from "../run.ts";
import { RecentRun } from "../schedule.ts";
import { SecretName } from "../secrets/secret-name.ts";

/** The systems whose events a trigger takes. `webhook` stands for every system that signs its requests or sends a token. */
const TriggerKind = v.picklist(["github", "gitlab", "slack", "webhook"]);
export type TriggerKind = v.InferOutput<typeof TriggerKind>;

/** Systems whose verification and prompt a trigger of the kind `webhook` need not spell out. */
const TriggerPreset = v.picklist(["linear", "jira", "sentry", "pagerduty"]);
export type TriggerPreset = v.InferOutput<typeof TriggerPreset>;

const Login = textOfBytes(256, 1);

/** Who may start runs besides people with write access. */
export const TriggerAuthors = v.object({
  /** Names of accounts of bots and applications. */
  bots: v.exactOptional(v.pipe(v.array(Login), v.maxLength(50))),
  /** Whether every person may, whatever their rights. */
  anyone: v.exactOptional(v.boolean()),
});
export type TriggerAuthors = v.InferOutput<typeof TriggerAuthors>;

const HeaderName = v.pipe(
  textOfBytes(128, 1),
  v.regex(/^[A-Za-z0-9-]+$/, "must be the name of a header"),
  v.check((name) => !/^(authorization|cookie|host|content-.*)$/i.test(name), "must be a header of its own"),
);

/** How the requests of the other system prove who sent them. */
export const TriggerVerification = v.object({
  /** `standard` are Standard Webhooks, `hmac` is an HMAC-SHA256 of the body, `bearer` is the secret itself. */
  scheme: v.picklist(["standard", "hmac", "bearer"]),
  /** The header with the signature. Required by `hmac`. */
  header: v.exactOptional(HeaderName),
  /** What precedes the signature in its header, such as `sha256=`. */
  prefix: v.exactOptional(textOfBytes(32)),
  encoding: v.exactOptional(v.picklist(["hex", "base64"])),
  /** The header with the time, in seconds, that is signed together with the body. */
  timestamp_header: v.exactOptional(HeaderName),
});
export type TriggerVerification = v.InferOutput<typeof TriggerVerification>;

const TriggerSecret = textOfBytes(512, 16);
const TriggerPrompt = textOfBytes(8192, 1);
const TriggerEvents = v.pipe(v.array(textOfBytes(128, 1)), v.maxLength(50));
const TriggerMetadata = v.pipe(
  Metadata,
  v.check((metadata) => Object.keys(metadata).length <= MAX_METADATA - 2, `must have at most ${MAX_METADATA - 2} keys`),
);

/** An expression of the Common Expression Language over `event`. */
const TriggerExpression = textOfBytes(2048);

/** `continue`: later events of an issue, a pull request, a ticket or a conversation are follow-ups of the first one's run. */
const TriggerThreads = v.picklist(["continue", "separate"]);
/** What an event does whose thread has an active run. */
const BusyPolicy = v.picklist(["enqueue", "interrupt", "skip"]);

const optionalMembers = {
  /** The types of events that start runs. All by default. */
  events: v.exactOptional(TriggerEvents),
  /** The identity that executes the runs. Its defaults configure them. */
  agent_uid: v.exactOptional(Id),
  /** A condition, such as `event.payload.severity == "high"`: other events are ignored. `""` is none. */
  filter: v.exactOptional(TriggerExpression),
  /** Yields the thread of an event of the kind `webhook`, such as `event.payload.ticket`; `""` is none. */
  thread_key: v.exactOptional(TriggerExpression),
  mode: v.exactOptional(RunMode),
  /** The template of the follow-ups. `{{ event.text }}` by default. */
  followup_prompt: v.exactOptional(TriggerPrompt),
  threads: v.exactOptional(TriggerThreads),
  busy: v.exactOptional(BusyPolicy),
  allow: v.exactOptional(TriggerAuthors),
  /**
   * The name of a secret of the team with a token of the other system, of the kinds `github`, `gitlab` and `slack`: people with
   * write access may start runs then. `""` is none.
   */
  credential: v.exactOptional(v.union([SecretName, v.literal("")])),
  metadata: v.exactOptional(TriggerMetadata),
  /** The number of runs that fail in a row after which the trigger pauses itself; 0 for none. */
  pause_after_failures: v.exactOptional(FailureLimitChange),
  enabled: v.exactOptional(v.boolean()),
};

/** A new trigger. */
export const CreateTriggerRequest = v.object({
  name: Name,
  kind: TriggerKind,
  /** Fills verification and prompt of a trigger of the kind `webhook`. */
  preset: v.exactOptional(TriggerPreset),
  /** The template of the prompts, with values such as `{{ event.payload.title }}`. Required without a preset. */
  prompt: v.exactOptional(TriggerPrompt),
  verification: v.exactOptional(TriggerVerification),
  /** What its runs may use their keys for. By default all scopes of the request's credential, which has to have each of them. */
  scopes: v.exactOptional(Scopes),
  /** The secret, where the other system makes it. Otherwise it is generated. */
  secret: v.exactOptional(TriggerSecret),
  ...optionalMembers,
});
export type CreateTriggerRequest = v.InferOutput<typeof CreateTriggerRequest>;

/** Changes to a trigger. Absent members keep their values. */
export const UpdateTriggerRequest = v.object({
  name: v.exactOptional(Name),
  prompt: v.exactOptional(TriggerPrompt),
  ...optionalMembers,
  /** Replaces the scopes; `[]` stands for all of the request's credential. */
  scopes: v.exactOptional(v.array(Scope)),
  /** `""` clears the identity. */
  agent_uid: v.exactOptional(v.union([Id, v.literal("")])),
  /** `""` restores the default. */
  followup_prompt: v.exactOptional(v.union([TriggerPrompt, v.literal("")])),
});
export type UpdateTriggerRequest = v.InferOutput<typeof UpdateTriggerRequest>;

/** What a delivery to a trigger resulted in. */
export const TriggerOutcome = v.picklist(["started", "followed_up", "ignored", "duplicate", "failed"]);
export type TriggerOutcome = v.InferOutput<typeof TriggerOutcome>;

/** The latest delivery to a trigger, and its outcome if it has one yet. */
export const LastDelivery = v.object({ at: v.string(), outcome: v.exactOptional(TriggerOutcome) });
export type LastDelivery = v.InferOutput<typeof LastDelivery>;

/** Deliveries to a trigger of the last 24 hours by outcome, of the latest 1,000. */
export const DeliveryCounts = v.object({
  started: Count,
  followed_up: Count,
  ignored: Count,
  duplicate: Count,
  failed: Count,
});
export type DeliveryCounts = v.InferOutput<typeof DeliveryCounts>;

/** A trigger as responses show it. */
export const TriggerItem = v.object({
  uid: v.string(),
  name: v.string(),
  kind: TriggerKind,
  preset: v.exactOptional(TriggerPreset),
  enabled: v.boolean(),
  ingress_url: v.string(),
  /** Of the kind `webhook` only. */
  verification: v.exactOptional(TriggerVerification),
  prompt: v.string(),
  events: v.exactOptional(v.array(v.string())),
  /** The condition that events have to meet. Absent where there is none. */
  filter: v.exactOptional(v.string()),
  /** The expression that yields the thread of an event. Absent where events have the thread of their system. */
  thread_key: v.exactOptional(v.string()),
  agent_uid: v.exactOptional(v.string()),
  mode: RunMode,
  followup_prompt: v.exactOptional(v.string()),
  threads: v.exactOptional(TriggerThreads),
  busy: v.exactOptional(BusyPolicy),
  allow: v.exactOptional(TriggerAuthors),
  /** The name of the secret with which the other system is asked. */
  credential: v.exactOptional(v.string()),
  metadata: v.exactOptional(Metadata),
  /** What its runs may use their keys for. Absent where that is not limited. */
  scopes: v.exactOptional(v.array(Scope)),
  scope: v.object({ type: v.literal("Team"), uid: v.string() }),
  created_by: UserProfile,
  created_at: v.string(),
  updated_at: v.string(),
  pause_after_failures: v.exactOptional(Count),
  /** Why the trigger has paused itself. Absent where it has not. */
  pause_reason: v.exactOptional(v.string()),
  /** Since when its runs have failed without one that has not. Absent where its latest run that has ended did not fail. */
  failing_since: v.exactOptional(v.string()),
  last_delivery: v.exactOptional(LastDelivery),
  /** In the response to a GET of one trigger. */
  counts_24h: v.exactOptional(DeliveryCounts),
  /** Its latest runs, at most 10, newest first. In the response to a GET of one trigger. */
  recent_runs: v.exactOptional(v.array(RecentRun)),
});
export type TriggerItem = v.InferOutput<typeof TriggerItem>;

/** A new trigger with its secret, which is shown only once. */
export const CreatedTrigger = v.object({ ...TriggerItem.entries, secret: v.string() });

/** A new secret for a trigger. */
export const RotateTriggerSecretRequest = v.object({
  /** The secret, where the other system makes it. It is generated by default. */
  secret: v.exactOptional(TriggerSecret),
});

/** A trigger with its new secret, which is shown only once. */
export const RotatedTrigger = v.object({ ...CreatedTrigger.entries, previous_secret_expires_at: v.string() });

/** A page of triggers. */
export const ListTriggersResponse = v.object({ triggers: v.array(TriggerItem), page_info: v.exactOptional(PageInfo) });

/**
 * Why a delivery is ignored: the trigger is paused, does not take events of this type, of this author or by its filter, or their run
 * is active.
 */
const IgnoredReason = v.picklist(["event", "paused", "author", "filter", "busy"]);

const EventPayload = v.record(v.string(), v.unknown());

/** Who caused an event: members are "" where the event does not name them. */
export const EventAuthor = v.object({
  id: v.string(),
  name: v.string(),
  kind: v.picklist(["person", "bot", "application"]),
});
export type EventAuthor = v.InferOutput<typeof EventAuthor>;

/** An event of another system as templates see it. Strings are "" where the event has none. */
export const TriggerEvent = v.object({
  type: v.string(),
  action: v.string(),
  text: v.string(),
  author: EventAuthor,
  /** The repository, as `owner/name`. */
  repository: v.string(),
  /** Equal for the events of one issue, pull request, ticket or conversation. */
  thread: v.string(),
  payload: EventPayload,
});
export type TriggerEvent = v.InferOutput<typeof TriggerEvent>;

/** An event that a trigger is tested with. */
export const TestTriggerRequest = v.object({
  headers: v.exactOptional(v.record(textOfBytes(128, 1), textOfBytes(1024))),
  payload: EventPayload,
  /** A template to test instead of the trigger's. */
  prompt: v.exactOptional(TriggerPrompt),
});
export type TestTriggerRequest = v.InferOutput<typeof TestTriggerRequest>;

/** What an event would result in. Nothing is created. */
export const TestTriggerResponse = v.object({
  outcome: v.picklist(["started", "ignored", "failed"]),
  reason: v.exactOptional(IgnoredReason),
  detail: v.exactOptional(v.string()),
  event: TriggerEvent,
  prompt: v.string(),
  missing_values: v.exactOptional(v.array(v.string())),
  /** The run that would be created with the prompt. */
  run_request: v.exactOptional(
    v.object({ title: v.string(), mode: RunMode, metadata: v.exactOptional(Metadata), config: ResolvedAgentConfig }),
  ),
});
export type TestTriggerResponse = v.InferOutput<typeof TestTriggerResponse>;

/** A delivery to a trigger as responses show it. */
export const TriggerDelivery = v.object({
  delivery_id: v.string(),
  external_id: v.exactOptional(v.string()),
  event_type: v.string(),
  action: v.exactOptional(v.string()),
  received_at: v.string(),
  /** Decisions so far: more than one where a failure was temporary. */
  attempts: Count,
  /** Absent until the event is decided on. */
  outcome: v.exactOptional(TriggerOutcome),
  /** True after a temporary failure, which `detail` names: the event is decided on again, for 24 hours. */
  will_retry: v.exactOptional(v.boolean()),
  reason: v.exactOptional(IgnoredReason),
  detail: v.exactOptional(v.string()),
  run_id: v.exactOptional(v.string()),
  followup_id: v.exactOptional(v.string()),
  /** The delivery whose event it delivers again on request. */
  redelivery_of: v.exactOptional(v.string()),
  /** The delivery that it repeats. */
  of: v.exactOptional(v.string()),
  /** The values of the template that the event does not have. */
  missing_values: v.exactOptional(v.array(v.string())),
});
export type TriggerDelivery = v.InferOutput<typeof TriggerDelivery>;

/** A delivery to a trigger with its payload. */
export const TriggerDeliveryDetails = v.object({
  ...TriggerDelivery.entries,
  payload: v.exactOptional(EventPayload),
});
export type TriggerDeliveryDetails = v.InferOutput<typeof TriggerDeliveryDetails>;

/** A page of deliveries to a trigger. */
export const ListTriggerDeliveriesResponse = v.object({
  deliveries: v.array(TriggerDelivery),
  page_info: v.exactOptional(PageInfo),
});
export type ListTriggerDeliveriesResponse = v.InferOutput<typeof ListTriggerDeliveriesResponse>;

/** The response to a delivery that was verified: its id, or the answer to the question that Slack asks about a new URL. */
export const ReceivedDelivery = v.object({
  delivery_id: v.exactOptional(v.string()),
  challenge: v.exactOptional(v.string()),
});
export type ReceivedDelivery = v.InferOutput<typeof ReceivedDelivery>;
