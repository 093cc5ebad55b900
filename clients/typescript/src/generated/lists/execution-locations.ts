// Generated from docs/openapi.json by `npm run clients:generate`. Do not edit.
/** The values of `ExecutionLocation`. */
export const EXECUTION_LOCATIONS = [
  "REMOTE",
  "LOCAL",
] as const;
