// Generated from docs/openapi.json by `npm run clients:generate`. Do not edit.
/** The values of `TickOutcome`. */
export const TICK_OUTCOMES = [
  "fired",
  "skipped",
  "late",
  "failed",
] as const;
