// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `Role`. */
export const ROLES = [
  "admin",
  "member",
] as const;
