import { keys, type Owner } from "#shared/table/keys.ts";
import type { Put, Table } from "#shared/table/table.ts";

/** The write by which a run of an owner is found by the URL of something outside of the service. */
export const putReference = (owner: Owner, url: string, runId: string): Put => ({
  kind: "put",
  item: { ...keys.reference(owner, url, runId), v: 1, run_id: runId },
});

/** Lists the latest runs of an owner that refer to a URL, newest first. */
export async function listReferringRuns(
  owner: Owner,
  url: string,
  limit: number,
  table: Pick<Table, "query">,
): Promise<string[]> {
  const { pk, sk: prefix } = keys.reference(owner, url, "");
  const { items } = await table.query({ pk, prefix, descending: true, limit });
  return items.map(({ sk }) => sk.slice(prefix.length));
}
