// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `RunState`. */
export const RUN_STATES = [
  "QUEUED",
  "PENDING",
  "CLAIMED",
  "INPROGRESS",
  "SUCCEEDED",
  "FAILED",
  "ERROR",
  "BLOCKED",
  "CANCELLED",
] as const;
