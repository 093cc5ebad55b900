import { readUsage } from "#shared/records/budget-account.ts";
import { toRoundedUsd } from "#shared/records/money.ts";
import { type RunBody, readBodies } from "#shared/records/run-body.ts";
import { parseRunId, type RunHead, readHeads } from "#shared/records/run-head.ts";
import { computeCost } from "#shared/records/run-time.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Item, Table } from "#shared/table/table.ts";
import {
  createBodyMatcher,
  type Filters,
  type FoundRun,
  matchesArchived,
  matchesEntry,
  matchesHead,
  needsBody,
  needsHead,
} from "./filters.ts";
import { type Order, positionOf } from "./order.ts";

/** A run that matches, with the items that had to be read to decide that. */
export interface Candidate {
  readonly id: string;
  readonly position: string;
  readonly head?: RunHead;
  readonly body?: RunBody;
}

interface Matching {
  readonly scopes: readonly string[];
  readonly order: Order;
  /** The filters that the sources do not apply. */
  readonly filters: Filters;
  readonly wanted: number;
}

/** Candidates that are read together; the next ones only where these were not enough. */
const MATCHED_TOGETHER = 400;

/**
 * Creates a test that finds which runs of some index entries match: first by the entries only, then by the heads where a
 * filter needs them, since states and times change, then by the bodies, which are larger.
 */
export function createMatcher(
  { scopes, order, filters, wanted }: Matching,
  { table, now, sandboxUsdPerHour }: Pick<RunPorts, "table" | "now" | "sandboxUsdPerHour">,
) {
  const { minCostUsd } = filters;
  const isBodyMatch = createBodyMatcher(filters);

  async function byHead(some: readonly Candidate[]): Promise<Candidate[]> {
    const heads = await readMissingHeads(some, table);
    return some.flatMap((one, index) => {
      const head = heads[index];
      return head !== undefined && scopes.includes(head.scope) && matchesHead(head, filters) ? [{ ...one, head }] : [];
    });
  }
  /** No index has the cost of a run, which each call of a model changes. */
  async function byCost(some: readonly Candidate[], least: number): Promise<Candidate[]> {
    const heads = some.flatMap(({ head }) => head ?? []);
    const used = await readUsage(heads, table);
    const costs = new Map(
      heads.map((head, index) => {
        const compute = computeCost(head, now(), sandboxUsdPerHour) ?? 0;
        return [head.run_id, toRoundedUsd(used[index]?.cost ?? 0) + toRoundedUsd(compute)];
      }),
    );
    return some.filter(({ id }) => (costs.get(id) ?? 0) >= least);
  }
  async function byBody(some: readonly Candidate[]): Promise<Candidate[]> {
    const bodies = await readMissingBodies(some, table);
    return some.flatMap((one, index) => {
      const body = bodies[index];
      return body !== undefined && isBodyMatch(body, one.id) ? [{ ...one, body }] : [];
    });
  }

  return async (entries: readonly Item[]): Promise<Candidate[]> => {
    const matching = entries.filter((entry) => matchesEntry(entry, filters));
    const candidates = matching
      .map((entry) => ({ id: parseRunId(entry), position: positionOf(entry, order) }))
      .filter(({ id }, index, all) => id !== all[index - 1]?.id);
    const asksHeads = needsHead(filters) || matching.some(({ p }) => p === undefined);
    if (!asksHeads && !needsBody(filters)) return candidates;
    const found: Candidate[] = [];
    for (let from = 0; from < candidates.length && found.length < wanted; from += MATCHED_TOGETHER) {
      const some = candidates.slice(from, from + MATCHED_TOGETHER);
      const alive = asksHeads ? await byHead(some) : some;
      const costly = minCostUsd === undefined ? alive : await byCost(alive, minCostUsd);
      found.push(...(needsBody(filters) ? await byBody(costly) : costly));
    }
    return found;
  };
}

/**
 * Reads what was not yet read of the candidates. A run that does not exist any more, which its entry may outlive, is left out, and so
 * is one that was archived after its entry was written.
 */
export async function loadRuns(
  candidates: readonly Candidate[],
  scopes: readonly string[],
  filters: Pick<Filters, "archived">,
  { table }: Pick<RunPorts, "table">,
): Promise<(Candidate & FoundRun)[]> {
  const [heads, bodies] = await Promise.all([
    readMissingHeads(candidates, table),
    readMissingBodies(candidates, table),
  ]);
  return candidates.flatMap((one, index) => {
    const [head, body] = [heads[index], bodies[index]];
    if (head === undefined || body === undefined || !scopes.includes(head.scope)) return [];
    return matchesArchived(head.p.archived === true, filters) ? [{ ...one, head, body }] : [];
  });
}

async function readMissingHeads(some: readonly Candidate[], table: Table): Promise<(RunHead | undefined)[]> {
  const missing = some.filter(({ head }) => head === undefined).map(({ id }) => id);
  const read = toMap(missing, await readHeads(missing, table));
  return some.map(({ id, head }) => head ?? read.get(id));
}

async function readMissingBodies(some: readonly Candidate[], table: Table): Promise<(RunBody | undefined)[]> {
  const missing = some.filter(({ body }) => body === undefined).map(({ id }) => id);
  const read = toMap(missing, await readBodies(missing, table));
  return some.map(({ id, body }) => body ?? read.get(id));
}

const toMap = <T>(ids: readonly string[], values: readonly T[]): Map<string, T | undefined> =>
  new Map(ids.map((id, index) => [id, values[index]]));
