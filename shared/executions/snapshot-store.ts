import * as v from "valibot";
import { SnapshotFile } from "#shared/records/checkpoint.ts";
import { keys } from "#shared/table/keys.ts";
import type { Put, Table } from "#shared/table/table.ts";

const Snapshot = v.object({
  /** Without size or digest, a file is uploaded with a form. */
  files: v.array(
    v.object({ ...SnapshotFile.entries, size_bytes: v.exactOptional(v.number()), sha256: v.exactOptional(v.string()) }),
  ),
  /** Messages and follow-ups that were stored when the snapshot was created. */
  messages: v.number(),
  followups: v.number(),
});
export type Snapshot = v.InferOutput<typeof Snapshot>;

/** The execution that a snapshot belongs to. */
interface Execution {
  readonly run_id: string;
  readonly execution_id: string;
}

/** Reads the snapshot of an execution with the name `generation`; undefined if there is none. */
export async function readSnapshot(
  { run_id, execution_id }: Execution,
  generation: string,
  table: Pick<Table, "get">,
): Promise<Snapshot | undefined> {
  const item = await table.get(keys.snapshot(run_id, execution_id, generation));
  return item === undefined ? undefined : v.parse(Snapshot, item);
}

/** The write that stores a snapshot. */
export const putSnapshot = ({ run_id, execution_id }: Execution, generation: string, snapshot: Snapshot): Put => ({
  kind: "put",
  item: { ...keys.snapshot(run_id, execution_id, generation), v: 1, ...snapshot },
});
