import { createdAtOf } from "#shared/ids.ts";
import { listVisibleOwners, type Principal } from "#shared/principals/principal.ts";
import { folded } from "#shared/records/run.ts";
import { SCOPE_SHARDS, scopeKey } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";

/** Different skills of one scope that are looked at; beyond them it is not known when a skill last ran. */
const MAX_SPECS = 300;
/** Characters of a run's id. */
const ID_LENGTH = 36;

/** When skills last ran, as far as the caller sees their runs. */
export interface LastRuns {
  /** The latest run by any of these specs, in milliseconds; null: there was none; undefined: not known. */
  of(specs: readonly string[]): number | null | undefined;
}

/**
 * Reads the latest run of each skill that any run started from: one entry a skill, from the index that sorts runs by skill,
 * however many runs there are and however many skills nobody has ever used.
 */
export async function lastRuns(principal: Principal, table: Table): Promise<LastRuns> {
  const owners = principal.kind === "run" ? [] : listVisibleOwners(principal);
  const scopes = owners.flatMap((owner) => Array.from({ length: SCOPE_SHARDS }, (_, shard) => scopeKey(owner, shard)));
  const walks = await Promise.all(scopes.map((scope) => walk(scope, table)));
  const latest = new Map<string, number>();
  for (const [spec, time] of walks.flatMap(({ found }) => found)) {
    latest.set(spec, Math.max(time, latest.get(spec) ?? 0));
  }
  const isWhole = walks.every((one) => one.isWhole);
  return {
    of(specs) {
      const times = specs.map((spec) => latest.get(folded(spec))).filter((time) => time !== undefined);
      return times.length > 0 ? Math.max(...times) : isWhole ? null : undefined;
    },
  };
}

/** From the last skill to the first, each by its latest run: entries of one skill are in the order of their runs' ids. */
async function walk(scope: string, table: Table): Promise<{ found: [string, number][]; isWhole: boolean }> {
  const found: [string, number][] = [];
  let range: { prefix: string } | { from: string; before: string } = { prefix: "0#" };
  while (found.length < MAX_SPECS) {
    const { items } = await table.query({ index: "gsi4", pk: scope, ...range, descending: true, limit: 1 });
    const key = items[0]?.["agent_key"];
    if (typeof key !== "string") return { found, isWhole: true };
    const group = key.slice(0, -ID_LENGTH);
    found.push([group.slice("0#".length, -1), createdAtOf(key.slice(-ID_LENGTH))]);
    range = { from: "0#", before: group };
  }
  return { found, isWhole: false };
}
