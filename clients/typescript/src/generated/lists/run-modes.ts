// Generated from docs/openapi.json by `npm run clients:generate`. Do not edit.
/** The values of `RunMode`. */
export const RUN_MODES = [
  "normal",
  "plan",
  "orchestrate",
] as const;
