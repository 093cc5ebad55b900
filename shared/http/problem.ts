import { ERRORS, type ErrorCode, RunyardError } from "#shared/errors.ts";

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

/** An application/problem+json answer (RFC 9457). What is not a RunyardError says nothing but its trace id. */
export function problem(error: unknown, context: ProblemContext): HttpResponse {
  const known = error instanceof RunyardError ? error : new RunyardError("internal_error", { cause: error });
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
