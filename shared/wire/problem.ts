import * as v from "valibot";

/** An error answer (RFC 9457, application/problem+json). */
export const Problem = v.object({
  /** Identifies the error code, and opens a page about it. */
  type: v.string(),
  /** What kind of problem it is, in a few words. */
  title: v.string(),
  status: v.pipe(v.number(), v.integer()),
  /** What is wrong with this request; names the field. */
  detail: v.exactOptional(v.string()),
  /** The path of the request. */
  instance: v.string(),
  /** The title, with the detail in parentheses where there is one. */
  error: v.string(),
  error_code: v.string(),
  /** Whether the same request may succeed later. */
  retryable: v.boolean(),
  /** What to name to whoever runs the service. */
  trace_id: v.exactOptional(v.string()),
  /** One entry for each field that is wrong. */
  errors: v.exactOptional(v.array(v.object({ path: v.string(), message: v.string() }))),
});
