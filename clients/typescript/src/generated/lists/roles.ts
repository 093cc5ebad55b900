// Generated from docs/openapi.json by `npm run clients:generate`. Do not edit.
/** The values of `Role`. */
export const ROLES = [
  "admin",
  "member",
] as const;
