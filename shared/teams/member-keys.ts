import * as v from "valibot";
import { type KeyOwner, parseKeyList, StoredKey, toKeyListUpdate } from "#shared/api-keys/key-list.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Table, TransactionWrite } from "#shared/table/table.ts";
import type { TeamKey } from "#shared/wire/team.ts";

/** Keys that one batch reads. */
const BATCH = 100;

/** The writes that revoke a person's keys of one identity, under the condition that its key list is unchanged. */
export interface Revocation {
  readonly writes: readonly TransactionWrite[];
  readonly keys: readonly TeamKey[];
}

interface AgentKeys {
  /** Those that the person created, by identity. */
  readonly created: readonly Revocation[];
  /** Those of anybody, from before creators were stored. */
  readonly unattributed: readonly TeamKey[];
}

/** The agent keys of a team that a person created, or may have created. */
export async function agentKeysOf(team: string, user: string, table: Table): Promise<AgentKeys> {
  const { pk, sk: prefix } = keys.identityKeys(team, "");
  const { items } = await table.query({ pk, prefix });
  const lists = items.map((item) => ({ identity: item.sk.slice(prefix.length), ring: parseKeyList(item) }));
  const concerned = lists.map(({ identity, ring }) => ({
    identity,
    ring,
    theirs: ring.entries.filter(({ created_by }) => created_by === user),
    unattributed: ring.entries.filter(({ created_by }) => created_by === undefined),
  }));
  const hashes = concerned.flatMap(({ theirs, unattributed }) => [...theirs, ...unattributed].map(({ hash }) => hash));
  const names = await namesOf(hashes, table);
  const named = (identity: string, entries: readonly { readonly uid: string; readonly hash: string }[]): TeamKey[] =>
    entries.map(({ uid, hash }) => ({ uid, name: names.get(hash) ?? "", identity_uid: identity }));
  return {
    created: concerned
      .filter(({ theirs }) => theirs.length > 0)
      .map(({ identity, ring, theirs }): Revocation => {
        const holder: KeyOwner = { kind: "agent", identity, team };
        const rest = ring.entries.filter((entry) => !theirs.includes(entry));
        const deletions = theirs.map(({ hash }): TransactionWrite => ({ kind: "delete", key: keys.apiKey(hash) }));
        return { writes: [toKeyListUpdate(holder, ring, rest), ...deletions], keys: named(identity, theirs) };
      }),
    unattributed: concerned.flatMap(({ identity, unattributed }) => named(identity, unattributed)),
  };
}

async function namesOf(hashes: readonly string[], table: Table): Promise<ReadonlyMap<string, string>> {
  const found: (Item | undefined)[] = [];
  for (let from = 0; from < hashes.length; from += BATCH) {
    found.push(...(await table.batchGet(hashes.slice(from, from + BATCH).map(keys.apiKey))));
  }
  return new Map(
    hashes.flatMap((hash, index) => {
      const item = found[index];
      return item === undefined ? [] : [[hash, v.parse(StoredKey, item).name] as const];
    }),
  );
}
