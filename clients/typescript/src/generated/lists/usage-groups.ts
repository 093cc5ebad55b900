// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `UsageGroup`. */
export const USAGE_GROUPS = [
  "day",
  "creator",
  "executor",
  "model",
  "schedule",
  "environment",
] as const;
