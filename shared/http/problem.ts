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

/** The services that throttle by errors of these names; their clients have retried before they throw one. */
const THROTTLED: ReadonlyMap<string, string> = new Map([
  ["ProvisionedThroughputExceededException", "DynamoDB"],
  ["RequestLimitExceeded", "DynamoDB"],
  ["RequestThrottled", "SQS"],
  ["ServiceQuotaExceededException", "AWS"],
  ["SlowDown", "S3"],
  ["ThrottlingException", "AWS"],
  ["TooManyRequestsException", "Lambda"],
]);

/** Thrown by middy when a function times out, and by the SDK when a call does. */
const OUT_OF_TIME = "TimeoutError";

/** What callers get for an error that is no RunyardError: its details stay in the log. */
function toKnownError(error: unknown): RunyardError {
  const service = error instanceof Error ? THROTTLED.get(error.name) : undefined;
  if (service !== undefined) {
    return new RunyardError("resource_unavailable", {
      detail: `${service} limits the calls of this account: send the request again later, or have the operator ask AWS to raise the quota (Service Quotas)`,
    });
  }
  const isLate = error instanceof TableBusy || (error instanceof Error && error.name === OUT_OF_TIME);
  return new RunyardError(isLate ? "resource_unavailable" : "internal_error");
}

/** Renders an application/problem+json response (RFC 9457). Of an error that is no RunyardError it shows the trace id, and the remedy where AWS throttles. */
export function problem(error: unknown, context: ProblemContext): HttpResponse {
  const known = error instanceof RunyardError ? error : toKnownError(error);
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
