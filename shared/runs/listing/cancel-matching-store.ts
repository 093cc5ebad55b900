import type { IdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import type { Put, Table } from "#shared/table/table.ts";
import { writeIf } from "#shared/table/write-if.ts";

/** The record of a request to cancel many runs: it is written before any is cancelled, and gets the response afterwards. */
export function cancelMatchingStore(table: Pick<Table, "write">) {
  return {
    /** Returns false where the record exists. */
    begin: (record: Put): Promise<boolean> => writeIf(table, record),

    async saveResponse({ record: key, hash }: IdempotentRequest, result: string): Promise<void> {
      // Where the record has expired, a repeat of the request is a new request.
      await writeIf(table, { kind: "update", key, set: { result }, if: { hash: { eq: hash } } });
    },
  };
}
