import * as v from "valibot";
import { keys } from "#shared/table/keys.ts";
import type { Item, Table } from "#shared/table/table.ts";

const ImportRecord = v.object({
  export_id: v.string(),
  begun_at: v.number(),
  completed_at: v.exactOptional(v.number()),
});
type ImportRecord = v.InferOutput<typeof ImportRecord>;

/** The record of the export that a table was filled with, so that a repeated import is recognized. */
export function importStore(table: Pick<Table, "get" | "write">) {
  const key = keys.importRecord();
  return {
    async read(): Promise<ImportRecord | undefined> {
      const item = await table.get(key);
      return item === undefined ? undefined : v.parse(ImportRecord, item);
    },
    begin: (id: string, now: number): Promise<void> =>
      table.write({ kind: "put", item: { ...key, v: 1, export_id: id, begun_at: now } }),
    complete: (id: string, now: number): Promise<void> =>
      table.write({ kind: "update", key, set: { completed_at: now }, if: { export_id: { eq: id } } }),
    isRecord: ({ pk }: Item): boolean => pk === key.pk,
  };
}
