import { notFound, RunyardError } from "#shared/errors.ts";
import { IdempotencyRecordExists } from "#shared/idempotency/idempotent-request.ts";
import { type ExecutingHead, isExecutingHead, type RunHead } from "#shared/records/run-head.ts";
import { retryOnConflict } from "#shared/table/optimistic-write.ts";
import type { Put } from "#shared/table/table.ts";
import type { RunPorts } from "./run-ports.ts";
import { RunChangedError } from "./run-store.ts";
import type { Change } from "./transition.ts";

/** The response to an execution that does not belong to the run any more: it may stop. */
export const staleExecutionError = () =>
  new RunyardError("authentication_required", {
    detail: "the run's key is no longer valid: the execution is over",
    headers: { "www-authenticate": "Bearer" },
  });

interface RetryOptions<T> {
  /** Whether another attempt may succeed after this conflict. @default every conflict is retried */
  readonly isRetried?: (conflict: RunChangedError) => boolean;
  /** What the result is where the run was deleted in the meantime. @default RunyardError 404 */
  readonly whenDeleted?: () => T;
}

/**
 * Calls `attempt` with a head that is known already, and again with the head as it is stored after each conflict. So the usual
 * case reads nothing, and what an attempt decides is decided again for each head.
 */
export async function attemptOnHead<T>(
  first: RunHead,
  { runs }: Pick<RunPorts, "runs">,
  attempt: (head: RunHead) => Promise<T>,
  { isRetried = () => true, whenDeleted = throwDeleted }: RetryOptions<T> = {},
): Promise<T> {
  let known: RunHead | undefined = first;
  const attemptOnCurrent = async () => {
    const head = known ?? (await runs.head(first.run_id));
    known = undefined;
    return head === undefined ? whenDeleted() : attempt(head);
  };
  const isConflict = (error: unknown) => error instanceof RunChangedError && isRetried(error);
  return retryOnConflict("the run is", attemptOnCurrent, { isConflict });
}

const throwDeleted = (): never => {
  throw notFound("run");
};

const throwStale = (): never => {
  throw staleExecutionError();
};

/**
 * Changes a run in one transaction with the write of a request's idempotency record, if it has one.
 * @throws IdempotencyRecordExists if that record exists. RunChangedError if the head has changed, even if it exists: the run is then read
 *   again.
 */
export async function changeWithRecord(
  head: RunHead,
  change: Change,
  record: Put | undefined,
  { runs, now }: Pick<RunPorts, "runs" | "now">,
): Promise<void> {
  try {
    await runs.change(head, { ...change, also: { idempotency: record, ...change.also } }, now());
  } catch (error) {
    if (!(error instanceof RunChangedError)) throw error;
    throw error.failed.has("idempotency") && !error.headChanged ? new IdempotencyRecordExists() : error;
  }
}

/** What changing a run, and sending messages about it, needs. */
export type ChangePorts = Pick<RunPorts, "table" | "runs" | "queue" | "now">;

type Decision<T> = { readonly change: Change; readonly result: T } | { readonly result: T };

/**
 * Applies `decide` to the current head until its change is written. What an execution may do is decided again for each
 * head, so that a concurrent change (a follow-up, a cancel) is never overwritten.
 */
export async function changeRun<T>(
  first: RunHead,
  ports: ChangePorts,
  decide: (head: RunHead) => Decision<T> | Promise<Decision<T>>,
): Promise<T> {
  return attemptOnHead(
    first,
    ports,
    async (head) => {
      const decision = await decide(head);
      if ("change" in decision) await ports.runs.change(head, decision.change, ports.now());
      return decision.result;
    },
    // The caller handles the failed condition of an item other than the head.
    { isRetried: ({ headChanged }) => headChanged, whenDeleted: throwStale },
  );
}

/** As `changeRun`, for one execution: it is refused as soon as the run has continued without it. */
export async function changeExecution<T>(
  first: ExecutingHead,
  ports: ChangePorts,
  decide: (head: ExecutingHead) => Decision<T> | Promise<Decision<T>>,
): Promise<T> {
  return changeRun(first, ports, (head) => {
    if (!isExecutingHead(head) || head.execution_id !== first.execution_id) throw staleExecutionError();
    return decide(head);
  });
}
