// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `FollowupOutcome`. */
export const FOLLOWUP_OUTCOMES = [
  "queue_pending",
  "queued_prompt",
  "live_session",
  "handoff_execution",
] as const;
