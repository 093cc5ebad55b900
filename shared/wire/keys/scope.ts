import * as v from "valibot";

/** What a credential may be limited to. Each route that needs a credential has exactly one of them, in infra/routes.ts. */
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

export const Scope = v.picklist(SCOPES);
export type Scope = v.InferOutput<typeof Scope>;

export const isScope = (text: string): text is Scope => v.is(Scope, text);
