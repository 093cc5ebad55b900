import { RunyardError } from "#shared/errors.ts";
import { type ExecutingHead, isExecutingHead, leaseMs, type RunHead } from "#shared/records/run-head.ts";
import { type ChangePorts, staleExecutionError } from "#shared/runs/change-run.ts";
import { RunChangedError } from "#shared/runs/run-store.ts";
import type { Change, TimelineEntry } from "#shared/runs/transition.ts";

/** A run that its caller executes and has not begun. */
type LocalHead = Extract<RunHead, { state: "QUEUED" }> & Pick<ExecutingHead, "execution_id" | "key_hash">;

export const isUnstartedLocal = (head: RunHead): head is LocalHead =>
  head.state === "QUEUED" && head.execution_id !== undefined && head.key_hash !== undefined;

/** What counts the starts since the run's last execution began. */
const START_COUNTERS = ["silent_starts", "deferred_starts", "failed_starts"] as const;

const ATTEMPTS = 8;

/** Begins an execution with its first call: binds it to the harness instance and moves the run to INPROGRESS. A repeat changes nothing. */
export async function beginExecution(
  head: ExecutingHead | LocalHead,
  instance: string | undefined,
  ports: ChangePorts,
  attempts = ATTEMPTS,
): Promise<ExecutingHead> {
  if (head.state === "INPROGRESS") return head;
  const now = ports.now();
  const prepared = head.state === "QUEUED" ? head.created_at : head.state_since;
  const change: Change = {
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
    },
    ...(head.state === "QUEUED" ? { checkAt: now + leaseMs(head) } : {}),
    remove: START_COUNTERS.filter((name) => head[name] !== undefined),
  };
  try {
    await ports.runs.change(head, change, now);
  } catch (error) {
    if (!(error instanceof RunChangedError)) throw error;
    const changed = await readChanged(head, instance, ports);
    if (attempts > 1) return beginExecution(changed, instance, ports, attempts - 1);
    throw new RunyardError("resource_unavailable", { detail: "the run changes too fast; send the request again" });
  }
  return {
    ...head,
    state: "INPROGRESS",
    state_since: now,
    heartbeat_at: now,
    started_at: head.started_at ?? now,
    next_sequence: head.next_sequence + change.events.length,
    ...(instance === undefined ? {} : { instance_id: instance }),
  };
}

/** The execution of a run that was changed meanwhile, such as by the claim of its worker or by a follow-up. */
async function readChanged(
  { run_id, execution_id }: ExecutingHead | LocalHead,
  instance: string | undefined,
  ports: ChangePorts,
): Promise<ExecutingHead | LocalHead> {
  const head = await ports.runs.head(run_id);
  const isOpen = head !== undefined && (isExecutingHead(head) || isUnstartedLocal(head));
  if (!isOpen || head.execution_id !== execution_id) throw staleExecutionError();
  if (head.state === "INPROGRESS" && head.instance_id !== instance) {
    throw new RunyardError("conflict", { detail: "another harness runs this execution", retryable: false });
  }
  return head;
}

/** The events of the state that the run passes through: a worker's execution can begin before the worker's claim arrives. */
function toSkippedEvents(head: ExecutingHead | LocalHead): TimelineEntry[] {
  if (head.state === "QUEUED") {
    return [{ type: "run_pending", data: { state: "PENDING", execution_id: head.execution_id } }];
  }
  if (head.state !== "PENDING" || head.worker_host === undefined) return [];
  return [{ type: "run_claimed", data: { state: "CLAIMED", worker_host: head.worker_host } }];
}
