// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `TaskStatus`. */
export const TASK_STATUSES = [
  "running",
  "failed",
  "blocked",
  "cancelled",
  "complete",
] as const;
