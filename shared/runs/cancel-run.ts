import { RunyardError } from "#shared/errors.ts";
import { type IdempotentRequest, runIdempotent } from "#shared/idempotency/idempotent-request.ts";
import { formatName, type Principal } from "#shared/principals/principal.ts";
import { isExecuting, isTerminal } from "#shared/records/run.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { parseOwner, providerOf, type RunHead } from "#shared/records/run-head.ts";
import { countRunTime } from "#shared/records/run-time.ts";
import { isStoppable, PROVIDERS } from "#shared/sandbox/providers.ts";
import type { Put } from "#shared/table/table.ts";
import { attemptOnHead, changeWithRecord } from "./change-run.ts";
import { listTurnAttributes } from "./end-run.ts";
import { isCancellable } from "./run-item.ts";
import type { RunPorts } from "./run-ports.ts";
import type { EndChange } from "./transition.ts";

/** Milliseconds after which the reaper checks whether the provider has stopped the cancelled run's sandbox. */
const STOP_CHECK_MS = 10_000;

interface CancelFoundCall {
  readonly head: RunHead;
  readonly body: RunBody;
  readonly principal: Principal;
  readonly force: boolean;
}

interface CancelCall extends CancelFoundCall {
  readonly once: IdempotentRequest;
}

/**
 * Cancels a run once. A repeat of the request that cancelled it gets the same response. Without an Idempotency-Key, the record may be
 * that of an earlier cancel: if the run was continued since, the repeat cancels it.
 */
export async function cancelOneRun(call: CancelCall, ports: RunPorts): Promise<{ replayed: boolean }> {
  return runIdempotent<{ replayed: boolean }>(
    ports.table,
    call.once,
    ports.now,
    async (record) => {
      await cancelNow(call, record(call.head.run_id), ports);
      return { replayed: false };
    },
    async () => {
      const head = call.once.keyed ? undefined : await ports.runs.head(call.head.run_id);
      if (head === undefined || isTerminal(head.state)) return { replayed: true };
      await cancelNow({ ...call, head }, undefined, ports);
      return { replayed: false };
    },
  );
}

/** Cancels a run as one of many, whose request has its own idempotency record. */
export const cancelFoundRun = (call: CancelFoundCall, ports: RunPorts): Promise<void> =>
  cancelNow(call, undefined, ports);

/** Cancels a run on behalf of the service, in any state; a run that has ended stays as it is. */
export async function cancelByService(runId: string, by: string, ports: RunPorts): Promise<void> {
  const first = await ports.runs.head(runId);
  if (first === undefined) return;
  const cancel = async (head: RunHead): Promise<void> => {
    if (isTerminal(head.state)) return;
    // A working agent can be stopped; an execution that is still being prepared has no agent yet.
    const change = toCancelChange(head, by, head.state !== "INPROGRESS", ports.now());
    await ports.runs.change(head, change, ports.now());
    await ports.queue.sendEnd(runId, parseOwner(head)).catch(() => undefined);
  };
  await attemptOnHead(first, ports, cancel, { whenDeleted: () => undefined });
}

async function cancelNow(call: CancelFoundCall, record: Put | undefined, ports: RunPorts): Promise<void> {
  await attemptOnHead(call.head, ports, async (head) => {
    const refusal = findRefusal(head, call.body, call.force);
    if (refusal !== undefined) throw refusal;
    const change = toCancelChange(head, formatName(call.principal), call.force, ports.now());
    await changeWithRecord(head, change, record, ports);
    await ports.queue.sendEnd(head.run_id, parseOwner(head)).catch(() => undefined);
  });
}

/** Why the run cannot be cancelled, in the order of the contract: ended 400, executed elsewhere 422, being prepared 409. */
function findRefusal(head: RunHead, body: RunBody, force: boolean): RunyardError | undefined {
  if (isTerminal(head.state)) {
    return new RunyardError("invalid_request", { detail: `the run has ended already: it is ${head.state}` });
  }
  if (force) return undefined;
  if (!isCancellable(body)) {
    return new RunyardError("operation_not_supported", {
      detail: "the run is executed elsewhere; stop it there, or send ?force=true",
    });
  }
  if (head.state === "PENDING" || head.state === "CLAIMED") {
    return new RunyardError("conflict", {
      detail: "the run is being prepared; try again in a moment, or send ?force=true",
      retryable: true,
      retryAfterSeconds: 1,
    });
  }
  return undefined;
}

function toCancelChange(head: RunHead, by: string, force: boolean, now: number): EndChange {
  const works = isExecuting(head.state);
  const provider = providerOf(head);
  const stopBy = now + PROVIDERS[provider].stopSeconds * 1000;
  return {
    to: "CANCELLED",
    events: [{ type: "run_cancelled", data: { state: "CANCELLED", detail: `cancelled by ${by}` } }],
    set: {
      ended_at: now,
      ...countRunTime(head, now),
      status_message: { message: `cancelled by ${by}` },
      ...(works ? { stop_pending: true, stop_by: stopBy } : {}),
    },
    // The key stays valid for the sandbox's report that it has stopped, and for nothing else; a forced cancel revokes it.
    remove: [
      "state_since",
      "heartbeat_at",
      ...(works && !force ? [] : (["key_hash"] as const)),
      ...listTurnAttributes(head),
    ],
    checkAt: works ? (isStoppable(provider) ? now + STOP_CHECK_MS : stopBy) : now + 60_000,
  };
}
