import type { Table, TransactionWrite } from "../../shared/table/table.ts";
import { buildItems, type ListedRun } from "./listed-run.ts";

/** Items in one transaction; a transaction has at most 100. */
const BATCH = 90;
const BATCHES_AT_ONCE = 20;

/** Writes what lists read of the runs. */
export async function fillTable(table: Table, runs: Iterable<ListedRun>): Promise<void> {
  let waiting: TransactionWrite[] = [];
  const underWay = new Set<Promise<void>>();
  const flush = async () => {
    const batch = table.transact(waiting);
    waiting = [];
    underWay.add(batch);
    void batch.finally(() => underWay.delete(batch));
    if (underWay.size >= BATCHES_AT_ONCE) await Promise.race(underWay);
  };
  for (const run of runs) {
    const items = await buildItems(run);
    if (waiting.length + items.length > BATCH) await flush();
    waiting.push(...items.map((item) => ({ kind: "put" as const, item })));
  }
  await flush();
  await Promise.all(underWay);
}
