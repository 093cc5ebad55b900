import { RunyardError } from "#shared/errors.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { type ExecutingHead, isExecutingHead, type RunHead } from "#shared/records/run-head.ts";
import { type ChangePorts, staleExecutionError } from "#shared/runs/change-run.ts";
import { HARNESS_PROTOCOL } from "#shared/wire/protocol.ts";
import { beginExecution, isUnstartedLocal } from "./begin-execution.ts";

/**
 * Authorizes a call by the execution of the run `runId`, by default of the key's own run. The execution must be active, and the
 * calling harness must be the first one that called. The first call begins an execution that the service did not start.
 */
export async function authorizeExecution(
  principal: Principal,
  header: (name: string) => string | undefined,
  ports: ChangePorts,
  runId?: string,
): Promise<ExecutingHead> {
  if (principal.kind !== "run")
    throw new RunyardError("not_authorized", { detail: "this endpoint accepts only the key of a run" });
  if (runId !== undefined && runId !== principal.head.run_id) {
    throw new RunyardError("not_authorized", { detail: "a run's key gives access to its own run only" });
  }
  const { head } = principal;
  if (isUnstartedLocal(head) || head.state === "CLAIMED")
    return beginExecution(head, header("runyard-instance"), ports);
  if (!isExecutingHead(head)) throw staleExecutionError();
  assertHarnessInstance(head, header);
  return head;
}

/** Authorizes a read by an execution, which does not begin it. */
export function authorizeExecutionRead(principal: Principal, header: (name: string) => string | undefined): RunHead {
  if (principal.kind !== "run")
    throw new RunyardError("not_authorized", { detail: "this endpoint accepts only the key of a run" });
  assertHarnessInstance(principal.head, header);
  return principal.head;
}

/** Refuses a request whose execution id differs from that of its key. */
export function assertSameExecution(head: ExecutingHead, executionId: string): void {
  if (head.execution_id !== executionId) throw staleExecutionError();
}

/** Refuses calls by another instance of the same execution. A caller without the header is a worker's own harness. */
export function assertHarnessInstance(head: RunHead, header: (name: string) => string | undefined): void {
  const protocol = header("runyard-protocol") ?? String(HARNESS_PROTOCOL);
  if (!/^-?\d+$/.test(protocol) || Number(protocol) < HARNESS_PROTOCOL - 1) {
    throw new RunyardError("invalid_request", {
      status: 426,
      detail: `Runyard-Protocol: the service uses version ${HARNESS_PROTOCOL}; the harness is too old`,
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
