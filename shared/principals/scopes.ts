import { RunyardError } from "#shared/errors.ts";
import { SCOPES, type Scope } from "#shared/wire/keys/scope.ts";
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

/**
 * The scopes of what a caller makes, such as a key: those that it requests, by default all of the caller's.
 * @throws RunyardError 403 naming a scope that the caller lacks
 */
export function grantScopes(requested: StoredScopes | null, principal: Pick<Principal, "scopes">): StoredScopes {
  if (requested === undefined || requested === null) return principal.scopes;
  requireScopes(requested, principal);
  return listScopes(requested);
}
