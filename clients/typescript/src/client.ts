import { ApiResources } from "./generated/client.ts";
import type { ClientOptions } from "./options.ts";
import type { APIPromise } from "./promise.ts";
import { type APIRequest, Transport } from "./transport.ts";

/**
 * The client of the API.
 *
 * ```ts
 * const client = new Runyard(); // RUNYARD_API_KEY and RUNYARD_BASE_URL
 * const run = await client.runs.createAndWait({ prompt: "Fix the flaky test." });
 * ```
 *
 * The constructor throws a RunyardError if the API key or the base URL is missing or invalid.
 */
export class Runyard extends ApiResources {
  readonly #transport: Transport;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions = {}) {
    const transport = new Transport(options);
    super(transport);
    this.#transport = transport;
    this.#options = options;
  }

  /** Returns a copy of the client with other options. */
  withOptions(options: ClientOptions): Runyard {
    return new Runyard({ ...this.#options, ...options });
  }

  /** List the skills in repositories; the same as `agents`, its older name. */
  get skills(): ApiResources["agents"] {
    return this.agents;
  }

  /** The base URL of the API, without a trailing slash. */
  get baseURL(): string {
    return this.#transport.baseURL;
  }

  /** Sends a request that has no method of its own. The response is returned as T without validation. */
  request<T = unknown>(request: APIRequest): APIPromise<T> {
    return this.#transport.request(request);
  }
}
