import { batchGetAll } from "#shared/table/batch-get.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { parseRunHead, type RunHead } from "./run-head.ts";

export async function readRunHead(runId: string, table: Pick<Table, "get">): Promise<RunHead | undefined> {
  const item = await table.get(keys.head(runId));
  return item === undefined ? undefined : parseRunHead(item);
}

/** Reads the heads of different runs, in their order; a run that is not there is left out. */
export async function readRunHeads(runIds: readonly string[], table: Pick<Table, "batchGet">): Promise<RunHead[]> {
  const items = await batchGetAll(runIds.map(keys.head), table);
  return items.filter((item) => item !== undefined).map(parseRunHead);
}
