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

/** What a key may be used for. A route needs exactly one scope: `x-scope` of its operation. */
export const Scope = v.picklist(SCOPES);
export type Scope = v.InferOutput<typeof Scope>;

/** Scopes of a new credential. */
export const Scopes = v.pipe(v.array(Scope), v.minLength(1, "must have at least one scope"));

export const isScope = (text: string): text is Scope => v.is(Scope, text);
