// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `WebhookEventType`. */
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
  "trigger_failed",
  "schedule_failed",
  "schedule_missed",
] as const;
