import type { Interrupt } from "#shared/wire/executions/turn.ts";

/**
 * Why an execution stops before its agent is done. It is the reason of the execution's AbortSignal, so that a command, a clone or a
 * retry ends with the same error.
 */
export type StopKind =
  /** The control plane requested it. */
  | "cancelled"
  /** The key is no longer valid: the run was cancelled, or another execution continues it. */
  | "stale"
  /** Another harness runs this execution, so this one must report nothing. */
  | "taken"
  /** The control plane could not be reached within the time limit, or sent an unusable response. */
  | "unreachable"
  /** The sandbox ends: on a signal, or because the parent process is gone. */
  | "shutdown";

export class Stop extends Error {
  readonly kind: StopKind;

  constructor(kind: StopKind, message: string) {
    super(message);
    this.name = "Stop";
    this.kind = kind;
  }
}

/** What interrupts a turn: a follow-up, by its number, a person, or the reason why the run fails. */
export type InterruptCause = number | string | Interrupt;

/** The current turn is interrupted. The execution continues with the next follow-up, or finishes. */
export class Interrupted extends Error {
  readonly interrupt: Interrupt | undefined;

  constructor(cause: InterruptCause) {
    super(describeInterrupt(cause));
    this.name = "Interrupted";
    this.interrupt = typeof cause === "object" ? cause : undefined;
  }
}

function describeInterrupt(cause: InterruptCause): string {
  if (typeof cause === "string") return cause;
  return typeof cause === "number"
    ? `Interrupted by follow-up ${cause}.`
    : `Interrupted by ${cause.by}. Send a follow-up to continue.`;
}

/** A failure that the caller can fix (a repository, a skill, an attachment). It ends the run as FAILED. */
export class SetupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SetupError";
  }
}

export const formatError = (error: unknown): string => (error instanceof Error ? error.message : String(error));
