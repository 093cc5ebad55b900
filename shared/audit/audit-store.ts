import { parseAuditEvent, type StoredAuditEvent } from "#shared/records/audit-event.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";

/** Events of a team, newest first: those before the place `before`, and none before `from`. */
export async function readAuditEvents(
  team: string,
  { from, before, limit }: { readonly from: string; readonly before: string; readonly limit: number },
  table: Pick<Table, "query">,
): Promise<StoredAuditEvent[]> {
  const { pk, sk } = keys.auditEvent(team, from);
  const end = keys.auditEvent(team, before).sk;
  // The range of a query that is empty from the start is an error.
  if (sk >= end) return [];
  const { items } = await table.query({ pk, from: sk, before: end, descending: true, limit });
  return items.map(parseAuditEvent);
}
