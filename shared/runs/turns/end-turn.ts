import { RunyardError } from "#shared/errors.ts";
import { type IdempotentRequest, runIdempotent } from "#shared/idempotency/idempotent-request.ts";
import { formatName, type Principal } from "#shared/principals/principal.ts";
import { isTerminal } from "#shared/records/run.ts";
import { isExecutingHead, isIdle, isLocal, type RunHead } from "#shared/records/run-head.ts";
import { attemptOnHead, changeWithRecord } from "#shared/runs/change-run.ts";
import type { FoundRun } from "#shared/runs/read-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Put } from "#shared/table/table.ts";
import { toInterruption } from "./interruption.ts";

interface InterruptCall {
  readonly principal: Principal;
  readonly once: IdempotentRequest;
}

/** Interrupts the current turn of a run once: a repeat of the request has no effect, even if the run has ended since. */
export function endTurn(
  { head: first }: Pick<FoundRun, "head">,
  { principal, once }: InterruptCall,
  ports: RunPorts,
): Promise<{ readonly replayed: boolean }> {
  return runIdempotent<{ readonly replayed: boolean }>(
    ports.table,
    once,
    ports.now,
    async (record) => {
      await interruptNow(first, formatName(principal), record(first.run_id), ports);
      return { replayed: false };
    },
    async () => ({ replayed: true }),
  );
}

function interruptNow(first: RunHead, by: string, record: Put, ports: RunPorts): Promise<void> {
  return attemptOnHead(first, ports, async (head) => {
    const refusal = findRefusal(head);
    if (refusal !== undefined) throw refusal;
    if (isIdle(head)) return;
    await changeWithRecord(head, toInterruption(head, by), record, ports);
  });
}

/** Why no turn of the run can be interrupted, in the order of the contract. */
function findRefusal(head: RunHead): RunyardError | undefined {
  if (isTerminal(head.state)) {
    return new RunyardError("invalid_request", { detail: `the run has ended already: it is ${head.state}` });
  }
  if (!canInterrupt(head)) {
    return new RunyardError("operation_not_supported", {
      detail: "the run is executed by a program that takes no interrupts; cancel the run, or stop that program",
    });
  }
  if (head.state !== "INPROGRESS") {
    return new RunyardError("conflict", {
      detail: `the run is ${head.state}: it has no turn yet; try again in a moment, or cancel the run`,
      retryable: true,
      retryAfterSeconds: 1,
    });
  }
  return undefined;
}

/** The caller of a LOCAL run takes no interrupts, and neither does a harness other than ours, which names no instance of itself. */
const canInterrupt = (head: RunHead): boolean =>
  !isLocal(head) && !(head.state === "INPROGRESS" && isExecutingHead(head) && head.instance_id === undefined);
