import * as v from "valibot";

/** An error response (RFC 9457, application/problem+json). */
export const Problem = v.object({
  /** The URL of the documentation of the error code. @format uri */
  type: v.string(),
  /** A short summary of the error code. */
  title: v.string(),
  /** The HTTP status of the response. */
  status: v.pipe(v.number(), v.integer()),
  /** What is wrong with this request, with the name of the field. */
  detail: v.exactOptional(v.string()),
  /** The path of the request. */
  instance: v.string(),
  /** The title, followed by the detail in parentheses if there is one. */
  error: v.string(),
  /** The error code, one of a closed list. */
  error_code: v.string(),
  /** Whether the same request may succeed later. */
  retryable: v.boolean(),
  /** The id of the request's trace, to quote in a support request. */
  trace_id: v.exactOptional(v.string()),
  /** One entry for each invalid field. */
  errors: v.exactOptional(
    v.array(
      v.object({
        /** The path of the field, such as `config.skills[0]`, or the parameter's name. */
        path: v.string(),
        /** What is wrong with the field. */
        message: v.string(),
      }),
    ),
  ),
});
