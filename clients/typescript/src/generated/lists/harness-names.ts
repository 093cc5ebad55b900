// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `HarnessName`. */
export const HARNESS_NAMES = [
  "default",
  "oz",
  "claude",
  "codex",
  "gemini",
] as const;
