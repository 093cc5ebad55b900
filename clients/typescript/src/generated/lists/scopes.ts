// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `Scope`. */
export const SCOPES = [
  "runs:read",
  "runs:write",
  "schedules:read",
  "schedules:write",
  "environments:read",
  "environments:write",
  "identities:read",
  "identities:write",
  "triggers:read",
  "triggers:write",
  "webhooks:read",
  "webhooks:write",
  "teams:read",
  "teams:write",
  "usage:read",
  "models:read",
  "keys",
  "secrets",
  "audit",
  "workers",
] as const;
