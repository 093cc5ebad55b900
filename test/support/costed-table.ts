import { memoryTable } from "#shared/table/memory-table.ts";
import { measuredTable, type PartitionUnits } from "../../lab/bench/measured-table.ts";

/** What DynamoDB would bill, by its published rules. */
export interface TableBill {
  calls: number;
  readUnits: number;
  writeUnits: number;
  /** Items and index entries that were returned. */
  items: number;
}

/** The table in memory, with a bill of what it has read and written. */
export function costedTable() {
  const bill: TableBill = { calls: 0, readUnits: 0, writeUnits: 0, items: 0 };
  const table = measuredTable(memoryTable(), {
    onRead(reads) {
      bill.calls++;
      bill.readUnits += sumUnits(reads);
      bill.items += reads.reduce((sum, { items }) => sum + items, 0);
    },
    onWrite({ hasFailed, table: ofTable, indexes }) {
      bill.calls++;
      if (!hasFailed) bill.writeUnits += sumUnits([...ofTable, ...indexes]);
    },
  });
  return { ...table, bill };
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

const sumUnits = (all: readonly PartitionUnits[]): number => all.reduce((sum, { units }) => sum + units, 0);
