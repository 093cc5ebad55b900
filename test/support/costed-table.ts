import { memoryTable } from "#shared/table/memory-table.ts";
import {
  INDEXES,
  type IndexName,
  type Item,
  type Key,
  type TransactionWrite,
  type Write,
} from "#shared/table/table.ts";
import { sizeOfItem } from "../../lab/bench/item-size.ts";

/** What DynamoDB would bill, by its published rules. */
export interface TableBill {
  calls: number;
  readUnits: number;
  writeUnits: number;
  /** Items and index entries that were returned. */
  items: number;
}

/**
 * The table in memory, with a bill. A write costs one unit for each KB of the larger of the item's two images, and twice that
 * within a transaction. It also costs the size of each index entry that it adds, changes or removes, and twice that for an
 * entry whose key changes. A strongly consistent read costs one unit for each 4 KB, and an index read half of that.
 */
export function costedTable() {
  const table = memoryTable();
  const bill: TableBill = { calls: 0, readUnits: 0, writeUnits: 0, items: 0 };

  async function written(
    writes: readonly TransactionWrite[],
    factor: number,
    write: () => Promise<void>,
  ): Promise<void> {
    bill.calls++;
    const images = async () => Promise.all(writes.map((one) => table.get(keyOf(one))));
    const before = await images();
    await write();
    const after = await images();
    for (const index of writes.keys()) bill.writeUnits += calculateCost(before[index], after[index], factor);
  }
  function countItems(items: readonly (Item | undefined)[], share = 1): void {
    bill.items += items.filter((item) => item !== undefined).length;
    bill.readUnits += share * Math.max(1, Math.ceil(countBytes(items) / 4096));
  }

  return {
    ...table,
    bill,
    get: async (key: Key) => {
      bill.calls++;
      const item = await table.get(key);
      countItems([item]);
      return item;
    },
    batchGet: async (keys: readonly Key[]) => {
      bill.calls++;
      const items = await table.batchGet(keys);
      for (const item of items) countItems([item]);
      return items;
    },
    query: async (query: Parameters<typeof table.query>[0]) => {
      bill.calls++;
      const page = await table.query(query);
      countItems(page.items, query.index === undefined ? 1 : 0.5);
      return page;
    },
    write: (write: Write) => written([write], 1, () => table.write(write)),
    transact: (writes: readonly TransactionWrite[]) => written(writes, 2, () => table.transact(writes)),
  };
}
export type CostedTable = ReturnType<typeof costedTable>;

/** Measures the bill of some work. */
export async function measureBill<T>(
  table: CostedTable,
  work: () => Promise<T>,
): Promise<{ bill: TableBill; result: T }> {
  const before = { ...table.bill };
  const result = await work();
  const { calls, readUnits, writeUnits, items } = table.bill;
  const bill = {
    calls: calls - before.calls,
    readUnits: readUnits - before.readUnits,
    writeUnits: writeUnits - before.writeUnits,
    items: items - before.items,
  };
  return { bill, result };
}

function calculateCost(before: Item | undefined, after: Item | undefined, factor: number): number {
  const inTable = factor * Math.max(1, kilobytes(before), kilobytes(after));
  const names: readonly IndexName[] = ["gsi1", "gsi2", "gsi3", "gsi4", "gsi5", "gsi6", "gsi7"];
  return names.reduce((sum, name) => sum + indexCost(toEntry(name, before), toEntry(name, after), name), inTable);
}

function indexCost(before: Item | undefined, after: Item | undefined, name: IndexName): number {
  if (before === undefined || after === undefined) return kilobytes(before) + kilobytes(after);
  const { pk, sk } = INDEXES[name];
  if (before[pk] !== after[pk] || before[sk] !== after[sk]) return kilobytes(before) + kilobytes(after);
  const hasChanged = INDEXES[name].carries.some((one) => JSON.stringify(before[one]) !== JSON.stringify(after[one]));
  return hasChanged ? Math.max(kilobytes(before), kilobytes(after)) : 0;
}

/** The item's entry in the index, if it has one. */
function toEntry(name: IndexName, item: Item | undefined): Item | undefined {
  const { pk, sk, carries } = INDEXES[name];
  if (item?.[pk] === undefined || item[sk] === undefined) return undefined;
  const names = new Set(["pk", "sk", pk, sk, ...carries]);
  const entry = Object.fromEntries(Object.entries(item).filter(([attribute]) => names.has(attribute)));
  return { ...entry, pk: item.pk, sk: item.sk };
}

const kilobytes = (item: Item | undefined): number => Math.ceil(countBytes([item]) / 1024);
const countBytes = (items: readonly (Item | undefined)[]): number =>
  items.reduce((sum, item) => sum + (item === undefined ? 0 : sizeOfItem(item)), 0);
const keyOf = (write: TransactionWrite): Key => (write.kind === "put" ? write.item : write.key);
