import * as v from "valibot";
import { RunFilter } from "../cancel.ts";
import { PageInfo } from "../list.ts";
import { Count, Name, optional } from "../primitives.ts";
import { RunState, UserProfile } from "../run.ts";
import { ReceiverUrl } from "./receiver-url.ts";

/** The types of events of triggers and schedules that webhooks deliver. */
const TEAM_EVENT_TYPES = ["trigger_failed", "schedule_failed", "schedule_missed"] as const;
/** The type of an event of a trigger or a schedule. */
export type TeamEventType = (typeof TEAM_EVENT_TYPES)[number];

/**
 * The types of events that webhooks deliver: state transitions of runs, what else happens to a run as a whole, and what happens to
 * triggers and schedules.
 */
export const WEBHOOK_EVENT_TYPES = [
  "run_created",
  "run_queued",
  "run_pending",
  "run_claimed",
  "worker_container_ready",
  "followup_received",
  "execution_lost",
  "artifact_created",
  "run_succeeded",
  "run_failed",
  "run_errored",
  "run_blocked",
  "run_cancelled",
  "run_stopped",
  ...TEAM_EVENT_TYPES,
] as const;
/** The type of an event that webhooks deliver. */
export const WebhookEventType = v.picklist(WEBHOOK_EVENT_TYPES);
export type WebhookEventType = v.InferOutput<typeof WebhookEventType>;

const {
  state: _state,
  task_status: _taskStatus,
  created_after: _createdAfter,
  created_before: _createdBefore,
  updated_after: _updatedAfter,
  artifact_type: _artifactType,
  archived: _archived,
  q: _q,
  ...lastingFilters
} = RunFilter.pipe[0].entries;

/** The runs whose events are delivered: filters of the list of runs that a run matches for as long as it exists, combined with AND. */
export const WebhookFilter = v.strictObject(lastingFilters);
export type WebhookFilter = v.InferOutput<typeof WebhookFilter>;

const EventTypes = v.pipe(v.array(WebhookEventType), v.maxLength(WEBHOOK_EVENT_TYPES.length));

/** `json` is the event, `slack` a message for Slack's incoming webhooks. */
const WebhookFormat = v.picklist(["json", "slack"]);

const optionalMembers = {
  /** What is sent: the event as JSON (`json`, the default), or a message for the URL of an incoming webhook of Slack (`slack`). */
  format: optional(WebhookFormat),
  /** The types of events that are delivered. `[]` stands for all. */
  event_types: optional(EventTypes),
  /** Selects the runs whose events are delivered. All runs of the team by default, and with `{}`. */
  filter: optional(WebhookFilter),
  /** Whether events are delivered. True for a new webhook. */
  enabled: optional(v.boolean()),
};

/** A new webhook. */
export const CreateWebhookRequest = v.object({
  /** A name for people. */
  name: optional(Name),
  /** Where deliveries are sent. Its host must be on the internet. */
  url: ReceiverUrl,
  ...optionalMembers,
});
export type CreateWebhookRequest = v.InferOutput<typeof CreateWebhookRequest>;

/** Changes to a webhook. Members that are absent or null keep their values. */
export const UpdateWebhookRequest = v.object({
  /** A name for people. `""` clears it. */
  name: optional(v.union([Name, v.literal("")])),
  /** Where deliveries are sent. Its host must be on the internet. */
  url: optional(ReceiverUrl),
  ...optionalMembers,
});
export type UpdateWebhookRequest = v.InferOutput<typeof UpdateWebhookRequest>;

/** A webhook as responses show it. */
export const WebhookItem = v.object({
  /** The webhook's id. */
  uid: v.string(),
  /** A name for people. */
  name: v.exactOptional(v.string()),
  /** Where deliveries are sent. */
  url: v.string(),
  /** `slack` if messages for an incoming webhook of Slack are sent. Absent for events as JSON. */
  format: v.exactOptional(v.literal("slack")),
  /** The types of events that are delivered. */
  event_types: v.array(WebhookEventType),
  /** The runs whose events are delivered. Absent for all runs of the team. */
  filter: v.exactOptional(WebhookFilter),
  /** Whether events are delivered. A receiver that responds 410 disables the webhook. */
  enabled: v.boolean(),
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** The time of the latest change. @format date-time */
  updated_at: v.string(),
  /** The person who created the webhook. */
  created_by: UserProfile,
  /** The owner. */
  scope: v.object({
    /** Always `Team`. */
    type: v.literal("Team"),
    /** The team's id. */
    uid: v.string(),
  }),
  /** The time until which deliveries are signed with the previous secret as well. Absent unless the secret was replaced. @format date-time */
  previous_secret_expires_at: v.exactOptional(v.string()),
});
export type WebhookItem = v.InferOutput<typeof WebhookItem>;

