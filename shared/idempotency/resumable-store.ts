import type { Put, Table } from "#shared/table/table.ts";
import { writeIf } from "#shared/table/write-if.ts";
import type { IdempotentRequest } from "./idempotent-request.ts";

/** The record of a request that changes many things: it is written before the first change, and gets the response after the last. */
export function resumableStore(table: Pick<Table, "write">) {
  return {
    /** Returns false where the record exists. */
    begin: (record: Put): Promise<boolean> => writeIf(table, record),

    async saveResponse({ record: key, hash }: IdempotentRequest, result: string): Promise<void> {
      // Where the record has expired, a repeat of the request is a new request.
      await writeIf(table, { kind: "update", key, set: { result }, if: { hash: { eq: hash } } });
    },
  };
}
