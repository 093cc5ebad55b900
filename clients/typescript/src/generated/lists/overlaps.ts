// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `Overlap`. */
export const OVERLAPS = [
  "allow",
  "skip",
  "cancel_previous",
] as const;
