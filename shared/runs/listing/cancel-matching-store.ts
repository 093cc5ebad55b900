import type { IdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { ConditionFailed, type Put, type Table } from "#shared/table/table.ts";

/** The record of a request to cancel many runs: it is written before any is cancelled, and gets the response afterwards. */
export function cancelMatchingStore(table: Pick<Table, "write">) {
  return {
    /** Returns false where the record exists. */
    async begin(record: Put): Promise<boolean> {
      try {
        await table.write(record);
        return true;
      } catch (error) {
        if (error instanceof ConditionFailed) return false;
        throw error;
      }
    },

    async saveResponse({ record: key, hash }: IdempotentRequest, result: string): Promise<void> {
      try {
        await table.write({ kind: "update", key, set: { result }, if: { hash: { eq: hash } } });
      } catch (error) {
        // The record has expired: a repeat of the request is a new request.
        if (!(error instanceof ConditionFailed)) throw error;
      }
    },
  };
}
