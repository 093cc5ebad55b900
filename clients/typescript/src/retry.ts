import { type APIError, APIUserAbortError } from "./errors.ts";

/** The longest wait that a response may request, in milliseconds. */
const LONGEST_WAIT = 60_000;

/**
 * Returns the milliseconds to wait before a retry, or undefined if there should be none. `repeats` is the number of
 * previous retries.
 */
export function waitBeforeRepeat(error: APIError, repeats: number): number | undefined {
  if (!isRepeatable(error)) return undefined;
  const requested = readRetryAfter(error.headers);
  // Full jitter: many clients that fail together do not come back together.
  const wait = requested ?? Math.random() * Math.min(8000, 500 * 2 ** repeats);
  return wait <= LONGEST_WAIT ? wait : undefined;
}

function isRepeatable(error: APIError): boolean {
  if (error instanceof APIUserAbortError) return false;
  const { status, headers, retryable } = error;
  const override = headers?.get("x-should-retry");
  if (override === "true" || override === "false") return override === "true";
  if (status === undefined || status === 408 || status === 429 || status >= 500) return true;
  return status === 409 && retryable === true;
}

function readRetryAfter(headers: Headers | undefined): number | undefined {
  const milliseconds = headers?.get("retry-after-ms")?.trim() ?? "";
  if (NUMBER.test(milliseconds)) return Number(milliseconds);
  const after = headers?.get("retry-after")?.trim() ?? "";
  if (NUMBER.test(after)) return Number(after) * 1000;
  const date = /^[A-Z]/i.test(after) ? Date.parse(after) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

const NUMBER = /^\d+(\.\d+)?$/;

/** Waits; a signal ends the wait with an APIUserAbortError. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(new APIUserAbortError("The call was aborted.", { cause: signal?.reason }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end, { once: true });
  });
}
