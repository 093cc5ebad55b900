/** What `fetch` is here: any function that does the same will do. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** How a client is made. */
export interface ClientOptions {
  /**
   * A personal key (`ryp_…`), an agent's (`rya_…`) or a run's (`ryr_…`), or a function that answers the current one.
   * @default the environment variable RUNYARD_API_KEY
   */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined;
  /**
   * The address of the API, which ends in `/api/v1`.
   * @default the environment variable RUNYARD_BASE_URL
   */
  readonly baseURL?: string | undefined;
  /** The uid of the team that calls are for. Only a person with several teams needs it. */
  readonly team?: string | undefined;
  /**
   * Milliseconds that one attempt may take, with its body unless that is a download.
   * @default 60000
   */
  readonly timeout?: number | undefined;
  /**
   * How often a request is sent again after a time-out, a connection error, 408, 429, 500 and above, and 409 where it says so.
   * @default 2
   */
  readonly maxRetries?: number | undefined;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** @default the global fetch */
  readonly fetch?: Fetch | undefined;
  /**
   * What waits between attempts.
   * @internal
   */
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** What one call may have otherwise than its client. */
export interface RequestOptions {
  /** Milliseconds for each attempt. */
  readonly timeout?: number | undefined;
  readonly maxRetries?: number | undefined;
  /** Ends the call, its waits and its repeats included, with an APIUserAbortError. */
  readonly signal?: AbortSignal | undefined;
  /** Headers of this call; they win over all others. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly team?: string | undefined;
  /**
   * The name of this POST: another with the same name and body is answered as the first was, for 24 hours. Give one to
   * make a request safe to repeat across restarts of the program.
   * @default a random one for each call, kept over its repeats
   */
  readonly idempotencyKey?: string | undefined;
}
