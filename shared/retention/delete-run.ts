import { type FileRemoval, runFilePrefixes } from "#shared/files/file-store.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import type { EndedHead } from "#shared/records/run-head.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { deletionStore } from "./deletion-store.ts";

export interface RetentionPorts {
  readonly table: Table;
  readonly fileRemoval: FileRemoval;
  readonly now: () => number;
}

/**
 * Deletes a run that has ended, with all its items and files. Its usage stays in the reports of its owner.
 * @returns false if the run has changed since its head was read; then nothing is deleted
 */
export async function deleteRun(head: EndedHead, body: RunBody, ports: RetentionPorts): Promise<boolean> {
  try {
    await deletionStore(ports.table).begin(head, body);
  } catch (error) {
    if (error instanceof ConflictError) return false;
    throw error;
  }
  await completeDeletion(head.run_id, ports);
  return true;
}

/** Deletes what is left of a run whose deletion has begun. Can be repeated, also at the same time. */
export async function completeDeletion(runId: string, { table, fileRemoval }: RetentionPorts): Promise<void> {
  const deletions = deletionStore(table);
  const deletion = await deletions.find(runId);
  if (deletion === undefined) return;
  for (const prefix of runFilePrefixes(runId)) await fileRemoval.removeAll(prefix);
  for (const file of deletion.files) await fileRemoval.remove(file);
  await deletions.complete(runId, deletion);
}
