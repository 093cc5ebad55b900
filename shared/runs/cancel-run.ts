import { RunyardError } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { type Principal, principalKey } from "#shared/principals/principal.ts";
import { isExecuting, isTerminal, STOP_LEASE_SECONDS } from "#shared/records/run.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { ownerOf, type RunHead } from "#shared/records/run-head.ts";
import type { Put } from "#shared/table/table.ts";
import { workedMs } from "./end-run.ts";
import type { RunPorts } from "./ports.ts";
import { isCancellable } from "./run-item.ts";
import { RunChangedError } from "./run-store.ts";
import type { Change } from "./transition.ts";

/** Milliseconds after which the reaper looks whether the provider has stopped the cancelled run's sandbox. */
const STOP_CHECK_MS = 10_000;

interface FoundCall {
  readonly head: RunHead;
  readonly body: RunBody;
  readonly principal: Principal;
  readonly force: boolean;
}

interface CancelCall extends FoundCall {
  readonly once: IdempotentRequest;
}

/** Cancels a run. A repeat of the request that cancelled it is answered as that one was. */
export async function cancelRun(call: CancelCall, ports: RunPorts): Promise<{ replayed: boolean }> {
  return runIdempotent<{ replayed: boolean }>(
    ports.table,
    call.once,
    ports.now,
    async (record) => {
      await cancelNow(call, record(call.head.run_id), ports);
      return { replayed: false };
    },
    async () => ({ replayed: true }),
  );
}

/** Cancels a run as one of many, whose request keeps its own record. */
export const cancelFound = (call: FoundCall, ports: RunPorts): Promise<void> => cancelNow(call, undefined, ports);

/** Cancels a run on the service's own account, whatever its state; one that has ended already stays as it is. */
export async function cancelByService(runId: string, by: string, ports: RunPorts): Promise<void> {
  for (let attempt = 0; attempt < 8; attempt++) {
    const head = await ports.runs.head(runId);
    if (head === undefined || isTerminal(head.state)) return;
    try {
      // An agent that works is asked to stop; what is still being prepared has nobody to ask.
      const change = cancelChange(head, by, head.state !== "INPROGRESS", ports.now());
      await ports.runs.change(head, change, ports.now());
      await ports.queue.sendEnd(runId, ownerOf(head)).catch(() => undefined);
      return;
    } catch (error) {
      if (!(error instanceof RunChangedError)) throw error;
    }
  }
  throw new Error(`run ${runId} changes too fast to be cancelled`);
}

async function cancelNow(call: FoundCall, record: Put | undefined, ports: RunPorts): Promise<void> {
  let head = call.head;
  for (let attempt = 0; attempt < 8; attempt++) {
    const refusal = refusalOf(head, call.body, call.force);
    if (refusal !== undefined) throw refusal;
    try {
      const change = cancelChange(head, nameOf(call.principal), call.force, ports.now());
      await ports.runs.change(head, { ...change, ...(record === undefined ? {} : { also: [record] }) }, ports.now());
      await ports.queue.sendEnd(head.run_id, ownerOf(head)).catch(() => undefined);
      return;
    } catch (error) {
      if (!(error instanceof RunChangedError)) throw error;
      if (!error.headChanged) throw new IdempotencyRecordExists();
    }
    head = (await ports.runs.head(head.run_id)) ?? head;
  }
  throw new RunyardError("conflict", { detail: "the run changes too fast; try again", retryable: true });
}

/** In the order of the contract: ended 400, executed elsewhere 422, being prepared 409. */
function refusalOf(head: RunHead, body: RunBody, force: boolean): RunyardError | undefined {
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

const nameOf = (principal: Principal): string =>
  principal.kind === "personal" ? principal.user.displayName : principalKey(principal);

function cancelChange(head: RunHead, by: string, force: boolean, now: number): Change {
  const works = isExecuting(head.state);
  const sandbox = "sandbox" in head ? head.sandbox : undefined;
  const stopBy = now + STOP_LEASE_SECONDS[sandbox?.provider ?? "lambda"] * 1000;
  return {
    to: "CANCELLED",
    events: [{ type: "run_cancelled", data: { state: "CANCELLED", detail: `cancelled by ${by}` } }],
    set: {
      ended_at: now,
      run_time_ms: head.run_time_ms + workedMs(head, now),
      status_message: { message: `cancelled by ${by}` },
      ...(works ? { stop_pending: true, stop_by: stopBy } : {}),
    },
    // The key stays good for the sandbox's word that it has stopped, and for nothing else; forced, it is dead at once.
    remove: ["state_since", "heartbeat_at", ...(works && !force ? [] : ["key_hash"])],
    checkAt: works ? (sandbox === undefined ? stopBy : now + STOP_CHECK_MS) : now + 60_000,
  };
}
