import { textOf } from "./values.js";

/** An answer of the API that is not a success. */
export class ApiProblem extends Error {
  /**
   * @param {number} status
   * @param {string} message
   * @param {{traceId?: string | undefined, retryAfterMs?: number | undefined}} [more]
   */
  constructor(status, message, more = {}) {
    super(message);
    this.status = status;
    this.traceId = more.traceId;
    this.retryAfterMs = more.retryAfterMs;
  }
}

/** @typedef {ReturnType<typeof apiClient>} Api */

/**
 * Reads the API of this origin with a key, until `signal` says that the reader has gone.
 *
 * @param {string} key
 * @param {AbortSignal} signal
 */
export function apiClient(key, signal) {
  /**
   * @param {string} path
   * @param {number} timeoutMs
   */
  const call = async (path, timeoutMs) => {
    const answer = await fetch(`/api/v1${path}`, {
      headers: { authorization: `Bearer ${key}` },
      cache: "no-store",
      credentials: "omit",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (answer.ok) return answer;
    throw await problemOf(answer);
  };
  return {
    /**
     * @template Body
     * @param {string} path
     * @param {number} [timeoutMs]
     * @returns {Promise<Body>}
     */
    get: async (path, timeoutMs = 30_000) => (await call(path, timeoutMs)).json(),
  };
}

/**
 * Whether the key itself is refused.
 *
 * @param {unknown} error
 */
export const isRefusal = (error) => error instanceof ApiProblem && error.status === 401;

/**
 * What to tell people about an error.
 *
 * @param {unknown} error
 */
export function describe(error) {
  if (error instanceof ApiProblem) {
    return error.traceId === undefined ? error.message : `${error.message}. Trace id: ${error.traceId}`;
  }
  if (error instanceof DOMException && error.name === "TimeoutError") return "The service did not answer in time.";
  if (error instanceof SyntaxError) return "The service's answer could not be read.";
  return "The service cannot be reached.";
}

/** @param {Response} answer */
async function problemOf(answer) {
  /** @type {unknown} */
  const body = await answer.json().catch(() => undefined);
  const seconds = Number(answer.headers.get("retry-after") ?? Number.NaN);
  return new ApiProblem(answer.status, textOf(body, "error") ?? `The service answered ${answer.status}`, {
    traceId: textOf(body, "trace_id"),
    retryAfterMs: seconds >= 0 ? seconds * 1000 : undefined,
  });
}
