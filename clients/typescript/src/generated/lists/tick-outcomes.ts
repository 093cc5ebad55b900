// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `TickOutcome`. */
export const TICK_OUTCOMES = [
  "fired",
  "skipped",
  "late",
  "failed",
] as const;
