import { toIdentityKeyOwner } from "#shared/keys/key-owner.ts";
import { keyStore } from "#shared/keys/key-store.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { requireScopes } from "#shared/principals/scopes.ts";
import type { Identity } from "#shared/records/identity.ts";
import type { Table } from "#shared/table/table.ts";
import { trustRuleStore } from "./trust-rule-store.ts";

/**
 * Refuses a change of an identity by a credential that lacks a scope which a key or a trust rule of the identity has, since the change
 * decides what those start. Nothing is read for a credential with all scopes.
 * @throws RunyardError 403 naming the missing scope
 */
export async function requireScopesOfKeys(identity: Identity, principal: Principal, table: Table): Promise<void> {
  if (principal.scopes === undefined) return;
  const store = keyStore(table);
  const { entries } = await store.readList(toIdentityKeyOwner(identity));
  const [held, rules] = await Promise.all([
    store.readKeys(entries),
    trustRuleStore(table).list(identity.team_uid, identity.uid),
  ]);
  for (const { scopes } of [...held.values(), ...rules]) requireScopes(scopes, principal);
}
