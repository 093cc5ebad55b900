import { RunyardError } from "#shared/errors.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { type ExecutingHead, isExecutingHead, type RunHead } from "#shared/records/run-head.ts";
import { type ChangePorts, staleExecutionError } from "#shared/runs/change-run.ts";
import { HARNESS_PROTOCOL } from "#shared/wire/protocol.ts";
import { begin, isUnstartedLocal } from "./begin-execution.ts";

/**
 * The execution that calls about the run `runId`, or about its own where none is named. It must be at work, and the harness
 * that calls must be the one that came first. Where nobody of ours started it, its first call begins the work.
 */
export async function authorizeExecution(
  principal: Principal,
  header: (name: string) => string | undefined,
  ports: ChangePorts,
  runId?: string,
): Promise<ExecutingHead> {
  if (principal.kind !== "run") throw new RunyardError("not_authorized", { detail: "this call is for run keys" });
  if (runId !== undefined && runId !== principal.head.run_id) {
    throw new RunyardError("not_authorized", { detail: "a run's key speaks for its own run alone" });
  }
  const { head } = principal;
  if (isUnstartedLocal(head) || head.state === "CLAIMED") return begin(head, header("runyard-instance"), ports);
  if (!isExecutingHead(head)) throw staleExecutionError();
  assertHarnessInstance(head, header);
  return head;
}

/** As `authorizeExecution`, for who only reads, which begins nothing. */
export function authorizeExecutionRead(principal: Principal, header: (name: string) => string | undefined): RunHead {
  if (principal.kind !== "run") throw new RunyardError("not_authorized", { detail: "this call is for run keys" });
  assertHarnessInstance(principal.head, header);
  return principal.head;
}

/** The execution id in a body must be the one that the key is for. */
export function assertSameExecution(head: ExecutingHead, executionId: string): void {
  if (head.execution_id !== executionId) throw staleExecutionError();
}

/** Another instance of the same execution may not speak; a caller without the header is a worker's own harness. */
export function assertHarnessInstance(head: RunHead, header: (name: string) => string | undefined): void {
  const protocol = header("runyard-protocol") ?? String(HARNESS_PROTOCOL);
  if (!/^-?\d+$/.test(protocol) || Number(protocol) < HARNESS_PROTOCOL - 1) {
    throw new RunyardError("invalid_request", {
      status: 426,
      detail: `Runyard-Protocol: ${HARNESS_PROTOCOL} is spoken here; the harness is too old`,
    });
  }
  const instance = header("runyard-instance");
  const bound = "instance_id" in head ? head.instance_id : undefined;
  if (instance !== undefined && bound !== undefined && bound !== instance) {
    throw new RunyardError("conflict", {
      detail: "Runyard-Instance: another harness runs this execution",
      retryable: false,
    });
  }
}
