import { type KeyEntry, keyStore, type Revocation } from "#shared/keys/key-store.ts";
import type { Table } from "#shared/table/table.ts";
import type { TeamKey } from "#shared/wire/team.ts";

/** The revocation of a person's keys of one identity, and the keys as responses show them. */
export interface KeyRevocation extends Revocation {
  readonly keys: readonly TeamKey[];
}

interface AgentKeys {
  /** Keys that the person created, by identity. */
  readonly created: readonly KeyRevocation[];
  /** Keys from before creators were stored. */
  readonly unattributed: readonly TeamKey[];
}

/** Reads the agent keys of a team that a person created, or may have created. */
export async function readAgentKeys(team: string, user: string, table: Table): Promise<AgentKeys> {
  const store = keyStore(table);
  const lists = (await store.readLists(team)).map(({ identity, list }) => ({
    identity,
    list,
    created: list.entries.filter(({ created_by }) => created_by === user),
    unattributed: list.entries.filter(({ created_by }) => created_by === undefined),
  }));
  const stored = await store.readKeys(lists.flatMap(({ created, unattributed }) => [...created, ...unattributed]));
  const toTeamKeys = (identity: string, entries: readonly KeyEntry[]): TeamKey[] =>
    entries.map(({ uid, hash }) => ({ uid, name: stored.get(hash)?.name ?? "", identity_uid: identity }));
  return {
    created: lists
      .filter(({ created }) => created.length > 0)
      .map(({ identity, list, created }) => ({
        owner: { kind: "agent", identity, team },
        list,
        entries: created,
        keys: toTeamKeys(identity, created),
      })),
    unattributed: lists.flatMap(({ identity, unattributed }) => toTeamKeys(identity, unattributed)),
  };
}
