// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `ReasoningLevel`. */
export const REASONING_LEVELS = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "max",
] as const;
