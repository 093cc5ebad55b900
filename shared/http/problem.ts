import { ERRORS, type ErrorCode, RunyardError } from "#shared/errors.ts";
import { TableBusy } from "#shared/table/table.ts";

/** The text of a stream of events, piece by piece. */
export type EventText = AsyncGenerator<string, void>;

export interface HttpResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
  /** The body piece by piece, instead of `body`. Only compositions that can stream receive it. */
  stream?: EventText;
}

export interface ProblemContext {
  readonly baseUrl: string;
  readonly instance: string;
  readonly traceId: string;
}

/** The URI that identifies an error code; a page there explains it. */
export const problemType = (baseUrl: string, code: ErrorCode): string =>
  `${baseUrl}/docs/errors/${code.replaceAll("_", "-")}`;

/** Names of the throttling errors of AWS services; their clients have retried before they throw one. */
const THROTTLED: ReadonlySet<string> = new Set([
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "SlowDown",
  "ThrottlingException",
  "TooManyRequestsException",
]);

/** Thrown by middy when a function times out, and by the SDK when a call does. */
const OUT_OF_TIME = "TimeoutError";

const isTooMuch = (error: unknown): boolean =>
  error instanceof TableBusy || (error instanceof Error && (THROTTLED.has(error.name) || error.name === OUT_OF_TIME));

/** Renders an application/problem+json response (RFC 9457). Of an error that is no RunyardError it shows only the trace id. */
export function problem(error: unknown, context: ProblemContext): HttpResponse {
  const unknown = () => new RunyardError(isTooMuch(error) ? "resource_unavailable" : "internal_error");
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
    // Members that are undefined are left out.
    body: JSON.stringify({
      type: problemType(context.baseUrl, known.code),
      title,
      status: known.status,
      detail: known.detail,
      instance: context.instance,
      error: known.detail === undefined ? title : `${title} (${known.detail})`,
      error_code: known.code,
      retryable: known.retryable,
      trace_id: context.traceId,
      errors: known.errors,
    }),
  };
}
