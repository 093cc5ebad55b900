import * as v from "valibot";
import { SCOPES } from "./scopes.ts";

/** What a key may be used for. A route needs exactly one scope: `x-scope` of its operation. */
export const Scope = v.picklist(SCOPES);
export type Scope = v.InferOutput<typeof Scope>;

/** Scopes of a new credential. */
export const Scopes = v.pipe(v.array(Scope), v.minLength(1, "must have at least one scope"));

/** The scopes of the reads whose refusals the audit log records: most of these reads are for admins only. */
export const PRIVILEGED_READS: readonly string[] = [
  "audit",
  "secrets",
  "teams:read",
  "webhooks:read",
] satisfies Scope[];

export const isScope = (text: string): text is Scope => v.is(Scope, text);
