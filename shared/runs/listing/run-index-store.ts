import { parseRunId } from "#shared/records/run-head.ts";
import { batchGetAll } from "#shared/table/batch-get.ts";
import {
  activeParts,
  endedPart,
  groupKey,
  keys,
  type Owner,
  SCOPE_SHARDS,
  scopeKey,
  sortableTime,
} from "#shared/table/keys.ts";
import type { IndexName, Item, Table } from "#shared/table/table.ts";
import type { Order, Source } from "./order.ts";

/** The scopes of the list indexes that hold the runs of these owners. */
export const toScopes = (owners: readonly Owner[]): readonly string[] =>
  owners.flatMap((owner) => Array.from({ length: SCOPE_SHARDS }, (_, shard) => scopeKey(owner, shard)));

type IndexReader = Pick<Table, "query">;

/** The runs of scopes as the indexes sort them, one source for each scope. */
export function runIndexStore({ query }: IndexReader) {
  const toSources = (index: IndexName, pks: readonly string[]): readonly Source[] =>
    pks.map((pk) => (range, limit, descending) => query({ index, pk, ...range, limit, descending }));
  return {
    byCreation: (scopes: readonly string[]) => toSources("gsi2", scopes),
    activeByCreation: (scopes: readonly string[]) => toSources("gsi5", scopes),
    activeByUpdate: (scopes: readonly string[]) => toSources("gsi1", scopes.flatMap(activeParts)),
    endedByUpdate: (scopes: readonly string[]) => toSources("gsi1", scopes.map(endedPart)),
    byTitle: (scopes: readonly string[]) => toSources("gsi3", scopes),
    byAgent: (scopes: readonly string[]) => toSources("gsi4", scopes),
    /** The ended runs of the groups of one creator or one schedule. */
    endedOfGroups: (groups: readonly string[]) => toSources("gsi7", groups),
  };
}

/** The groups of the runs that a schedule or a creator has created in these scopes. */
export const toGroups = (scopes: readonly string[], kind: "creator" | "schedule", uid: string): readonly string[] =>
  scopes.map((scope) => groupKey(scope, kind, uid));

/** Reads the descendants of a run in the order of their creation: their entries hold nothing but their ids. */
export function readDescendants(ancestor: string, { query }: IndexReader): Source {
  const { pk, sk: prefix } = keys.descendant(ancestor, "");
  const toBound = (position: string | undefined) => (position === undefined ? undefined : `${prefix}${position}`);
  return async ({ from, after, before }, limit, descending) => {
    const upper = toBound(before) ?? `${prefix}~`;
    const lower = after === undefined ? { from: toBound(from) ?? prefix } : { after: `${prefix}${after}` };
    const { items, more } = await query({ pk, ...lower, before: upper, limit, descending });
    const entries = items.map(({ sk }) => {
      const run = sk.slice(prefix.length);
      return { ...keys.head(run), created_key: run };
    });
    return { items: entries, more };
  };
}

/** The index entry of a run, as far as its head is read by it. */
export const toHeadEntry = (runId: string): Item => ({ ...keys.head(runId) });

/** Reads the heads of index entries, which have the keys of every order. */
export async function readHeadEntries(
  entries: readonly Item[],
  table: Pick<Table, "batchGet">,
): Promise<readonly Item[]> {
  const heads = await batchGetAll(
    entries.map((entry) => keys.head(parseRunId(entry))),
    table,
  );
  return heads.filter((head) => head !== undefined);
}

/** The least position of a time in milliseconds, in the orders by time. */
export function timeBound(time: number, { sortBy }: Order): string {
  if (sortBy === "updated_at") return sortableTime(time);
  const hex = time.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}`;
}

/** Reads the time from a position, in the orders by time. */
export const parseTime = (position: string, { sortBy }: Order): number =>
  sortBy === "updated_at" ? Number(position.slice(0, 13)) : Number.parseInt(position.replace("-", "").slice(0, 12), 16);
