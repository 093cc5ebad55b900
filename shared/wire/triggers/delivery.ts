import * as v from "valibot";
import { ResolvedAgentConfig } from "../config.ts";
import { PageInfo } from "../list.ts";
import { Metadata } from "../metadata.ts";
import { Count, textOfBytes } from "../primitives.ts";
import { RunMode } from "../run.ts";
import { TriggerOutcome, TriggerPrompt } from "./trigger.ts";

/**
 * Why a delivery is ignored: the trigger is paused, does not take events of this type, of this author or by its filter, their run
 * is active, or a reply of a run has caused it.
 */
const IgnoredReason = v.picklist(["event", "own", "paused", "author", "filter", "busy"]);

const EventPayload = v.record(v.string(), v.unknown());

/** Who caused an event: members are "" where the event does not name them. */
export const EventAuthor = v.object({
  /** The account's id in the other system. */
  id: v.string(),
  /** The account's name in the other system. */
  name: v.string(),
  /** The kind of the account. */
  kind: v.picklist(["person", "bot", "application"]),
});
export type EventAuthor = v.InferOutput<typeof EventAuthor>;

/** An event of another system as templates see it. Strings are "" where the event has none. */
export const TriggerEvent = v.object({
  /** The type of the event. */
  type: v.string(),
  /** The action of the event, empty if it has none. */
  action: v.string(),
  /** What was written, such as a comment. Empty if there is none. */
  text: v.string(),
  /** Who caused the event, which need not be the author of the text. */
  author: EventAuthor,
  /** The repository, as `owner/name`. */
  repository: v.string(),
  /** Equal for the events of one issue, pull request, ticket or conversation. */
  thread: v.string(),
  /** The JSON object of the event. */
  payload: EventPayload,
});
export type TriggerEvent = v.InferOutput<typeof TriggerEvent>;

/** An event that a trigger is tested with. */
export const TestTriggerRequest = v.object({
  /** The headers of the request, from which the type of the event is read. */
  headers: v.exactOptional(v.record(textOfBytes(128, 1), textOfBytes(1024))),
  /** The JSON object of the event. */
  payload: EventPayload,
  /** A template to test instead of the trigger's. */
  prompt: v.exactOptional(TriggerPrompt),
});
export type TestTriggerRequest = v.InferOutput<typeof TestTriggerRequest>;

/** What an event would result in. Nothing is created. */
export const TestTriggerResponse = v.object({
  /** What the event would result in. */
  outcome: v.picklist(["started", "followed_up", "ignored", "failed"]),
  /** Why it would be ignored. */
  reason: v.exactOptional(IgnoredReason),
  /** Details, such as the filter's error, why no run could be created, or what a pressed button would do. */
  detail: v.exactOptional(v.string()),
  /** The run that a pressed button would answer or stop. Absent for other events. */
  run_id: v.exactOptional(v.string()),
  /** The event as templates see it. */
  event: TriggerEvent,
  /** The template with the values of the event. */
  prompt: v.string(),
  /** The values of the template that the event does not have. */
  missing_values: v.exactOptional(v.array(v.string())),
  /** The run that would be created with the prompt. */
  run_request: v.exactOptional(
    v.object({
      /** The title of the run. */
      title: v.string(),
      /** The mode of the run. */
      mode: RunMode,
      /** The labels of the run. */
      metadata: v.exactOptional(Metadata),
      /** The configuration of the run. */
      config: ResolvedAgentConfig,
    }),
  ),
});
export type TestTriggerResponse = v.InferOutput<typeof TestTriggerResponse>;

/** A delivery to a trigger as responses show it. */
export const TriggerDelivery = v.object({
  /** The delivery's id. */
  delivery_id: v.string(),
  /** The id that the sender has for the event. */
  external_id: v.exactOptional(v.string()),
  /** The type of the event. */
  event_type: v.string(),
  /** The action of the event. */
  action: v.exactOptional(v.string()),
  /** The time of the request. @format date-time */
  received_at: v.string(),
  /** The number of decisions: more than one after a temporary failure. */
  attempts: Count,
  /** What the delivery resulted in. Absent until the event is decided on. */
  outcome: v.exactOptional(TriggerOutcome),
  /** True after a temporary failure, which `detail` names: the event is decided on again, for 24 hours. */
  will_retry: v.exactOptional(v.boolean()),
  /**
   * Why it was ignored: the type of the event, its author, the filter, a paused trigger, an active run of its thread,
   * or that a reply of a run caused it.
   */
  reason: v.exactOptional(IgnoredReason),
  /** Details of `reason`, such as the error of the filter, or why the event could not be decided on. */
  detail: v.exactOptional(v.string()),
  /** The id of the run that it started or continued. */
  run_id: v.exactOptional(v.string()),
  /** The id of the follow-up that it sent to the run `run_id`. */
  followup_id: v.exactOptional(v.string()),
  /** The id of the delivery whose event it delivers again on request. */
  redelivery_of: v.exactOptional(v.string()),
  /** The id of the delivery that it repeats. */
  of: v.exactOptional(v.string()),
  /** The values of the template that the event does not have. */
  missing_values: v.exactOptional(v.array(v.string())),
});
export type TriggerDelivery = v.InferOutput<typeof TriggerDelivery>;

/** A delivery to a trigger with its payload. */
export const TriggerDeliveryDetails = v.object({
  ...TriggerDelivery.entries,
  /** The JSON object of the event. Absent if it has more than 3.5 MB, or was received before this was stored. */
  payload: v.exactOptional(EventPayload),
});
export type TriggerDeliveryDetails = v.InferOutput<typeof TriggerDeliveryDetails>;

/** A page of deliveries to a trigger. */
export const ListTriggerDeliveriesResponse = v.object({
  /** The deliveries, newest first. */
  deliveries: v.array(TriggerDelivery),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
export type ListTriggerDeliveriesResponse = v.InferOutput<typeof ListTriggerDeliveriesResponse>;

/** The response to a delivery that was verified: its id, or the answer to the question that Slack asks about a new URL. */
export const ReceivedDelivery = v.object({
  /** The delivery's id. */
  delivery_id: v.exactOptional(v.string()),
  /** The text of Slack's question about a new URL. There is no delivery then. */
  challenge: v.exactOptional(v.string()),
});
export type ReceivedDelivery = v.InferOutput<typeof ReceivedDelivery>;
