import { ERRORS, type ErrorCode } from "#shared/errors.ts";
import type { RemovableAttribute } from "#shared/records/head-attributes.ts";
import { LOCAL_START_SECONDS, statusText } from "#shared/records/run.ts";
import {
  type ExecutingHead,
  isExecutingHead,
  isOnOwnSandbox,
  parseOwner,
  type RunHead,
  toStatusMessage,
} from "#shared/records/run-head.ts";
import { countRunTime } from "#shared/records/run-time.ts";
import type { WaitingFor } from "#shared/wire/run.ts";
import { type ChangePorts, changeExecution, changeRun, staleExecutionError } from "./change-run.ts";
import type { EndChange } from "./transition.ts";

interface Ending {
  readonly state: "SUCCEEDED" | "FAILED" | "ERROR" | "BLOCKED";
  readonly now: number;
  readonly message?: string;
  readonly code?: ErrorCode;
  /** What a BLOCKED run waits for. @default an answer */
  readonly waitingFor?: WaitingFor | undefined;
  readonly data?: Record<string, string>;
}
const END_EVENTS = {
  SUCCEEDED: "run_succeeded",
  FAILED: "run_failed",
  ERROR: "run_errored",
  BLOCKED: "run_blocked",
} as const;

/** Milliseconds after which the reaper requests the transcript of an ended run again. */
const COMPOSE_CHECK_MS = 60_000;
/** The least milliseconds that composing the transcript gets. */
const COMPOSE_MS = 5_000;

/**
 * Builds the change that ends an execution and its run. An end that is reported while PENDING or CLAIMED passes through INPROGRESS first.
 * A run that is failing ends with its failure, whatever is reported.
 */
export function toEndChange(head: RunHead, reported: Ending): EndChange {
  const failing = isExecutingHead(head) ? head.failing : undefined;
  const ending = failing === undefined ? reported : { ...failure(failing.code, failing.message), now: reported.now };
  const status = toEndStatus(ending);
  const early = head.state === "PENDING" || head.state === "CLAIMED";
  const passes = early && (ending.state === "SUCCEEDED" || ending.state === "BLOCKED");
  // A question to the user is not an error.
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
      ...countRunTime(head, ending.now),
      ...(status === undefined ? {} : { status_message: status }),
      ...(ending.waitingFor === undefined ? {} : { waiting_for: ending.waitingFor }),
    },
    remove: [
      ...(["key_hash", "instance_id", "state_since", "heartbeat_at"] as const),
      ...(failing === undefined ? [] : (["failing"] as const)),
      ...listTurnAttributes(head),
    ],
    if: { failing: { exists: failing !== undefined } },
    checkAt: { at: ending.now + COMPOSE_CHECK_MS, from: ending.now + COMPOSE_MS, to: ending.now + COMPOSE_CHECK_MS },
  };
}

/** What the head has of a turn that was interrupted, or of waiting for the next one: removed when the run ends. */
export const listTurnAttributes = (head: RunHead): RemovableAttribute[] => [
  ...(head.interrupt === undefined ? [] : (["interrupt"] as const)),
  ...("idle" in head && head.idle !== undefined ? (["idle"] as const) : []),
];

function toEndStatus({ message, code }: Ending) {
  if (message === undefined) return undefined;
  return code === undefined ? { message } : toStatusMessage(code, message);
}

/** Ends a working run on behalf of the service, not of its harness. @throws where it has continued without this execution */
export async function failExecution(
  first: ExecutingHead,
  code: ErrorCode,
  why: string,
  ports: ChangePorts,
): Promise<void> {
  const isAtWork = (head: RunHead) => isExecutingHead(head) && head.execution_id === first.execution_id;
  if (!(await endWhile(isAtWork, first, failure(code, why), ports))) throw staleExecutionError();
}

/** Milliseconds that a failing execution has for its last messages and files. */
const FINISH_MS = 60_000;

/**
 * Makes a working run fail on behalf of the service, once its execution has sent its last messages and finishes, or after a time. The
 * execution ends the run soon, because what it needs to go on is refused.
 * @throws where it has continued without this execution
 */
const beginFailure = (
  first: ExecutingHead,
  code: NonNullable<ExecutingHead["failing"]>["code"],
  why: string,
  ports: ChangePorts,
): Promise<void> =>
  changeExecution<void>(first, ports, (head) => {
    if (head.failing !== undefined) return { result: undefined };
    const failing = { code, message: statusText(why), by: ports.now() + FINISH_MS };
    return { change: { events: [], set: { failing } }, result: undefined };
  });

/**
 * Makes a working run fail because a budget or a limit is used up. A harness on somebody else's machine may not finish by itself: its run
 * ends now.
 */
export const endAtLimit = (head: ExecutingHead, why: string, ports: ChangePorts): Promise<void> =>
  (isOnOwnSandbox(head) ? beginFailure : failExecution)(head, "budget_exceeded", why, ports);

const failure = (code: ErrorCode, why: string) => ({ state: ERRORS[code].endsIn, code, message: statusText(why) });

/** Ends a run that has not begun because of a failure of the platform; a working run was dispatched by another message. */
export const failByPlatform = (runId: string, why: string, ports: ChangePorts): Promise<void> =>
  failWaitingRun(runId, "internal_error", why, ports);

/** Ends a run that is QUEUED or PENDING, in the state that belongs to the error code. A working run continues. */
export const failWaitingRun = (runId: string, code: ErrorCode, why: string, ports: ChangePorts): Promise<void> =>
  endUnbegun(runId, failure(code, why), ports);

/** Ends a LOCAL run that its caller did not begin in time. */
export const failUnstartedLocalRun = (runId: string, ports: ChangePorts): Promise<void> =>
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

/** Ends a run while its current head satisfies `applies`; returns false where it does not. */
async function endWhile(
  applies: (head: RunHead) => boolean,
  first: RunHead,
  ending: Omit<Ending, "now">,
  ports: ChangePorts,
): Promise<boolean> {
  const now = ports.now();
  const ended = await changeRun(first, ports, (head) =>
    applies(head) ? { change: toEndChange(head, { ...ending, now }), result: true } : { result: false },
  );
  if (ended) await ports.queue.sendEnd(first.run_id, parseOwner(first)).catch(() => undefined);
  return ended;
}
