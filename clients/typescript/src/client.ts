import { ApiResources } from "./generated/client.ts";
import type { ClientOptions } from "./options.ts";
import type { APIPromise } from "./promise.ts";
import { type APIRequest, Transport } from "./transport.ts";

/**
 * A client of the API.
 *
 * ```ts
 * const client = new Runyard(); // RUNYARD_API_KEY and RUNYARD_BASE_URL
 * const run = await client.runs.createAndWait({ prompt: "Fix the flaky test." });
 * ```
 *
 * It throws a RunyardError where there is no key or no address.
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

  /** A client that is made as this one was, but for these options. */
  withOptions(options: ClientOptions): Runyard {
    return new Runyard({ ...this.#options, ...options });
  }

  /** The address of the API, without a slash at its end. */
  get baseURL(): string {
    return this.#transport.baseURL;
  }

  /** Calls what this client has no method for. T is what it answers, and is not checked. */
  request<T = unknown>(request: APIRequest): APIPromise<T> {
    return this.#transport.request(request);
  }
}
