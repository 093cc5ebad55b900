import type { RequestWarning } from "./generated/types.ts";

/** A function with the interface of the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The options of a client. */
export interface ClientOptions {
  /**
   * A personal key (`ryp_…`), an agent's (`rya_…`) or a run's (`ryr_…`), or a function that returns the current key.
   * @default the environment variable RUNYARD_API_KEY
   */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
  /**
   * The base URL of the API, which ends in `/api/v1`.
   * @default the environment variable RUNYARD_BASE_URL
   */
  readonly baseURL?: string | undefined;
  /** The uid of the team for all requests. Required only for people with several teams. */
  readonly team?: string | undefined;
  /**
   * Milliseconds for one attempt, including the body unless it is a download.
   * @default 60000
   */
  readonly timeout?: number | undefined;
  /**
   * The number of retries after a timeout, a connection error, 408, 429, 500 and above, and retryable 409 responses.
   * @default 2
   */
  readonly maxRetries?: number | undefined;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Receives the warnings of a response, such as members of the request that the service does not know.
   * @default they are printed by `console.warn`
   */
  readonly onWarnings?: ((warnings: readonly RequestWarning[]) => void) | undefined;
  /** @default the global fetch */
  readonly fetch?: Fetch | undefined;
  /**
   * Waits between attempts.
   * @internal
   */
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** Options of one call, which override those of the client. */
export interface RequestOptions {
  /** Milliseconds for each attempt. */
  readonly timeout?: number | undefined;
  readonly maxRetries?: number | undefined;
  /** Aborts the call, including waits and retries, with an APIUserAbortError. */
  readonly signal?: AbortSignal | undefined;
  /** Headers of this call. They override all others. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly team?: string | undefined;
  /**
   * Makes this POST safe to retry: for 24 hours, a request with the same key and body returns the first response. Set it
   * to retry a request safely after a restart of the program.
   * @default a random key for each call, reused by its retries
   */
  readonly idempotencyKey?: string | undefined;
}
