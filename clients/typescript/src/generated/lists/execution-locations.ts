// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `ExecutionLocation`. */
export const EXECUTION_LOCATIONS = [
  "REMOTE",
  "LOCAL",
] as const;
