// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `TriggerOutcome`. */
export const TRIGGER_OUTCOMES = [
  "started",
  "followed_up",
  "ignored",
  "duplicate",
  "failed",
] as const;
