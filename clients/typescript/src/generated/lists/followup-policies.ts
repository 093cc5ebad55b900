// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `FollowupPolicy`. */
export const FOLLOWUP_POLICIES = [
  "enqueue",
  "interrupt",
  "reject",
] as const;
