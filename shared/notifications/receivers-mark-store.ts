import { keys } from "#shared/table/keys.ts";
import type { Put, Table } from "#shared/table/table.ts";

/** The write that marks that something receives events of runs. */
export const putReceiversMark = (): Put => ({ kind: "put", item: { ...keys.webhooksExist(), v: 1 } });

/** True if something receives events of the deployment's runs, or did: a webhook, or the URL that a run notifies. */
export const hasReceivers = async (table: Pick<Table, "get">): Promise<boolean> =>
  (await table.get(keys.webhooksExist())) !== undefined;

/** Marks that something receives events of runs, unless that is marked: many runs would otherwise write the same item. */
export async function markReceivers(table: Table): Promise<void> {
  if (!(await hasReceivers(table))) await table.write(putReceiversMark());
}
