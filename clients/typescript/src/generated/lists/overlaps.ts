// Generated from docs/openapi.json by `npm run clients:generate`. Do not edit.
/** The values of `Overlap`. */
export const OVERLAPS = [
  "allow",
  "skip",
  "cancel_previous",
] as const;
