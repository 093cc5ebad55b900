import type { Problem } from "./generated/types.ts";

/** The base class of all errors. Thrown itself if the client is used incorrectly, before any request is sent. */
export class RunyardError extends Error {
  override name = "RunyardError";
}

/** A followed run has not ended within `maxWait`. It continues. */
export class RunTimeoutError extends RunyardError {
  override name = "RunTimeoutError";
  readonly runId: string;

  constructor(runId: string, maxWait: number) {
    super(`The run ${runId} has not ended within ${maxWait} ms. It continues.`);
    this.runId = runId;
  }
}

/** A request failed. `cause` is the underlying error, if there is one. */
export class APIError extends RunyardError {
  override name = "APIError";
  /** The status of the response. Undefined if there was none. */
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  /** The body of the response, parsed if it is JSON. Responses of a gateway are not problem+json. */
  readonly body: unknown;
  /** The error code, one of a closed list, such as `resource_not_found`. */
  readonly errorCode: string | undefined;
  /** The URL of the documentation of the error code. */
  readonly type: string | undefined;
  readonly title: string | undefined;
  /** What is wrong with this request. */
  readonly detail: string | undefined;
  /** The path of the request, as the API received it. */
  readonly instance: string | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean | undefined;
  /** One entry for each invalid field; often empty. */
  readonly errors: readonly { path: string; message: string }[];
  /** The id of the request's trace, to quote in a support request. */
  readonly traceId: string | undefined;
  /** The header `x-request-id`: equal to `traceId`, and present on every response. */
  readonly requestId: string | undefined;

  constructor(message: string, response: { status?: number; headers?: Headers; body?: unknown; cause?: unknown } = {}) {
    super(message, "cause" in response ? { cause: response.cause } : undefined);
    const problem = toProblem(response.body);
    this.status = response.status;
    this.headers = response.headers;
    this.body = response.body;
    this.errorCode = problem.error_code;
    this.type = problem.type;
    this.title = problem.title;
    this.detail = problem.detail;
    this.instance = problem.instance;
    this.retryable = problem.retryable;
    this.errors = Array.isArray(problem.errors) ? problem.errors : [];
    this.requestId = response.headers?.get("x-request-id") ?? undefined;
    this.traceId = problem.trace_id ?? this.requestId;
  }
}

/** There was no response, or it was incomplete or unreadable. */
export class APIConnectionError extends APIError {
  override name = "APIConnectionError";
}

/** There was no response within `timeout`. */
export class APITimeoutError extends APIConnectionError {
  override name = "APITimeoutError";
}

/** The caller's AbortSignal aborted the request. `cause` is its reason. */
export class APIUserAbortError extends APIError {
  override name = "APIUserAbortError";
}

/** 400: the request is invalid. `errors` lists the invalid fields. */
export class BadRequestError extends APIError {
  override name = "BadRequestError";
}

/** 401: the API key is missing, malformed, expired or revoked. */
export class AuthenticationError extends APIError {
  override name = "AuthenticationError";
}

/** 403: the caller is not allowed to do this. */
export class PermissionDeniedError extends APIError {
  override name = "PermissionDeniedError";
}

/** 404: the resource does not exist or is not visible to the caller. */
export class NotFoundError extends APIError {
  override name = "NotFoundError";
}

/** 409: the request conflicts with the current state of the resource. */
export class ConflictError extends APIError {
  override name = "ConflictError";
}

/** 422: the operation is not supported. */
export class UnprocessableEntityError extends APIError {
  override name = "UnprocessableEntityError";
}

/** 429: a rate or capacity limit is reached. */
export class RateLimitError extends APIError {
  override name = "RateLimitError";
}

/** 500 and above: the service failed. */
export class InternalServerError extends APIError {
  override name = "InternalServerError";
}

const CLASSES: Readonly<Record<number, typeof APIError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableEntityError,
  429: RateLimitError,
};

/** Creates the error for a response with the body `text`. */
export function toAPIError({ status, headers }: Response, text: string): APIError {
  const body = parseBody(text);
  const { error, title, detail, message } = toProblem(body);
  const summary = error ?? detail ?? title ?? message ?? (typeof body === "string" ? body.slice(0, 200) : "");
  const Class = CLASSES[status] ?? (status >= 500 ? InternalServerError : APIError);
  return new Class(`${status} ${summary}`.trim(), { status, headers, body });
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function toProblem(body: unknown): Partial<Problem> & { message?: string } {
  return typeof body === "object" && body !== null ? body : {};
}
