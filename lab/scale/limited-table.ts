import { formatKey } from "../../shared/table/evaluate.ts";
import type { Key, Table } from "../../shared/table/table.ts";
import { measuredTable, type PartitionUnits } from "../bench/measured-table.ts";

/** What one partition of DynamoDB accepts in a second. */
const WRITE_UNITS = 1_000;
const READ_UNITS = 3_000;
/** Milliseconds for which a transaction locks its items: another transaction or write of one of them is refused meanwhile. */
const LOCK_MS = 10;

/** What the keys of one kind have used. */
export interface KeyUse {
  /** The key without its ids, such as `RUN#…`. */
  readonly kind: string;
  /** Of the partition that is used most: its units in its fullest second, as a share of the limit. */
  readonly writes: number;
  readonly reads: number;
  /** Writes that another transaction on the same item refused at their first attempt, as a share. */
  readonly conflicts: number;
}

interface Partition {
  readonly writes: Map<number, number>;
  readonly reads: Map<number, number>;
}
interface Locks {
  until: number;
  attempts: number;
  conflicts: number;
}

/**
 * A table that counts, for each partition of DynamoDB and each second of the clock, the units that calls use, and the writes that would
 * find an item locked by a transaction. A refused write is counted again, as its repetition. Nothing is delayed.
 */
export function limitedTable<T extends Table>(table: T, now: () => number) {
  let partitions = new Map<string, Partition>();
  let locks = new Map<string, Locks>();

  function use(kind: keyof Partition, all: readonly PartitionUnits[], factor = 1): void {
    const second = Math.floor(now() / 1_000);
    for (const { partition, units } of all) {
      const used = partitions.get(partition) ?? { writes: new Map(), reads: new Map() };
      partitions.set(partition, used);
      used[kind].set(second, (used[kind].get(second) ?? 0) + factor * units);
    }
  }

  return {
    table: measuredTable(table, {
      onRead: (reads) => use("reads", reads),
      onWrite({ keys, isTransaction, table: ofTable, indexes }) {
        use("writes", ofTable, lock(keys, { locks, now: now(), isTransaction }));
        use("writes", indexes);
      },
    }),
    /** Forgets what was counted so far. */
    reset() {
      partitions = new Map();
      locks = new Map();
    },
    report: () => summarize(partitions, locks),
  };
}

interface Lock {
  readonly locks: Map<string, Locks>;
  readonly now: number;
  readonly isTransaction: boolean;
}

/** Returns the number of attempts that the writes of one call take. */
function lock(keys: readonly Key[], { locks, now, isTransaction }: Lock): number {
  const items = keys.map((key) => {
    const name = formatKey(key);
    const item = locks.get(name) ?? { until: 0, attempts: 0, conflicts: 0 };
    locks.set(name, item);
    return item;
  });
  const isRefused = items.some(({ until }) => now < until);
  for (const item of items) {
    item.attempts++;
    if (now < item.until) item.conflicts++;
    if (isTransaction) item.until = Math.max(item.until, now) + LOCK_MS;
  }
  return isRefused ? 2 : 1;
}

const UUID = /[0-9a-f]{8}-[0-9a-f-]{27,}/g;
const DIGEST = /[0-9a-f]{32,64}/g;
/** A key without the ids of resources, and without the number of a shard. */
const toKind = (partition: string): string =>
  partition
    .replaceAll(UUID, "…")
    .replaceAll(DIGEST, "…")
    .replace(/#\d+(?=$|#)/g, "#n");

function summarize(partitions: ReadonlyMap<string, Partition>, locks: ReadonlyMap<string, Locks>): KeyUse[] {
  const kinds = new Map<string, { writes: number; reads: number; conflicts: number }>();
  const find = (partition: string) => {
    const kind = toKind(partition);
    const found = kinds.get(kind) ?? { writes: 0, reads: 0, conflicts: 0 };
    kinds.set(kind, found);
    return found;
  };
  const fullest = (seconds: ReadonlyMap<number, number>) => Math.max(0, ...seconds.values());
  for (const [partition, { writes, reads }] of partitions) {
    const found = find(partition);
    found.writes = Math.max(found.writes, fullest(writes) / WRITE_UNITS);
    found.reads = Math.max(found.reads, fullest(reads) / READ_UNITS);
  }
  for (const [name, { attempts, conflicts }] of locks) {
    const found = find(name.slice(0, name.indexOf("\u0000")));
    if (attempts > 20) found.conflicts = Math.max(found.conflicts, conflicts / attempts);
  }
  return [...kinds]
    .map(([kind, use]) => ({ kind, ...use }))
    .toSorted((a, b) => Math.max(b.writes, b.reads) - Math.max(a.writes, a.reads));
}
