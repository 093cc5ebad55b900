import { parseRunBody, type RunBody } from "#shared/records/run-body.ts";
import { parseRunHead, type RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Key, Table } from "#shared/table/table.ts";
import {
  bodyMatcher,
  type Filters,
  type FoundRun,
  matchesEntry,
  matchesHead,
  needsBody,
  needsHead,
  runIdOf,
} from "./filters.ts";
import { type Order, positionOf } from "./sources.ts";

/** A run that is one of the list's, as far as it had to be read to know. */
export interface Candidate {
  readonly id: string;
  readonly position: string;
  readonly head?: RunHead;
  readonly body?: RunBody;
}

interface Sifting {
  readonly scopes: readonly string[];
  readonly order: Order;
  /** What the sources leave to be looked at. */
  readonly filters: Filters;
  readonly wanted: number;
}

const KEYS_A_BATCH = 100;
/** Candidates that are read together; those behind them only where these were not enough. */
const SIFTED_TOGETHER = 400;

/**
 * Which runs of some index entries match. What an entry tells is looked at first, then the heads where a filter needs
 * them, since states and times move, then the bodies, which are larger.
 */
export function createMatcher({ scopes, order, filters, wanted }: Sifting, { table }: Pick<RunPorts, "table">) {
  const isBodyMatch = bodyMatcher(filters);

  async function byHead(some: readonly Candidate[]): Promise<Candidate[]> {
    const heads = await headsOf(some, table);
    return some.flatMap((one, index) => {
      const head = heads[index];
      return head !== undefined && scopes.includes(head.scope) && matchesHead(head, filters) ? [{ ...one, head }] : [];
    });
  }
  async function byBody(some: readonly Candidate[]): Promise<Candidate[]> {
    const bodies = await bodiesOf(some, table);
    return some.flatMap((one, index) => {
      const body = bodies[index];
      return body !== undefined && isBodyMatch(body) ? [{ ...one, body }] : [];
    });
  }

  return async (entries: readonly Item[]): Promise<Candidate[]> => {
    const matching = entries.filter((entry) => matchesEntry(entry, filters));
    const candidates = matching.map((entry) => ({ id: runIdOf(entry), position: positionOf(entry, order) }));
    const asksHeads = needsHead(filters) || matching.some(({ p }) => p === undefined);
    if (!asksHeads && !needsBody(filters)) return candidates;
    const found: Candidate[] = [];
    for (let from = 0; from < candidates.length && found.length < wanted; from += SIFTED_TOGETHER) {
      const some = candidates.slice(from, from + SIFTED_TOGETHER);
      const alive = asksHeads ? await byHead(some) : some;
      found.push(...(needsBody(filters) ? await byBody(alive) : alive));
    }
    return found;
  };
}

/** The candidates with what was not yet read of them. A run that is gone, which its entry may outlive, is left out. */
export async function loaded(
  candidates: readonly Candidate[],
  scopes: readonly string[],
  { table }: Pick<RunPorts, "table">,
): Promise<(Candidate & FoundRun)[]> {
  const [heads, bodies] = await Promise.all([headsOf(candidates, table), bodiesOf(candidates, table)]);
  return candidates.flatMap((one, index) => {
    const [head, body] = [heads[index], bodies[index]];
    return head !== undefined && body !== undefined && scopes.includes(head.scope) ? [{ ...one, head, body }] : [];
  });
}

async function headsOf(some: readonly Candidate[], table: Table): Promise<(RunHead | undefined)[]> {
  const items = await itemsOf(
    some.filter(({ head }) => head === undefined).map(({ id }) => keys.head(id)),
    table,
  );
  return some.map(({ id, head }) => head ?? parsed(items.get(keys.head(id).pk), parseRunHead));
}

async function bodiesOf(some: readonly Candidate[], table: Table): Promise<(RunBody | undefined)[]> {
  const items = await itemsOf(
    some.filter(({ body }) => body === undefined).map(({ id }) => keys.body(id)),
    table,
  );
  return some.map(({ id, body }) => body ?? parsed(items.get(keys.body(id).pk), parseRunBody));
}

const parsed = <T>(item: Item | undefined, parse: (item: Item) => T): T | undefined =>
  item === undefined ? undefined : parse(item);

/** Items by the first part of their keys. */
async function itemsOf(wanted: readonly Key[], table: Table): Promise<Map<string, Item>> {
  const batches = Array.from({ length: Math.ceil(wanted.length / KEYS_A_BATCH) }, (_, batch) =>
    table.batchGet(wanted.slice(batch * KEYS_A_BATCH, (batch + 1) * KEYS_A_BATCH)),
  );
  const items = (await Promise.all(batches)).flat().filter((item) => item !== undefined);
  return new Map(items.map((item) => [item.pk, item]));
}
