import { RunyardError } from "#shared/errors.ts";
import { type ExecutingHead, isExecutingHead, leaseMs, type RunHead } from "#shared/records/run-head.ts";
import { startTimeLimit } from "#shared/records/time-limit.ts";
import { type ChangePorts, changeRun, staleExecutionError } from "#shared/runs/change-run.ts";
import { START_COUNTERS, type StartChange, type TimelineEntry } from "#shared/runs/transition.ts";

/** A run that its caller executes and has not begun. */
type LocalHead = Extract<RunHead, { state: "QUEUED" }> & Pick<ExecutingHead, "execution_id" | "key_hash">;

export const isUnstartedLocal = (head: RunHead): head is LocalHead =>
  head.state === "QUEUED" && head.execution_id !== undefined && head.key_hash !== undefined;

/**
 * Begins an execution with its first call: binds it to the harness instance and moves the run to INPROGRESS. A repeat changes nothing.
 * The run may be changed meanwhile, such as by the claim of its worker or by a follow-up.
 */
export async function beginExecution(
  first: ExecutingHead | LocalHead,
  instance: string | undefined,
  ports: ChangePorts,
): Promise<ExecutingHead> {
  return changeRun<ExecutingHead>(first, ports, (head) => {
    const isOpen = isExecutingHead(head) || isUnstartedLocal(head);
    if (!isOpen || head.execution_id !== first.execution_id) throw staleExecutionError();
    if (head.state !== "INPROGRESS") return toBeginning(head, instance, ports.now());
    if (head !== first && head.instance_id !== instance) {
      throw new RunyardError("conflict", { detail: "another harness runs this execution", retryable: false });
    }
    return { result: head };
  });
}

function toBeginning(
  head: ExecutingHead | LocalHead,
  instance: string | undefined,
  now: number,
): { readonly change: StartChange; readonly result: ExecutingHead } {
  const timing = startTimeLimit(head, now);
  const prepared = head.state === "QUEUED" ? head.created_at : head.state_since;
  const change: StartChange = {
    to: "INPROGRESS",
    ...(head.state === "QUEUED" ? { via: "PENDING", add: { executions: 1 } } : {}),
    events: [
      ...toSkippedEvents(head),
      { type: "worker_container_ready", data: { state: "INPROGRESS", duration_ms: now - prepared } },
    ],
    set: {
      state_since: now,
      heartbeat_at: now,
      ...(instance === undefined ? {} : { instance_id: instance }),
      ...(head.started_at === undefined ? { started_at: now } : {}),
      ...timing,
    },
    ...(head.state === "QUEUED"
      ? { checkAt: Math.min(now + leaseMs(head), timing?.ends_by ?? now + leaseMs(head)) }
      : {}),
    remove: START_COUNTERS.filter((name) => head[name] !== undefined),
  };
  const result: ExecutingHead = {
    ...head,
    state: "INPROGRESS",
    state_since: now,
    heartbeat_at: now,
    started_at: head.started_at ?? now,
    next_sequence: head.next_sequence + change.events.length,
    ...(instance === undefined ? {} : { instance_id: instance }),
    ...timing,
  };
  return { change, result };
}

/** The events of the state that the run passes through: a worker's execution can begin before the worker's claim arrives. */
function toSkippedEvents(head: ExecutingHead | LocalHead): TimelineEntry[] {
  if (head.state === "QUEUED") {
    return [{ type: "run_pending", data: { state: "PENDING", execution_id: head.execution_id } }];
  }
  if (head.state !== "PENDING" || head.worker_host === undefined) return [];
  return [{ type: "run_claimed", data: { state: "CLAIMED", worker_host: head.worker_host } }];
}
