import { keyOf, makeProjection } from "../../shared/table/evaluate.ts";
import {
  INDEXES,
  type IndexName,
  type Item,
  type Key,
  type Query,
  type Table,
  type TransactionWrite,
  type Write,
} from "../../shared/table/table.ts";
import { sizeOfItem } from "./item-size.ts";

/** Units of one partition, of the table or of an index. */
export interface PartitionUnits {
  /** The partition key, after the name of the index for a partition of an index. */
  readonly partition: string;
  readonly units: number;
}

export interface MeasuredRead extends PartitionUnits {
  /** Items and index entries that were returned. */
  readonly items: number;
}

export interface MeasuredWrites {
  readonly keys: readonly Key[];
  readonly isTransaction: boolean;
  /** True if nothing was written. */
  readonly hasFailed: boolean;
  /** Of each item in the table, in the order of the keys. */
  readonly table: readonly PartitionUnits[];
  /** Of the index entries of all items. */
  readonly indexes: readonly PartitionUnits[];
}

interface Meter {
  /** Is called for each call that reads. */
  readonly onRead: (reads: readonly MeasuredRead[]) => void;
  /** Is called for each call that writes. */
  readonly onWrite: (writes: MeasuredWrites) => void;
}

/**
 * Measures the units that calls use, by DynamoDB's published rules. A write costs one unit for each KB of the larger of the item's two
 * images, and twice that within a transaction. It also costs the size of each index entry that it adds, changes or removes, and twice
 * that for an entry whose key changes. A strongly consistent read costs one unit for each 4 KB, and an index read half of that.
 */
export function measuredTable<T extends Table>(table: T, { onRead, onWrite }: Meter) {
  async function measure(
    writes: readonly TransactionWrite[],
    isTransaction: boolean,
    write: () => Promise<void>,
  ): Promise<void> {
    const keys = writes.map(keyOf);
    const before = await table.batchGet(keys);
    let hasFailed = true;
    try {
      await write();
      hasFailed = false;
    } finally {
      const after = await table.batchGet(keys);
      const factor = isTransaction ? 2 : 1;
      onWrite({
        ...{ keys, isTransaction, hasFailed },
        table: keys.map(({ pk }, index) => {
          return { partition: pk, units: factor * Math.max(1, kilobytes(before[index]), kilobytes(after[index])) };
        }),
        indexes: keys.flatMap((_, index) => measureIndexes(before[index], after[index])),
      });
    }
  }

  return {
    ...table,
    async get(key: Key) {
      const item = await table.get(key);
      onRead([measureRead(key.pk, [item])]);
      return item;
    },
    async batchGet(keys: readonly Key[]) {
      const items = await table.batchGet(keys);
      onRead(keys.map(({ pk }, index) => measureRead(pk, [items[index]])));
      return items;
    },
    async query(query: Query) {
      const page = await table.query(query);
      const { index, pk } = query;
      onRead([index === undefined ? measureRead(pk, page.items) : measureRead(`${index} ${pk}`, page.items, 0.5)]);
      return page;
    },
    write: (write: Write) => measure([write], false, () => table.write(write)),
    transact: (writes: readonly TransactionWrite[]) => measure(writes, true, () => table.transact(writes)),
  };
}

function measureRead(partition: string, items: readonly (Item | undefined)[], factor = 1): MeasuredRead {
  const units = factor * Math.max(1, Math.ceil(countBytes(items) / 4096));
  return { partition, units, items: items.filter((item) => item !== undefined).length };
}

const measureIndexes = (before: Item | undefined, after: Item | undefined): PartitionUnits[] =>
  INDEX_NAMES.flatMap((name) => measureIndex(name, toEntry(name, before), toEntry(name, after)));

const INDEX_NAMES: readonly IndexName[] = ["gsi1", "gsi2", "gsi3", "gsi4", "gsi5", "gsi6", "gsi7"];

function measureIndex(name: IndexName, before: Item | undefined, after: Item | undefined): PartitionUnits[] {
  const { pk, sk, carries } = INDEXES[name];
  const nameOf = (entry: Item) => `${name} ${String(entry[pk])}`;
  if (before === undefined || after === undefined || before[pk] !== after[pk] || before[sk] !== after[sk]) {
    const entries = [before, after].filter((entry) => entry !== undefined);
    return entries.map((entry) => ({ partition: nameOf(entry), units: kilobytes(entry) }));
  }
  const hasChanged = carries.some((one) => JSON.stringify(before[one]) !== JSON.stringify(after[one]));
  return hasChanged ? [{ partition: nameOf(after), units: Math.max(kilobytes(before), kilobytes(after)) }] : [];
}

/** The item's entry in the index, if it has one. */
function toEntry(name: IndexName, item: Item | undefined): Item | undefined {
  const { pk, sk } = INDEXES[name];
  return item?.[pk] === undefined || item[sk] === undefined ? undefined : makeProjection(name)(item);
}

const kilobytes = (item: Item | undefined): number => Math.ceil(countBytes([item]) / 1024);
const countBytes = (items: readonly (Item | undefined)[]): number =>
  items.reduce((sum, item) => sum + (item === undefined ? 0 : sizeOfItem(item)), 0);
