import { ERRORS, type ErrorCode, lostRace, RunyardError } from "#shared/errors.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { LEASE_SECONDS, LOCAL_START_SECONDS, statusText } from "#shared/records/run.ts";
import {
  type ExecutingHead,
  isExecutingHead,
  isLocal,
  leaseMs,
  ownerOf,
  type RunHead,
  statusOf,
} from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { Raced } from "#shared/runs/run-store.ts";
import { type Change, EXECUTION_ATTRIBUTES, type TimelineEntry } from "#shared/runs/transition.ts";
import type { FinishTaskRequest } from "#shared/wire/harness.ts";
import { HARNESS_PROTOCOL } from "#shared/wire/protocol.ts";

/** What an execution is told that is not the run's any more: it may end itself. */
export const fenced = () =>
  new RunyardError("authentication_required", {
    detail: "the run's key is no longer valid: the execution is over",
    headers: { "www-authenticate": "Bearer" },
  });

/** Another instance of the same execution may not speak; a caller without the header is a worker's own harness. */
export function checkInstance(head: RunHead, header: (name: string) => string | undefined): void {
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

/** A run that its caller executes, and has not begun. */
type LocalHead = Extract<RunHead, { state: "QUEUED" }> & Pick<ExecutingHead, "execution_id" | "key_hash">;

const isUnbegunLocal = (head: RunHead): head is LocalHead =>
  head.state === "QUEUED" && head.execution_id !== undefined && head.key_hash !== undefined;

/** The first call of an execution: binds the harness and moves the run to INPROGRESS. Again by the same one: no change. */
export async function begin(
  head: ExecutingHead | LocalHead,
  instance: string | undefined,
  ports: ChangePorts,
): Promise<ExecutingHead> {
  if (head.state === "INPROGRESS") return head;
  const now = ports.now();
  const prepared = head.state === "QUEUED" ? head.created_at : head.state_since;
  const pending: TimelineEntry = {
    type: "run_pending",
    data: { state: "PENDING", execution_id: head.execution_id },
  };
  const change: Change = {
    to: "INPROGRESS",
    ...(head.state === "QUEUED" ? { via: "PENDING" as const, add: { executions: 1 } } : {}),
    events: [
      ...(head.state === "QUEUED" ? [pending] : []),
      { type: "worker_container_ready", data: { state: "INPROGRESS", duration_ms: now - prepared } },
    ],
    set: {
      state_since: now,
      beat_at: now,
      ...(instance === undefined ? {} : { instance_id: instance }),
      ...(head.started_at === undefined ? { started_at: now } : {}),
    },
    ...(head.state === "QUEUED" ? { checkAt: now + leaseMs(head) } : {}),
    ...(head.silent_starts === undefined ? {} : { remove: ["silent_starts"] }),
  };
  try {
    await ports.runs.change(head, change, now);
  } catch (error) {
    if (!(error instanceof Raced)) throw error;
    const again = await ports.runs.head(head.run_id);
    if (again?.state === "INPROGRESS" && again.execution_id === head.execution_id && again.instance_id === instance) {
      return again;
    }
    throw again !== undefined && isExecutingHead(again) && again.execution_id === head.execution_id
      ? new RunyardError("conflict", { detail: "another harness runs this execution", retryable: false })
      : fenced();
  }
  return {
    ...head,
    state: "INPROGRESS",
    state_since: now,
    beat_at: now,
    started_at: head.started_at ?? now,
    next_sequence: head.next_sequence + change.events.length,
    ...(instance === undefined ? {} : { instance_id: instance }),
  };
}

/** What changing a run takes, and telling the queues of it. */
export type ChangePorts = Pick<RunPorts, "table" | "runs" | "queue" | "now">;

type Decision<T> = { readonly change: Change; readonly result: T } | { readonly result: T };

/**
 * Tries `decide` on the head as it stands until its change is written. What an execution may do is decided anew on each
 * head, so a change that came in between (a follow-up, a cancel) is never overwritten.
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
      // A condition of another item than the head is the caller's to judge.
      if (!(error instanceof Raced) || !error.headChanged) throw error;
    }
    const again = await ports.runs.head(head.run_id);
    if (again === undefined) throw fenced();
    head = again;
  }
  throw lostRace("the run changes too fast; send the request again");
}

/** As `changeRun`, for one execution: it is refused as soon as the run has gone on without it. */
export async function changeExecution<T>(
  first: ExecutingHead,
  ports: RunPorts,
  decide: (head: ExecutingHead) => Decision<T> | Promise<Decision<T>>,
): Promise<T> {
  return changeRun(first, ports, (head) => {
    if (!isExecutingHead(head) || head.execution_id !== first.execution_id) throw fenced();
    return decide(head);
  });
}

/** finish-task: the run ends, or goes on in a new execution where a follow-up came that this one has not taken up. */
export async function finish(first: ExecutingHead, request: FinishTaskRequest, ports: RunPorts): Promise<void> {
  const now = ports.now();
  const again = await changeExecution(first, ports, (head) => {
    const waiting = head.followups > head.followups_stored;
    if (waiting && isLocal(head)) {
      throw new RunyardError("conflict", {
        detail: `follow-up ${head.followups_stored + 1} waits: take it up by a heartbeat before the run is finished`,
        retryable: false,
      });
    }
    return { change: waiting ? backToQueue(head, WAITING, now) : finishChange(head, request, now), result: waiting };
  });
  if (again) await sendAgain(first, ports);
  else await ports.queue.sendEnd(first.run_id, ownerOf(first)).catch(() => undefined);
}

/**
 * Tells the queues of a run that waits for a new execution: it is to be dispatched, and the sandbox of the one before to be stopped,
 * where its provider can do so. The reaper repeats both.
 */
export async function sendAgain(left: RunHead, { queue }: Pick<ChangePorts, "queue">): Promise<void> {
  await queue.sendRun(left.run_id, ownerOf(left)).catch(() => undefined);
  if ("sandbox" in left) await queue.sendEnd(left.run_id, ownerOf(left)).catch(() => undefined);
}

function finishChange(head: ExecutingHead, request: FinishTaskRequest, now: number): Change {
  if (request.blocked === true) {
    const question = statusText(request.summary) || "the agent waits for an answer";
    return endChange(head, { state: "BLOCKED", now, message: question });
  }
  const summary = statusText(request.summary) || (request.success ? "done" : "the agent gave no reason");
  return request.success
    ? endChange(head, { state: "SUCCEEDED", now, data: { detail: summary } })
    : endChange(head, {
        state: "FAILED",
        now,
        message: summary,
        ...(request.error_code === undefined ? {} : { code: request.error_code }),
      });
}

const WAITING: TimelineEntry = {
  type: "run_queued",
  data: { state: "QUEUED", detail: "a follow-up waits for the next execution" },
};

/** The execution is over, and the run waits for a new one. */
export function backToQueue(head: ExecutingHead, event: TimelineEntry, now: number) {
  return {
    to: "QUEUED",
    events: [event],
    set: { run_time_ms: head.run_time_ms + worked(head, now) },
    remove: EXECUTION_ATTRIBUTES,
    checkAt: now + LEASE_SECONDS * 1000,
  } as const satisfies Change;
}

/** Milliseconds that the execution has been INPROGRESS. */
export const worked = (head: RunHead, now: number): number =>
  head.state === "INPROGRESS" ? Math.max(0, now - head.state_since) : 0;

interface Ending {
  readonly state: "SUCCEEDED" | "FAILED" | "ERROR" | "BLOCKED";
  readonly now: number;
  readonly message?: string;
  readonly code?: ErrorCode;
  readonly data?: Record<string, string>;
}
const END_EVENTS = {
  SUCCEEDED: "run_succeeded",
  FAILED: "run_failed",
  ERROR: "run_errored",
  BLOCKED: "run_blocked",
} as const;

/** How long the reaper leaves an ended run to the composing of its transcript before it asks for it again. */
const COMPOSE_CHECK_MS = 60_000;
/** What the composing is given in any case. */
const COMPOSE_MS = 5_000;

/** The end of an execution and its run. An end reported while PENDING or CLAIMED passes through INPROGRESS first. */
export function endChange(head: RunHead, ending: Ending): Change {
  const status = endingStatus(ending);
  const early = head.state === "PENDING" || head.state === "CLAIMED";
  const passes = early && (ending.state === "SUCCEEDED" || ending.state === "BLOCKED");
  // A question is no error.
  const mark = ending.state === "BLOCKED" ? {} : { is_error: true };
  return {
    to: ending.state,
    ...(passes ? { via: "INPROGRESS" as const } : {}),
    events: [
      ...(passes ? [{ type: "worker_container_ready" as const, data: { state: "INPROGRESS" } }] : []),
      {
        type: END_EVENTS[ending.state],
        data: {
          state: ending.state,
          ...(status === undefined ? {} : { detail: status.message, ...mark }),
          ...ending.data,
        },
      },
    ],
    set: {
      ended_at: ending.now,
      ...(passes && head.started_at === undefined ? { started_at: ending.now } : {}),
      run_time_ms: head.run_time_ms + worked(head, ending.now),
      ...(status === undefined ? {} : { status_message: status }),
    },
    remove: ["key_hash", "instance_id", "state_since", "beat_at"],
    checkAt: { at: ending.now + COMPOSE_CHECK_MS, from: ending.now + COMPOSE_MS, to: ending.now + COMPOSE_CHECK_MS },
  };
}

function endingStatus({ message, code }: Ending) {
  if (message === undefined) return undefined;
  return code === undefined ? { message } : statusOf(code, message);
}

/** Ends a run that works, by the service's own word and not by that of its harness. @throws where it has gone on without this execution */
export async function failWorking(
  first: ExecutingHead,
  code: ErrorCode,
  why: string,
  ports: ChangePorts,
): Promise<void> {
  const isAtWork = (head: RunHead) => isExecutingHead(head) && head.execution_id === first.execution_id;
  if (!(await endWhile(isAtWork, first, failure(code, why), ports))) throw fenced();
}

const failure = (code: ErrorCode, why: string) => ({ state: ERRORS[code].endsIn, code, message: statusText(why) });

/** The platform's own failure ends a run that has not begun; one that works was dispatched by another message. */
export const failByPlatform = (runId: string, why: string, ports: ChangePorts): Promise<void> =>
  failUnbegun(runId, "internal_error", why, ports);

/** Ends a run that waits or is being prepared, in the state that the code is for. One that works goes on. */
export const failUnbegun = (runId: string, code: ErrorCode, why: string, ports: ChangePorts): Promise<void> =>
  endUnbegun(runId, failure(code, why), ports);

/** A run that its caller was to execute, and did not begin in its time. */
export const failNeverBegun = (runId: string, ports: ChangePorts): Promise<void> =>
  endUnbegun(
    runId,
    {
      state: "FAILED",
      message: `the run's caller, who executes it, did not begin within ${LOCAL_START_SECONDS} seconds`,
    },
    ports,
  );

async function endUnbegun(runId: string, ending: Omit<Ending, "now">, ports: ChangePorts): Promise<void> {
  const first = await ports.runs.head(runId);
  if (first === undefined) return;
  await endWhile(({ state }) => state === "QUEUED" || state === "PENDING", first, ending, ports);
}

/** Ends a run as long as `applies` to its head as it stands; false where it does not. */
async function endWhile(
  applies: (head: RunHead) => boolean,
  first: RunHead,
  ending: Omit<Ending, "now">,
  ports: ChangePorts,
): Promise<boolean> {
  const now = ports.now();
  const ended = await changeRun(first, ports, (head) =>
    applies(head) ? { change: endChange(head, { ...ending, now }), result: true } : { result: false },
  );
  if (ended) await ports.queue.sendEnd(first.run_id, ownerOf(first)).catch(() => undefined);
  return ended;
}

/**
 * The execution that calls about the run `runId`, or about its own where none is named. It must be at work, and the harness
 * that calls must be the one that came first. Where nobody of ours started it, its first call begins the work.
 */
export async function executionOf(
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
  if (isUnbegunLocal(head) || head.state === "CLAIMED") return begin(head, header("runyard-instance"), ports);
  if (!isExecutingHead(head)) throw fenced();
  checkInstance(head, header);
  return head;
}

/** As `executionOf`, for who only reads, which begins nothing. */
export function readingExecution(principal: Principal, header: (name: string) => string | undefined): RunHead {
  if (principal.kind !== "run") throw new RunyardError("not_authorized", { detail: "this call is for run keys" });
  checkInstance(principal.head, header);
  return principal.head;
}

/** The execution id in a body must be the one that the key is for. */
export function sameExecution(head: ExecutingHead, executionId: string): void {
  if (head.execution_id !== executionId) throw fenced();
}
