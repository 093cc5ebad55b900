import type { Table } from "#shared/table/table.ts";
import { IdempotencyRecordExists, type IdempotentRequest, runIdempotent } from "./idempotent-request.ts";
import { resumableStore } from "./resumable-store.ts";

interface ResumableWork<T> {
  /** Does what is not done yet. */
  readonly run: () => Promise<T>;
  /** Reads a stored response. */
  readonly parse: (kept: string) => T;
}

interface ResumedResponse<T> {
  readonly response: T;
  readonly replayed: boolean;
}

/**
 * Runs a request that changes many things, each in a transaction of its own. The record of the request is written first and
 * its response last: a repeat gets the same response, and where the first attempt was interrupted, a repeat continues it.
 */
export async function runResumable<T>(
  { table, now }: { readonly table: Table; readonly now: () => number },
  once: IdempotentRequest,
  { run, parse }: ResumableWork<T>,
): Promise<ResumedResponse<T>> {
  const store = resumableStore(table);
  const runAndSave = async (): Promise<T> => {
    const response = await run();
    await store.saveResponse(once, JSON.stringify(response));
    return response;
  };
  return runIdempotent<ResumedResponse<T>>(
    table,
    once,
    now,
    async (record) => {
      if (!(await store.begin(record("")))) throw new IdempotencyRecordExists();
      return { response: await runAndSave(), replayed: false };
    },
    async (kept) => ({ response: kept === "" ? await runAndSave() : parse(kept), replayed: true }),
  );
}
