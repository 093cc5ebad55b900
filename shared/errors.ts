/** The closed list of what can go wrong, and what each code means on the wire. */

interface Meaning {
  readonly title: string;
  readonly status: number;
  readonly retryable: boolean;
  /**
   * The final state of a run with this error: FAILED for a fault of the caller or the agent, ERROR for one of the
   * platform.
   */
  readonly endsIn: "FAILED" | "ERROR";
}

const meaning = (title: string, status: number, endsIn: "FAILED" | "ERROR", retryable = false): Meaning => ({
  title,
  status,
  retryable,
  endsIn,
});

export const ERRORS = {
  invalid_request: meaning("The request is not valid", 400, "FAILED"),
  authentication_required: meaning("A valid API key is required", 401, "ERROR"),
  not_authorized: meaning("This principal may not do this", 403, "FAILED"),
  feature_not_available: meaning("The plan does not include this", 403, "FAILED"),
  insufficient_credits: meaning("There are not enough credits", 403, "FAILED"),
  budget_exceeded: meaning("The budget is spent", 403, "FAILED"),
  external_authentication_required: meaning("An external service wants to be signed in to", 403, "FAILED"),
  integration_disabled: meaning("The integration is disabled", 403, "FAILED"),
  integration_not_configured: meaning("The integration is not configured", 403, "FAILED"),
  content_policy_violation: meaning("The content policy forbids this", 403, "FAILED"),
  resource_not_found: meaning("There is no such resource", 404, "FAILED"),
  conflict: meaning("The request conflicts with the current state", 409, "FAILED"),
  operation_not_supported: meaning("This operation is not supported here", 422, "FAILED"),
  environment_setup_failed: meaning("The environment could not be set up", 422, "FAILED"),
  resource_unavailable: meaning("The request cannot be served for now", 503, "ERROR", true),
  internal_error: meaning("Something went wrong on our side", 500, "ERROR", true),
} as const satisfies Record<string, Meaning>;

export type ErrorCode = keyof typeof ERRORS;

export interface FieldError {
  /** Where in the request: a JSON path such as `config.skills[0]`, or a parameter's name. */
  readonly path: string;
  readonly message: string;
}

interface Details {
  readonly detail?: string;
  readonly errors?: readonly FieldError[];
  /** Where it differs from the code's own (405, 413, 415, 426, 429). */
  readonly status?: number;
  readonly retryable?: boolean;
  readonly retryAfterSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** The only error that callers see as it is; any other becomes an `internal_error` without details. */
export class RunyardError extends Error {
  readonly code: ErrorCode;
  readonly detail: string | undefined;
  readonly errors: readonly FieldError[] | undefined;
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, details: Details = {}) {
    super(details.detail ?? ERRORS[code].title, { cause: details.cause });
    this.name = "RunyardError";
    this.code = code;
    this.detail = details.detail;
    this.errors = details.errors;
    this.status = details.status ?? ERRORS[code].status;
    this.retryable = details.retryable ?? ERRORS[code].retryable;
    this.retryAfterSeconds = details.retryAfterSeconds ?? (this.retryable ? 1 : undefined);
    this.headers = details.headers ?? {};
  }
}

export const invalid = (path: string, message: string): RunyardError =>
  new RunyardError("invalid_request", { detail: `${path}: ${message}`, errors: [{ path, message }] });

/** A resource of another team gets the same response as a missing one. */
export const notFound = (what: string): RunyardError =>
  new RunyardError("resource_not_found", { detail: `there is no such ${what}` });

/** Another change came first: the same request may succeed immediately. */
export const retryableConflict = (detail: string): RunyardError =>
  new RunyardError("conflict", { detail, retryable: true, retryAfterSeconds: 1 });
