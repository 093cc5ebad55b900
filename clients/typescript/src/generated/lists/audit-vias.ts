// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `AuditVia`. */
export const AUDIT_VIAS = [
  "key",
  "session",
  "trigger",
  "schedule",
  "service",
] as const;
