/**
 * Why an execution stops before its agent is done. It travels as the reason of the execution's AbortSignal, so that
 * whoever waits (a command, a clone, a retry) ends with the same word.
 */
export type StopKind =
  /** The control plane asked for it. */
  | "cancelled"
  /** The key is dead: the run was cancelled, or goes on without this execution. */
  | "stale"
  /** Another harness runs this execution; nothing of ours was ever wanted. */
  | "taken"
  /** The control plane could not be reached for as long as we may try, or answered what we cannot work with. */
  | "unreachable"
  /** The sandbox ends: a signal, or the process that started us is gone. */
  | "shutdown";

export class Stop extends Error {
  readonly kind: StopKind;

  constructor(kind: StopKind, message: string) {
    super(message);
    this.name = "Stop";
    this.kind = kind;
  }
}

/** The turn under way is broken off by a follow-up; the execution goes on with that one. */
export class Interrupted extends Error {
  constructor(followup: number) {
    super(`Interrupted by follow-up ${followup}.`);
    this.name = "Interrupted";
  }
}

/** A failure that the caller can remedy (a repository, a skill, an attachment): it ends the run as FAILED. */
export class SetupError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SetupError";
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
