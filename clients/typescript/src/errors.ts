import type { Problem } from "./generated/types.ts";

/** Everything that this library throws. By itself: it was used wrongly, and nothing was sent. */
export class RunyardError extends Error {
  override name = "RunyardError";
}

/** A request did not succeed. `cause` is what lies beneath, where something does. */
export class APIError extends RunyardError {
  override name = "APIError";
  /** The status of the answer; undefined where there was none. */
  readonly status: number | undefined;
  readonly headers: Headers | undefined;
  /** The body of the answer, parsed where it is JSON. A gateway's own answers are no problem+json. */
  readonly body: unknown;
  /** One of the API's closed list, such as `resource_not_found`. */
  readonly errorCode: string | undefined;
  /** The address of the page about this kind of error. */
  readonly type: string | undefined;
  readonly title: string | undefined;
  /** What is wrong with this request. */
  readonly detail: string | undefined;
  /** The path of the request, as the API saw it. */
  readonly instance: string | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean | undefined;
  /** One entry for each field that is wrong; often empty. */
  readonly errors: readonly { path: string; message: string }[];
  /** What to name to whoever runs the service: it leads to the logs. */
  readonly traceId: string | undefined;
  /** The answer's `x-request-id`: the same as `traceId`, and there for every answer. */
  readonly requestId: string | undefined;

  constructor(message: string, answer: { status?: number; headers?: Headers; body?: unknown; cause?: unknown } = {}) {
    super(message, "cause" in answer ? { cause: answer.cause } : undefined);
    const problem = problemOf(answer.body);
    this.status = answer.status;
    this.headers = answer.headers;
    this.body = answer.body;
    this.errorCode = problem.error_code;
    this.type = problem.type;
    this.title = problem.title;
    this.detail = problem.detail;
    this.instance = problem.instance;
    this.retryable = problem.retryable;
    this.errors = Array.isArray(problem.errors) ? problem.errors : [];
    this.requestId = answer.headers?.get("x-request-id") ?? undefined;
    this.traceId = problem.trace_id ?? this.requestId;
  }
}

/** No answer came, or one that broke off or could not be read. */
export class APIConnectionError extends APIError {
  override name = "APIConnectionError";
}

/** The answer took longer than `timeout`. */
export class APITimeoutError extends APIConnectionError {
  override name = "APITimeoutError";
}

/** The caller's AbortSignal ended the request; `cause` is its reason. */
export class APIUserAbortError extends APIError {
  override name = "APIUserAbortError";
}

/** 400: the request is not valid; `errors` names the fields. */
export class BadRequestError extends APIError {
  override name = "BadRequestError";
}

/** 401: the key is missing, malformed, expired or deleted. */
export class AuthenticationError extends APIError {
  override name = "AuthenticationError";
}

/** 403: the caller may not do this. */
export class PermissionDeniedError extends APIError {
  override name = "PermissionDeniedError";
}

/** 404: there is no such thing, or none that the caller may see. */
export class NotFoundError extends APIError {
  override name = "NotFoundError";
}

/** 409: the current state stands against it. */
export class ConflictError extends APIError {
  override name = "ConflictError";
}

/** 422: understood, and not supported for this resource. */
export class UnprocessableEntityError extends APIError {
  override name = "UnprocessableEntityError";
}

/** 429: a limit is reached for now. */
export class RateLimitError extends APIError {
  override name = "RateLimitError";
}

/** 500 and above: something went wrong on the other side. */
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

/** The error that an answer stands for; `text` is its body. */
export function errorOf({ status, headers }: Response, text: string): APIError {
  const body = parsed(text);
  const { error, title, detail, message } = problemOf(body);
  const said = error ?? detail ?? title ?? message ?? (typeof body === "string" ? body.slice(0, 200) : "");
  const Class = CLASSES[status] ?? (status >= 500 ? InternalServerError : APIError);
  return new Class(`${status} ${said}`.trim(), { status, headers, body });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function problemOf(body: unknown): Partial<Problem> & { message?: string } {
  return typeof body === "object" && body !== null ? body : {};
}
