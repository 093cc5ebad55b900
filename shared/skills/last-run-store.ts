import { createdAtOf } from "#shared/ids.ts";
import { type Owner, SCOPE_SHARDS, scopeKey } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";

/** Different skills of one scope that are read; beyond them it is not known when a skill last ran. */
const MAX_SPECS = 300;
/** Characters of a run's id. */
const ID_LENGTH = 36;

/** The latest runs of the skills in one shard of a scope. */
export interface LatestRuns {
  /** Folded specs of skills, each with the time of its latest run in milliseconds. */
  readonly found: readonly (readonly [spec: string, time: number])[];
  /** False where there are more skills than were read. */
  readonly isComplete: boolean;
}

/**
 * Reads the latest run of each skill in a scope: one entry per skill, from the index that sorts runs by skill, however many runs there
 * are and however many skills have never run.
 */
export function readLatestRuns(owner: Owner, table: Table): Promise<LatestRuns[]> {
  const shards = Array.from({ length: SCOPE_SHARDS }, (_, shard) => scopeKey(owner, shard));
  return Promise.all(shards.map((scope) => readShard(scope, table)));
}

/** Reads from the last skill to the first, each by its latest run: entries of one skill are in the order of their runs' ids. */
async function readShard(scope: string, table: Table): Promise<LatestRuns> {
  const found: [string, number][] = [];
  let range: { prefix: string } | { from: string; before: string } = { prefix: "0#" };
  while (found.length < MAX_SPECS) {
    const { items } = await table.query({ index: "gsi4", pk: scope, ...range, descending: true, limit: 1 });
    const key = items[0]?.["agent_key"];
    if (typeof key !== "string") return { found, isComplete: true };
    const group = key.slice(0, -ID_LENGTH);
    found.push([group.slice("0#".length, -1), createdAtOf(key.slice(-ID_LENGTH))]);
    range = { from: "0#", before: group };
  }
  return { found, isComplete: false };
}
