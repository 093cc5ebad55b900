import { RunyardError } from "#shared/errors.ts";
import type { Scope } from "#shared/wire/keys/scope.ts";
import { SCOPES } from "#shared/wire/keys/scopes.ts";
import type { Principal } from "./principal.ts";

/** Scopes as they are stored: undefined stands for all of them, also for those of later releases. */
export type StoredScopes = readonly Scope[] | undefined;

/** The scopes by name, in the order of their list. */
export const listScopes = (scopes: StoredScopes): Scope[] =>
  SCOPES.filter((scope) => scopes === undefined || scopes.includes(scope));

/** @throws RunyardError 403 naming the first scope that the credential lacks */
export function requireScopes(needed: StoredScopes, { scopes }: Pick<Principal, "scopes">): void {
  const missing = listScopes(needed).find((scope) => scopes !== undefined && !scopes.includes(scope));
  if (missing === undefined) return;
  throw new RunyardError("not_authorized", {
    detail: `the credential lacks the scope ${missing}: send the request with a key that has it`,
  });
}

/** The scopes that are in both. */
export function intersectScopes(one: StoredScopes, other: StoredScopes): StoredScopes {
  if (one === undefined || other === undefined) return one ?? other;
  return one.filter((scope) => other.includes(scope));
}

/** The scopes that a run's key can have: those of the routes that it may call. Others are not worth their bytes in its head. */
export const RUN_SCOPES = ["runs:read", "runs:write", "models:read"] as const satisfies readonly Scope[];

/** The scopes of the key of a run, for its head; undefined where it has all that it can have. */
export function toRunScopes(scopes: StoredScopes): StoredScopes {
  const common = intersectScopes(RUN_SCOPES, scopes);
  return common?.length === RUN_SCOPES.length ? undefined : common;
}

/** The member `scopes` of what is stored with them, absent for all scopes. */
export const scopesMember = (scopes: StoredScopes): { readonly scopes?: Scope[] } =>
  scopes === undefined ? {} : { scopes: [...scopes] };

/**
 * The scopes of what a caller makes, such as a key: those that it requests, by default all of the caller's.
 * @throws RunyardError 403 naming a scope that the caller lacks
 */
export function grantScopes(requested: StoredScopes | null, principal: Pick<Principal, "scopes">): StoredScopes {
  if (requested === undefined || requested === null) return principal.scopes;
  requireScopes(requested, principal);
  return listScopes(requested);
}
