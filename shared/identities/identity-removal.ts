import { keyListKey, parseKeyList, toKeyListDelete } from "#shared/api-keys/key-list.ts";
import { identityKeyOwner } from "#shared/api-keys/key-owner.ts";
import type { Identity } from "#shared/records/identity.ts";
import { unregister } from "#shared/records/identity-register.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table, TransactionWrite } from "#shared/table/table.ts";
import { releaseName } from "#shared/table/unique-name.ts";
import { NAME_KIND } from "./identity-writes.ts";

/** The writes that remove an identity and all that is its. */
export async function identityRemoval(identity: Identity, table: Table): Promise<TransactionWrite[]> {
  const { uid, team_uid, name } = identity;
  const holder = identityKeyOwner(identity);
  const ring = parseKeyList(await table.get(keyListKey(holder)));
  return [
    { kind: "delete", key: keys.identity(team_uid, uid), if: { name: { eq: name } } },
    unregister(team_uid, uid),
    releaseName({ type: "Team", uid: team_uid }, NAME_KIND, name, uid),
    ...toKeyListDelete(holder, ring),
  ];
}
