import type { Table } from "#shared/table/table.ts";
import { IdempotencyRecordExists, type IdempotentRequest, runIdempotent } from "./idempotent-request.ts";
import { resumableStore } from "./resumable-store.ts";

interface ResumableWork<T> {
  /**
   * Finds what the request is about. The record keeps it, so that a repeat is about the same things. By default, `run` finds
   * them itself.
   */
  readonly plan?: () => Promise<string>;
  /** Does what is not done yet. */
  readonly run: (plan: string) => Promise<T>;
  /** Reads a stored response. */
  readonly parse: (kept: string) => T;
}

interface ResumedResponse<T> {
  readonly response: T;
  readonly replayed: boolean;
}

/** What a record holds until it gets the response; records of earlier versions hold nothing. */
const PLAN = "plan:";

const noPlan = async (): Promise<string> => "";

/**
 * Runs a request that changes many things, each in a transaction of its own. The record of the request is written first and
 * its response last: a repeat gets the same response, and where the first attempt was interrupted, a repeat continues it.
 */
export async function runResumable<T>(
  { table, now }: { readonly table: Table; readonly now: () => number },
  once: IdempotentRequest,
  { plan = noPlan, run, parse }: ResumableWork<T>,
): Promise<ResumedResponse<T>> {
  const store = resumableStore(table);
  const runAndSave = async (planned: string): Promise<T> => {
    const response = await run(planned);
    await store.saveResponse(once, JSON.stringify(response));
    return response;
  };
  const resume = async (kept: string): Promise<T> => {
    if (kept.startsWith(PLAN)) return runAndSave(kept.slice(PLAN.length));
    return kept === "" ? runAndSave(await plan()) : parse(kept);
  };
  return runIdempotent<ResumedResponse<T>>(
    table,
    once,
    now,
    async (record) => {
      const planned = await plan();
      if (!(await store.begin(record(PLAN + planned)))) throw new IdempotencyRecordExists();
      return { response: await runAndSave(planned), replayed: false };
    },
    async (kept) => ({ response: await resume(kept), replayed: true }),
  );
}
