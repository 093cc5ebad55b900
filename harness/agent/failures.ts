import {
  type AfterModelCallEvent,
  ContextWindowOverflowError,
  MaxTokensError,
  ModelRetryStrategy,
} from "@strands-agents/sdk";
import { messageOf } from "../support/stop.ts";
import { FailedAnswer } from "./answers/events.ts";

/** Tries of one model call, the first among them. */
const MAX_TRIES = 10;
/** Pauses between them: twice as long each time, and never longer than this. */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;
/** So long a pause that a provider asks for is waited. */
const MAX_REQUESTED_PAUSE_MS = 120_000;

/** Kinds of failures in the middle of an answer that another try would meet again. */
const FINAL_KINDS = /invalid_request|authentication|permission|not_found|context_length|content_policy/;

/** What is known of a failed call: the status of its answer, if there was one, and what was said. */
export interface Failure {
  readonly status?: number;
  readonly message: string;
  readonly isRetryable: boolean;
  /** Milliseconds that the provider asks to wait. */
  readonly requestedPauseMs?: number;
}

/** Looks through what the SDKs have wrapped an error in. */
export function toFailure(error: unknown): Failure {
  const chain = listCauses(error);
  const told = chain.find((cause) => "status" in cause && typeof cause.status === "number");
  if (told !== undefined && "status" in told && typeof told.status === "number") {
    const asked = readRetryAfter(told);
    return {
      status: told.status,
      message: readMessage(told),
      isRetryable: told.status === 408 || told.status === 409 || told.status === 429 || told.status >= 500,
      ...(asked === undefined ? {} : { requestedPauseMs: asked }),
    };
  }
  const failed = chain.find((cause) => cause instanceof FailedAnswer);
  if (failed instanceof FailedAnswer) return { message: failed.message, isRetryable: !FINAL_KINDS.test(failed.kind) };
  return { message: messageOf(chain.at(-1) ?? error), isRetryable: true };
}

function listCauses(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let cause = error; cause instanceof Error && chain.length < 10; cause = cause.cause) chain.push(cause);
  return chain;
}

/** The provider's own words, without the JSON around them. */
function readMessage(error: Error): string {
  let words = messageOf(error);
  let body: unknown = "error" in error ? error.error : undefined;
  for (let depth = 0; depth < 2 && typeof body === "object" && body !== null; depth++) {
    if ("message" in body && typeof body.message === "string") words = body.message;
    body = "error" in body ? body.error : undefined;
  }
  return words;
}

function readRetryAfter(error: Error): number | undefined {
  const headers = "headers" in error ? error.headers : undefined;
  const seconds = Number.parseFloat((headers instanceof Headers && headers.get("retry-after")) || "");
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
}

/** The same request would come to the same: the turn's loop and the conversation's manager answer these. */
const isSettled = (error: unknown): boolean =>
  error instanceof MaxTokensError || error instanceof ContextWindowOverflowError;

/** Asks again where that may help. The gateway tries again too, but only before an answer's first byte. */
export class ModelRetries extends ModelRetryStrategy {
  readonly name = "runyard:ask-again";
  readonly #signal: AbortSignal;

  /** @param signal aborted when nobody wants an answer any more */
  constructor(signal: AbortSignal) {
    super();
    this.#signal = signal;
  }

  protected override computeRetryDecision({ error, attemptCount }: AfterModelCallEvent) {
    if (this.#signal.aborted || isSettled(error)) return { retry: false } as const;
    const { isRetryable, requestedPauseMs = 0 } = toFailure(error);
    if (!isRetryable || attemptCount >= MAX_TRIES || requestedPauseMs > MAX_REQUESTED_PAUSE_MS)
      return { retry: false } as const;
    const longest = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attemptCount - 1));
    // Half of it by chance, so that many runs that were turned away together do not come back together.
    const waitMs = Math.max(requestedPauseMs, longest * (0.5 + Math.random() / 2));
    return { retry: true, waitMs } as const;
  }
}
