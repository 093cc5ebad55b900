import { type FileRemoval, runFilePrefixes, TURN_FOLDERS } from "#shared/files/file-store.ts";
import { readTurns } from "#shared/records/kept-turns.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import type { EndedHead } from "#shared/records/run-head.ts";
import type { Table } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { deletionStore, listPromptFiles } from "./deletion-store.ts";

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

/**
 * Deletes what is left of a run whose deletion has begun. Can be repeated, also at the same time.
 * @returns false if it is too early for that
 */
export async function completeDeletion(runId: string, { table, fileRemoval, now }: RetentionPorts): Promise<boolean> {
  const deletions = deletionStore(table);
  const deletion = await deletions.find(runId);
  if (deletion === undefined) return true;
  if (deletion.not_before !== undefined && now() < deletion.not_before) return false;
  const { dropped = [], conversation_id: conversation } = deletion;
  const turns = await readTurns(dropped, table);
  for (const [index, id] of dropped.entries()) {
    const body = turns[index]?.body;
    await removeFiles(id, body === undefined ? [] : listPromptFiles(body), []);
    await deletions.dropTurns(id, conversation);
  }
  await removeFiles(runId, deletion.files, deletion.keeps_turns === true ? TURN_FOLDERS : []);
  await deletions.complete(runId, deletion);
  return true;

  async function removeFiles(id: string, files: readonly string[], kept: readonly string[]): Promise<void> {
    for (const prefix of runFilePrefixes(id)) await fileRemoval.removeAll(prefix, kept);
    for (const file of files) await fileRemoval.remove(file);
  }
}
