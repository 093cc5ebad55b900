// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `RunMode`. */
export const RUN_MODES = [
  "normal",
  "plan",
  "orchestrate",
] as const;
