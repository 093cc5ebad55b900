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

/** A follow-up interrupts the current turn. The execution continues with that follow-up. */
export class Interrupted extends Error {
  constructor(followup: number) {
    super(`Interrupted by follow-up ${followup}.`);
    this.name = "Interrupted";
  }
}

/** A failure that the caller can fix (a repository, a skill, an attachment). It ends the run as FAILED. */
export class SetupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SetupError";
  }
}

export const formatError = (error: unknown): string => (error instanceof Error ? error.message : String(error));
