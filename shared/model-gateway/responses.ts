import { type ErrorCode, RunyardError } from "#shared/errors.ts";
import { NotConfigured } from "#shared/model-provider/model-provider.ts";
import type { Dialect } from "./dialect.ts";
import { TimedOut, Unreached } from "./upstream.ts";

/** Headers of a provider's response that are passed to the caller. */
const PASSED = ["content-type", "retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id"];

const NO_STORE = { "cache-control": "no-store" } as const;

export function responseHeaders(response: Response): Record<string, string> {
  const passed = PASSED.map((name) => [name, response.headers.get(name)] as const);
  return {
    ...Object.fromEntries(passed.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))),
    ...NO_STORE,
  };
}

/** Creates an error of the gateway in the caller's dialect. */
export function failure(
  dialect: Dialect,
  status: number,
  message: string,
  code?: ErrorCode,
  retryAfter?: number,
): Response {
  return Response.json(dialect.error(status, message, code), {
    status,
    headers: { ...NO_STORE, ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }) },
  });
}

/** Converts an error before the provider's response to the caller's dialect. An unknown error has no details. */
export function toFailure(dialect: Dialect, error: unknown): Response {
  if (error instanceof RunyardError) {
    const { status, detail, message, code, retryable, retryAfterSeconds } = error;
    // The status is enough for the end of the execution and for invalid fields; only errors of the service have a code.
    const visibleCode = status === 403 || status === 429 ? code : undefined;
    return failure(dialect, status, detail ?? message, visibleCode, retryable ? retryAfterSeconds : undefined);
  }
  if (error instanceof NotConfigured) {
    const refusal = failure(dialect, 500, error.message);
    // A key that is missing stays so for longer than an agent repeats its call.
    refusal.headers.set("x-should-retry", "false");
    return refusal;
  }
  if (error instanceof TimedOut) return failure(dialect, 504, error.message);
  if (error instanceof Unreached) return failure(dialect, 502, error.message);
  return failure(dialect, 502, "the model's provider could not be reached");
}
