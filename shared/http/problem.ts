import { ERRORS, type ErrorCode, RunyardError } from "#shared/errors.ts";
import { TableBusy } from "#shared/table/table.ts";

export interface HttpResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

export interface ProblemContext {
  readonly baseUrl: string;
  readonly instance: string;
  readonly traceId: string;
}

/** The URI that identifies an error code; a page there explains it. */
const problemType = (baseUrl: string, code: ErrorCode): string => `${baseUrl}/docs/errors/${code.replaceAll("_", "-")}`;

/** How AWS's services name it that too much is asked of them; their clients have tried again before they say so. */
const THROTTLED: ReadonlySet<string> = new Set([
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "SlowDown",
  "ThrottlingException",
  "TooManyRequestsException",
]);

/** Middy throws it when a function runs out of time, the SDK when a call does. */
const OUT_OF_TIME = "TimeoutError";

const isTooMuch = (error: unknown): boolean =>
  error instanceof TableBusy || (error instanceof Error && (THROTTLED.has(error.name) || error.name === OUT_OF_TIME));

/** An application/problem+json answer (RFC 9457). What is not a RunyardError says nothing but its trace id. */
export function problem(error: unknown, context: ProblemContext): HttpResponse {
  const unknown = () =>
    new RunyardError(isTooMuch(error) ? "resource_unavailable" : "internal_error", { cause: error });
  const known = error instanceof RunyardError ? error : unknown();
  const { title } = ERRORS[known.code];
  return {
    statusCode: known.status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      "x-request-id": context.traceId,
      "x-should-retry": String(known.retryable),
      ...(known.retryAfterSeconds === undefined ? {} : { "retry-after": String(known.retryAfterSeconds) }),
      ...known.headers,
    },
    body: JSON.stringify({
      type: problemType(context.baseUrl, known.code),
      title,
      status: known.status,
      ...(known.detail === undefined ? {} : { detail: known.detail }),
      instance: context.instance,
      error: known.detail === undefined ? title : `${title} (${known.detail})`,
      error_code: known.code,
      retryable: known.retryable,
      trace_id: context.traceId,
      ...(known.errors === undefined ? {} : { errors: known.errors }),
    }),
  };
}
