import * as v from "valibot";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Put, Table } from "#shared/table/table.ts";
import type { RunHead } from "./run-head.ts";

const MessageNumber = v.pipe(v.number(), v.integer());

export const SnapshotFile = v.object({
  filename: v.string(),
  mime_type: v.string(),
  size_bytes: v.number(),
  /** Its key in the bucket. */
  file: v.string(),
});
export type SnapshotFile = v.InferOutput<typeof SnapshotFile>;

const Checkpoint = v.object({
  /** The committed snapshot; absent where the run continues from its beginning. */
  generation: v.exactOptional(v.string()),
  execution_id: v.exactOptional(v.string()),
  files: v.array(SnapshotFile),
  /** Number of messages and follow-ups that were stored when the snapshot was taken. */
  messages: MessageNumber,
  followups: MessageNumber,
  /** First and last number of messages that came after a checkpoint from which the run then continued. */
  superseded: v.array(v.strictTuple([MessageNumber, MessageNumber])),
});

/** Where a run continues when its execution is lost or uses up its time, and which messages are discarded by that. */
export type Checkpoint = v.InferOutput<typeof Checkpoint>;

/** The beginning of the run. */
export const BEGINNING: Checkpoint = { files: [], messages: 0, followups: 0, superseded: [] };

const parseCheckpoint = (item: Item | undefined): Checkpoint =>
  item === undefined ? BEGINNING : v.parse(Checkpoint, item);

/** A run's checkpoint; only read where its head says that it has one. */
export async function loadCheckpoint(head: RunHead, { table }: { readonly table: Table }): Promise<Checkpoint> {
  return head.checkpoint === true ? parseCheckpoint(await table.get(keys.checkpoint(head.run_id))) : BEGINNING;
}

/** The checkpoints of any number of runs, in their order. */
export async function loadCheckpoints(
  runIds: readonly string[],
  { table }: { readonly table: Table },
): Promise<Checkpoint[]> {
  const items = await batchGetAll(runIds.map(keys.checkpoint), table);
  return items.map(parseCheckpoint);
}

/** Written together with `checkpoint: true` of the head. */
export const putCheckpoint = (runId: string, checkpoint: Checkpoint): Put => ({
  kind: "put",
  item: { ...keys.checkpoint(runId), v: 1, ...checkpoint },
});

/** False for a message that came after a checkpoint from which the run then continued: it is not part of the conversation. */
export const isLive = ({ superseded }: Checkpoint, number: number): boolean =>
  superseded.every(([first, last]) => number < first || number > last);

/** The checkpoint after the run continues from it; undefined if no message is discarded by that. */
export function resetToCheckpoint(checkpoint: Checkpoint, head: RunHead): Checkpoint | undefined {
  const first = checkpoint.messages + 1;
  if (head.messages < first) return undefined;
  const before = checkpoint.superseded.filter(([from]) => from < first);
  return { ...checkpoint, superseded: [...before, [first, head.messages]] };
}
