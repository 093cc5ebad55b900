import { RunyardError, retryableConflict } from "#shared/errors.ts";
import { type ExecutingHead, isExecutingHead, type RunHead } from "#shared/records/run-head.ts";
import type { RunPorts } from "./run-ports.ts";
import { RunChangedError } from "./run-store.ts";
import type { Change } from "./transition.ts";

/** The response to an execution that does not belong to the run any more: it may stop. */
export const staleExecutionError = () =>
  new RunyardError("authentication_required", {
    detail: "the run's key is no longer valid: the execution is over",
    headers: { "www-authenticate": "Bearer" },
  });

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
  let head = first;
  for (let attempt = 0; attempt < 8; attempt++) {
    const decision = await decide(head);
    if (!("change" in decision)) return decision.result;
    try {
      await ports.runs.change(head, decision.change, ports.now());
      return decision.result;
    } catch (error) {
      // The caller handles the failed condition of an item other than the head.
      if (!(error instanceof RunChangedError) || !error.headChanged) throw error;
    }
    const again = await ports.runs.head(head.run_id);
    if (again === undefined) throw staleExecutionError();
    head = again;
  }
  throw retryableConflict("the run changes too fast; send the request again");
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
