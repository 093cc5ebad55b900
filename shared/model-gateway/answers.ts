import { type ErrorCode, RunyardError } from "#shared/errors.ts";
import { NotConfigured } from "#shared/model-provider/model-provider.ts";
import type { Dialect } from "./dialect.ts";
import { TimedOut } from "./upstream.ts";

/** Headers of a provider's answer that the caller gets. */
const PASSED = ["content-type", "retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id"];

/** What the provider says of the deployment's own key, or of its bill, is no word about the key of the run. */
const REFUSED = new Set([401, 402, 403, 407]);

const NO_STORE = { "cache-control": "no-store" } as const;

export function answerHeaders(answer: Response): Record<string, string> {
  const passed = PASSED.map((name) => [name, answer.headers.get(name)] as const);
  return {
    ...Object.fromEntries(passed.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))),
    ...NO_STORE,
  };
}

/** An error of the gateway itself, in the caller's dialect. */
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

/** What went wrong before there was an answer, in the caller's dialect. What is unknown says nothing. */
export function failureOf(dialect: Dialect, error: unknown): Response {
  if (error instanceof RunyardError) {
    const { status, detail, message, code, retryable, retryAfterSeconds } = error;
    // Whoever is told of the execution's end or of a wrong field knows by the status; only what is ours has a code.
    const told = status === 403 || status === 429 ? code : undefined;
    return failure(dialect, status, detail ?? message, told, retryable ? retryAfterSeconds : undefined);
  }
  if (error instanceof NotConfigured) return failure(dialect, 500, error.message);
  if (error instanceof TimedOut) return failure(dialect, 504, `${error.message}; ask for a streamed answer`);
  return failure(dialect, 502, "the model's provider could not be reached");
}

/** An error of the provider, as it came. */
export async function providersError(dialect: Dialect, answer: Response): Promise<Response> {
  if (REFUSED.has(answer.status)) {
    await answer.body?.cancel();
    return failure(dialect, 500, "the model's provider refused this deployment's own credentials");
  }
  return new Response(await answer.text(), { status: answer.status, headers: answerHeaders(answer) });
}
