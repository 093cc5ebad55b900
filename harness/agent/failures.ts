import { setTimeout as sleep } from "node:timers/promises";
import {
  type AfterModelCallEvent,
  ContextWindowOverflowError,
  MaxTokensError,
  ModelRetryStrategy,
} from "@strands-agents/sdk";
import type { ModelRetry } from "../reporting/retry-reporter.ts";
import { parseJson } from "../support/parse-json.ts";
import { formatError } from "../support/stop.ts";
import { FailedResponse } from "./dialects/events.ts";

/** The most attempts of one model call, including the first. */
const MAX_TRIES = 10;
/** The same where another model can continue. */
const MAX_TRIES_WITH_FALLBACK = 3;
/** How long a model call is retried, from its first failure. */
const MAX_RETRY_MS = 5 * 60_000;
/** The pauses between attempts double each time up to the maximum. */
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;
/** The longest pause requested by a provider that is accepted. */
const MAX_REQUESTED_PAUSE_MS = 120_000;

/** A failed model call: the status of the response, if there was one, and the message. */
export interface Failure {
  readonly status?: number;
  readonly message: string;
  readonly isRetryable: boolean;
  /** Milliseconds that the provider requests to wait. */
  readonly requestedPauseMs?: number;
}

/** Extracts the failure from an error that the SDKs may have wrapped. */
export function toFailure(error: unknown): Failure {
  const chain = listCauses(error);
  const apiError = chain.find(hasStatus);
  if (apiError !== undefined) {
    const pauseMs = readRetryAfter(apiError);
    return {
      status: apiError.status,
      message: readMessage(apiError),
      isRetryable: isRetryable(apiError),
      ...(pauseMs === undefined ? {} : { requestedPauseMs: pauseMs }),
    };
  }
  const failed = chain.find((cause) => cause instanceof FailedResponse);
  if (failed !== undefined) return { message: failed.message, isRetryable: !failed.isPermanent };
  return { message: formatError(chain.at(-1) ?? error), isRetryable: true };
}

const hasStatus = (error: Error): error is Error & { readonly status: number } =>
  "status" in error && typeof error.status === "number";

function listCauses(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let cause = error; cause instanceof Error && chain.length < 10; cause = cause.cause) chain.push(cause);
  return chain;
}

/** Reads the provider's message from the JSON around it. */
function readMessage(error: Error): string {
  let message = formatError(error);
  let body: unknown = "error" in error ? error.error : undefined;
  for (let depth = 0; depth < 2 && typeof body === "object" && body !== null; depth++) {
    if ("message" in body && typeof body.message === "string") message = body.message;
    body = "error" in body ? body.error : undefined;
  }
  return message;
}

function isRetryable(error: Error & { readonly status: number }): boolean {
  const { status } = error;
  if (readHeader(error, "x-should-retry") === "false") return false;
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

function readHeader(error: Error, name: string): string | null {
  const headers = "headers" in error ? error.headers : undefined;
  return headers instanceof Headers ? headers.get(name) : null;
}

function readRetryAfter(error: Error): number | undefined {
  const seconds = Number.parseFloat(readHeader(error, "retry-after") ?? "");
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
}

/** Whether another provider may succeed where this call failed: the provider is down, throttles, or refuses its key or bill. */
export function isOutage(error: unknown): boolean {
  if (isSettled(error)) return false;
  const { status } = toFailure(error);
  return status === undefined || status === 408 || status === 429 || status >= 500;
}

/** Whether the provider refused a request because it exceeds the model's context window. */
export const isOverflow = (error: unknown): boolean => error instanceof ContextWindowOverflowError;

/** Reads the provider's words about an overflow, without those by which the SDK recognizes it. */
export function readOverflow({ message }: ContextWindowOverflowError): string {
  const json = message.indexOf("{");
  const body: unknown = json < 0 ? undefined : parseJson(message.slice(json));
  const words = body === undefined ? message : readMessage(Object.assign(new Error(message), { error: body }));
  return words.replace(/^(?:\d{3} )?(?:context_length_exceeded|prompt is too long): /, "");
}

/** A retry would fail again. The loop of the turn and the conversation manager handle these errors. */
const isSettled = (error: unknown): boolean => error instanceof MaxTokensError || isOverflow(error);

/** Retries model calls that may succeed later. The gateway retries too, but only before the first byte of a response. */
export class ModelRetries extends ModelRetryStrategy {
  readonly name = "runyard:ask-again";
  readonly #signal: AbortSignal;
  readonly #onRetry: (retry: ModelRetry) => void;
  readonly #maxTries: number;
  #failingSince = 0;

  /** @param signal aborted when the response is no longer needed */
  constructor(signal: AbortSignal, onRetry: (retry: ModelRetry) => void, hasFallback = false) {
    super();
    this.#maxTries = hasFallback ? MAX_TRIES_WITH_FALLBACK : MAX_TRIES;
    this.#signal = signal;
    this.#onRetry = onRetry;
  }

  /** Makes a call that is not one of the agent's loop, again after failures that may pass. */
  async repeat<T>(call: () => Promise<T>): Promise<T> {
    for (let attemptCount = 1; ; attemptCount++) {
      try {
        return await call();
      } catch (error) {
        const decision = this.computeRetryDecision({ error: toError(error), attemptCount });
        if (!decision.retry) throw error;
        await sleep(decision.waitMs, undefined, { signal: this.#signal });
      }
    }
  }

  protected override computeRetryDecision({
    error,
    attemptCount,
  }: Pick<AfterModelCallEvent, "error" | "attemptCount">) {
    if (this.#signal.aborted || isSettled(error)) return { retry: false } as const;
    const { isRetryable, requestedPauseMs = 0, message } = toFailure(error);
    if (attemptCount === 1) this.#failingSince = Date.now();
    if (!isRetryable || attemptCount >= this.#maxTries || requestedPauseMs > MAX_REQUESTED_PAUSE_MS)
      return { retry: false } as const;
    const longest = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attemptCount - 1));
    // Jitter, so that runs that were throttled together do not retry together.
    const waitMs = Math.max(requestedPauseMs, longest * (0.5 + Math.random() / 2));
    if (Date.now() + waitMs - this.#failingSince > MAX_RETRY_MS) return { retry: false } as const;
    this.#onRetry({ attempt: attemptCount, of: this.#maxTries, reason: message, nextInMs: Math.round(waitMs) });
    return { retry: true, waitMs } as const;
  }
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
