import { sha256 } from "#shared/ids.ts";
import { keys } from "#shared/table/keys.ts";
import type { Put, Table } from "#shared/table/table.ts";

/** The write that marks a client event of a run as stored; its condition fails if the event is stored already. */
export const markClientEvent = (runId: string, eventId: string): Put => ({
  kind: "put",
  item: { ...keys.clientEvent(runId, eventId), v: 1 },
  if: { pk: { exists: false } },
});

export async function isClientEventStored(runId: string, eventId: string, table: Pick<Table, "get">): Promise<boolean> {
  return (await table.get(keys.clientEvent(runId, eventId))) !== undefined;
}

/** True if the user was notified of the same message of the run before. */
export async function isNotified(runId: string, message: string, table: Pick<Table, "get">): Promise<boolean> {
  return (await table.get(keys.notification(runId, sha256(message)))) !== undefined;
}

/** The write that marks a message of a run as one that its user is notified of. */
export const markNotified = (runId: string, message: string): Put => ({
  kind: "put",
  item: { ...keys.notification(runId, sha256(message)), v: 1 },
});
