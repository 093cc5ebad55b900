// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `WaitingFor`. */
export const WAITING_FORS = [
  "answer",
  "approval",
  "followup",
] as const;
