import {
  INDEXES,
  type Item,
  type Key,
  type Page,
  type Query,
  type Table,
  type TransactionWrite,
} from "#shared/table/table.ts";
import { sizeOfItem } from "../bench/item-size.ts";

/** What one partition of DynamoDB accepts in a second. */
const WRITE_UNITS = 1_000;
const READ_UNITS = 3_000;
const KILOBYTE = 1_024;
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

type Use = (partition: string, kind: keyof Partition, units: number) => void;

/**
 * A table that counts, for each partition of DynamoDB and each second of the clock, the units that calls use, and the writes that would
 * find an item locked by a transaction. A refused write is counted again, as its repetition. Nothing is delayed.
 */
export function limitedTable<T extends Table>(table: T, now: () => number) {
  let partitions = new Map<string, Partition>();
  let locks = new Map<string, Locks>();

  function use(partition: string, kind: keyof Partition, units: number): void {
    const used = partitions.get(partition) ?? { writes: new Map(), reads: new Map() };
    partitions.set(partition, used);
    const second = Math.floor(now() / 1_000);
    used[kind].set(second, (used[kind].get(second) ?? 0) + units);
  }
  async function counted(
    writes: readonly TransactionWrite[],
    factor: number,
    write: () => Promise<void>,
  ): Promise<void> {
    const keys = writes.map(keyOf);
    const before = await table.batchGet(keys);
    const attempts = lock(keys, { locks, now: now(), isTransaction: factor > 1 });
    try {
      await write();
    } finally {
      const after = await table.batchGet(keys);
      for (const [index, { pk }] of keys.entries()) {
        const [old, item] = [before[index], after[index]];
        const bytes = Math.max(bytesOf(old), bytesOf(item));
        use(pk, "writes", attempts * factor * Math.max(1, Math.ceil(bytes / KILOBYTE)));
        countIndexes(old, item, use);
      }
    }
  }

  const limited = {
    ...table,
    ...countReads(table, use),
    write: (write: Parameters<Table["write"]>[0]) => counted([write], 1, () => table.write(write)),
    transact: (writes: readonly TransactionWrite[]) => counted(writes, 2, () => table.transact(writes)),
  };
  return {
    table: limited,
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
  const items = keys.map(({ pk, sk }) => {
    const name = `${pk}\u0000${sk}`;
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

/** Consistent reads of the table cost a unit for each 4 KB, and reads of an index half of that. */
function countReads(table: Table, use: Use): Pick<Table, "get" | "batchGet" | "query"> {
  function read(partition: string, items: readonly (Item | undefined)[], factor: number): void {
    const bytes = items.reduce((sum, item) => sum + bytesOf(item), 0);
    use(partition, "reads", factor * Math.max(1, Math.ceil(bytes / 4 / KILOBYTE)));
  }
  return {
    async get(key) {
      const item = await table.get(key);
      read(key.pk, [item], 1);
      return item;
    },
    async batchGet(keys) {
      const items = await table.batchGet(keys);
      for (const [index, { pk }] of keys.entries()) read(pk, [items[index]], 1);
      return items;
    },
    async query(query: Query): Promise<Page> {
      const page = await table.query(query);
      if (query.index === undefined) read(query.pk, page.items, 1);
      else read(`${query.index} ${query.pk}`, page.items, 0.5);
      return page;
    },
  };
}

const bytesOf = (item: Item | undefined): number => (item === undefined ? 0 : sizeOfItem(item));
const keyOf = (write: TransactionWrite): Key =>
  write.kind === "put" ? { pk: write.item.pk, sk: write.item.sk } : write.key;

/** An entry of an index that appears, changes or goes is written; one whose key changes is written twice. */
function countIndexes(old: Item | undefined, item: Item | undefined, use: Use): void {
  for (const [name, { pk, sk, carries }] of Object.entries(INDEXES)) {
    const entryOf = (image: Item | undefined) =>
      image === undefined || image[pk] === undefined || image[sk] === undefined
        ? undefined
        : {
            pk: String(image[pk]),
            text: JSON.stringify([image[pk], image[sk], carries.map((attribute) => image[attribute])]),
          };
    const [left, entered] = [entryOf(old), entryOf(item)];
    if (left?.text === entered?.text) continue;
    const isMoved = left !== undefined && entered !== undefined && old?.[sk] !== item?.[sk];
    if (left !== undefined && (entered === undefined || isMoved)) use(`${name} ${left.pk}`, "writes", 1);
    if (entered !== undefined) use(`${name} ${entered.pk}`, "writes", 1);
  }
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