/** A new webhook with its signing secret, which is shown only once. */
export const CreatedWebhook = v.object({
  ...WebhookItem.entries,
  /** The signing secret, returned once. */
  secret: v.string(),
});
export type CreatedWebhook = v.InferOutput<typeof CreatedWebhook>;

/** A webhook with its new signing secret, which is shown only once. */
export const RotateSecretResponse = v.object({
  ...WebhookItem.entries,
  previous_secret_expires_at: v.string(),
  /** The signing secret, returned once. */
  secret: v.string(),
});

/** A page of webhooks. */
export const ListWebhooksResponse = v.object({
  /** The webhooks, oldest first. */
  webhooks: v.array(WebhookItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});

const DELIVERY_STATES = ["pending", "delivered", "failed"] as const;
/** The state of a delivery. */
export const DeliveryState = v.picklist(DELIVERY_STATES);
export type DeliveryState = v.InferOutput<typeof DeliveryState>;

/** One attempt to deliver an event. */
const DeliveryAttempt = v.object({
  /** The time of the attempt. @format date-time */
  attempted_at: v.string(),
  /** Milliseconds until the response or the error. */
  duration_ms: Count,
  /** The status of the receiver's response. */
  status_code: v.exactOptional(Count),
  /** Why there was no response. */
  error: v.exactOptional(v.string()),
});

/** What an event is about: a run, a trigger or a schedule. */
const subject = {
  /** The id of the run. Absent for an event of a trigger or a schedule. */
  run_id: v.exactOptional(v.string()),
  /** The number of the event within its run. */
  run_sequence: v.exactOptional(Count),
  /** The trigger of a `trigger_failed`. */
  trigger_uid: v.exactOptional(v.string()),
  /** The schedule of a `schedule_failed` or `schedule_missed`. */
  schedule_id: v.exactOptional(v.string()),
};

/** A delivery as responses show it. */
export const DeliveryItem = v.object({
  /** The number of the delivery within its webhook, from 1, without gaps. */
  sequence: Count,
  /** The type of the event. */
  event_type: WebhookEventType,
  ...subject,
  /** `pending` until the receiver responds 2xx (`delivered`) or the last attempt has failed (`failed`). */
  state: DeliveryState,
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** The time of the next attempt. Present while the delivery is pending. @format date-time */
  next_attempt_at: v.exactOptional(v.string()),
  /** The latest attempts, at most 20, oldest first. */
  attempts: v.array(DeliveryAttempt),
});
export type DeliveryItem = v.InferOutput<typeof DeliveryItem>;

/** A page of deliveries. */
export const ListDeliveriesResponse = v.object({
  /** The deliveries, newest first. */
  deliveries: v.array(DeliveryItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
export type ListDeliveriesResponse = v.InferOutput<typeof ListDeliveriesResponse>;

/** The result of a request to send deliveries again. */
export const RedeliverResponse = v.object({
  /** The number of deliveries that are sent again. */
  redelivered: Count,
  /** The `from_sequence` of the next request, if there are more deliveries. */
  next_sequence: v.exactOptional(Count),
});
export type RedeliverResponse = v.InferOutput<typeof RedeliverResponse>;

/** The body of a delivery. */
export const WebhookPayload = v.object({
  type: WebhookEventType,
  timestamp: v.string(),
  data: v.object({
    webhook_uid: v.string(),
    /** The number of the delivery within its webhook, from 1, without gaps. */
    sequence: Count,
    ...subject,
    /** The state of the run after the event. */
    state: v.exactOptional(RunState),
    /** The title of the run, or the name of the trigger or the schedule. */
    title: v.string(),
    metadata: v.exactOptional(v.record(v.string(), v.string())),
    session_link: v.exactOptional(v.string()),
    /** Facts of the event, such as the uid of an artifact. */
    event: v.record(v.string(), v.union([v.string(), v.number(), v.boolean()])),
  }),
});
export type WebhookPayload = v.InferOutput<typeof WebhookPayload>;
