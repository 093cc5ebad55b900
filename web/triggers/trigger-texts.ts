import type { TriggerDelivery, TriggerItem } from "../../clients/typescript/src/index.ts";

export type Outcome = NonNullable<TriggerDelivery["outcome"]>;

/** The systems that send events, by the value of their choice: a kind, or a preset of the kind `webhook`. */
export const SYSTEMS = {
  github: "GitHub",
  gitlab: "GitLab",
  slack: "Slack",
  linear: "Linear",
  jira: "Jira",
  sentry: "Sentry",
  pagerduty: "PagerDuty",
  webhook: "Custom webhook",
} as const;
export type System = keyof typeof SYSTEMS;

export const systemOf = ({ kind, preset }: Pick<TriggerItem, "kind" | "preset">): System => preset ?? kind;

export const OUTCOME_NAMES: readonly Outcome[] = ["started", "followed_up", "ignored", "duplicate", "failed"];

/** The label and the tone of an outcome. */
export const OUTCOMES: Readonly<Record<Outcome, { readonly label: string; readonly tone: string }>> = {
  started: { label: "Started a run", tone: "good" },
  followed_up: { label: "Followed up", tone: "good" },
  ignored: { label: "Ignored", tone: "off" },
  duplicate: { label: "Duplicate", tone: "off" },
  failed: { label: "Failed", tone: "bad" },
};

const REASONS: Readonly<Record<NonNullable<TriggerDelivery["reason"]>, string>> = {
  event: "the trigger does not take events of this type",
  own: "a reply of a run caused it",
  paused: "the trigger was paused",
  author: "its author may not start runs",
  filter: "the event does not match the filter",
  busy: "the run of its thread was active",
};

/** Why a delivery has its outcome. */
export const describeReason = ({ reason, detail }: Pick<TriggerDelivery, "reason" | "detail">): string | undefined =>
  detail ?? (reason && REASONS[reason]);
