import {
  APIConnectionError,
  APIError,
  APITimeoutError,
  APIUserAbortError,
  RunyardError,
  toAPIError,
} from "./errors.ts";
import type { RequestWarning } from "./generated/types.ts";
import type { ClientOptions, Fetch, RequestOptions } from "./options.ts";
import { type PageBody, PagePromise } from "./page.ts";
import { encodeQuery } from "./path.ts";
import { APIPromise, type WithResponse } from "./promise.ts";
import { sleep, waitBeforeRepeat } from "./retry.ts";
import { VERSION } from "./version.ts";

/** A request of the API. */
export interface APIRequest {
  readonly method: string;
  /** The path after the base URL, percent-encoded. */
  readonly path: string;
  readonly query?: object | undefined;
  /** The JSON body. Undefined for no body. */
  readonly body?: unknown;
  /** The format of the response. Default: JSON. */
  readonly responseType?: "json" | "text";
  readonly options?: RequestOptions | undefined;
}

/** A request as every attempt sends it. */
interface Prepared {
  readonly url: string;
  readonly init: RequestInit;
  readonly headers: () => Promise<Headers>;
  readonly options: RequestOptions;
}

/** The longest timer. A longer one would fire immediately. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** Parses a response. Without it, the body stays unread. */
// biome-ignore lint/suspicious/noExplicitAny: only the caller knows the type of the response.
type Read = (response: Response) => Promise<any>;

/** Sends requests: adds common headers, retries, and converts failures to errors. */
export class Transport {
  readonly #options: ClientOptions;
  readonly #baseURL: string;
  readonly #apiKey: NonNullable<ClientOptions["apiKey"]>;

  constructor(options: ClientOptions) {
    this.#options = options;
    const apiKey = required("apiKey", options.apiKey, "RUNYARD_API_KEY");
    this.#apiKey = typeof apiKey === "function" ? apiKey : checkKey(apiKey);
    this.#baseURL = required("baseURL", options.baseURL, "RUNYARD_BASE_URL").replace(/(?<!\/)\/+$/, "");
    // In a browser, an address without a host is one of the page's origin.
    if (!/^(https?:\/)?\//i.test(this.#baseURL))
      throw new RunyardError(`The baseURL must begin with http:// or https://, not ${JSON.stringify(this.#baseURL)}.`);
  }

  get baseURL(): string {
    return this.#baseURL;
  }

  /** The default timeout of an attempt, in milliseconds. */
  get timeout(): number {
    return this.#options.timeout ?? 60_000;
  }

  /** Waits between attempts and between polls. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return (this.#options.sleep ?? sleep)(ms, signal);
  }

  /** Sends an API request. The response is returned as T without validation. */
  request<T>(request: APIRequest): APIPromise<T> {
    return new APIPromise((read) => this.#send<T>(request, read));
  }

  /** Requests a page of a list, and the following pages with the same query. */
  page<Item, Body extends PageBody>(
    request: APIRequest,
    getItems: (body: Body) => readonly Item[],
  ): PagePromise<Item, Body> {
    return new PagePromise(
      (read) => this.#send<Body>(request, read),
      getItems,
      (cursor) => this.page({ ...request, query: { ...request.query, cursor } }, getItems),
    );
  }

  /** Fetches a signed URL of the storage, without the API's headers and credentials. */
  async storage(url: string, init: RequestInit, options: RequestOptions = {}): Promise<Response> {
    const headers = async () => new Headers(init.headers);
    return (await this.#repeat({ url, init, headers, options })).response;
  }

  async #send<T>(request: APIRequest, read: boolean): Promise<WithResponse<T>> {
    const { method, body, query, options = {} } = request;
    const idempotencyKey = method === "POST" ? (options.idempotencyKey ?? randomKey()) : undefined;
    const prepared: Prepared = {
      url: `${this.#baseURL}${request.path}${encodeQuery(query)}`,
      init: { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
      headers: () => this.#headers(request, idempotencyKey),
      options,
    };
    if (!read) return this.#repeat<T>(prepared);
    return this.#repeat<T>(prepared, async (response) => {
      const text = await response.text();
      // A 202 may have a body or none.
      if (text === "" && [202, 204].includes(response.status)) return undefined;
      if (request.responseType === "text") return text;
      const data: unknown = parseJson(response, text);
      const warnings = listWarnings(data, text);
      if (warnings.length > 0) (this.#options.onWarnings ?? printWarnings)(warnings);
      return data;
    });
  }

  async #headers(
    { body, responseType = "json", options = {} }: APIRequest,
    idempotencyKey: string | undefined,
  ): Promise<Headers> {
    const key = typeof this.#apiKey === "function" ? checkKey(await this.#apiKey()) : this.#apiKey;
    const team = options.team ?? this.#options.team;
    const headers = new Headers({
      accept: responseType === "json" ? "application/json" : "text/*",
      authorization: `Bearer ${key}`,
    });
    // Browsers set this header themselves; a custom value would require a CORS preflight.
    if (environment()?.versions?.node !== undefined) headers.set("user-agent", `runyard-typescript/${VERSION}`);
    if (body !== undefined) headers.set("content-type", "application/json");
    if (team !== undefined) headers.set("x-team-uid", team);
    if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
    for (const [name, value] of Object.entries({ ...this.#options.headers, ...options.headers }))
      headers.set(name, value);
    return headers;
  }

  async #repeat<T>(request: Prepared, read?: Read): Promise<WithResponse<T>> {
    const maxRetries = request.options.maxRetries ?? this.#options.maxRetries ?? 2;
    for (let repeats = 0; ; repeats++) {
      try {
        const headers = await request.headers();
        if (repeats > 0) headers.set("x-stainless-retry-count", String(repeats));
        return await this.#attempt(request, headers, read);
      } catch (error) {
        const wait = error instanceof APIError ? waitBeforeRepeat(error, repeats) : undefined;
        if (wait === undefined || repeats >= maxRetries) throw error;
        await this.sleep(wait, request.options.signal);
      }
    }
  }

  async #attempt(request: Prepared, headers: Headers, read: Read | undefined) {
    const { signal, timeout = this.timeout } = request.options;
    const controller = new AbortController();
    const abort = (): void => controller.abort(signal?.reason);
    let late = false;
    const timer = setTimeout(
      () => {
        late = true;
        controller.abort();
      },
      Math.min(timeout, LONGEST_TIMER),
    );
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort);
    try {
      const fetch: Fetch = this.#options.fetch ?? globalThis.fetch;
      const response = await fetch(request.url, { ...request.init, headers, signal: controller.signal });
      if (!response.ok) throw toAPIError(response, await response.text());
      return { response, data: await read?.(response) };
    } catch (error) {
      if (error instanceof APIError) throw error;
      if (signal?.aborted) throw new APIUserAbortError("The call was aborted.", { cause: signal.reason });
      if (late) throw new APITimeoutError(`No response within ${timeout} ms.`, { cause: error });
      throw new APIConnectionError(`The connection failed: ${formatError(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
      // The signal still applies to an unread body.
      if (read !== undefined) signal?.removeEventListener("abort", abort);
    }
  }
}

/** The warnings of a response. Most have none, which its text shows. */
function listWarnings(data: unknown, text: string): readonly RequestWarning[] {
  if (!text.includes('"warnings"') || typeof data !== "object" || data === null) return [];
  const warnings: unknown = Reflect.get(data, "warnings");
  return Array.isArray(warnings) ? warnings.filter(isWarning) : [];
}

const isWarning = (value: unknown): value is RequestWarning =>
  typeof value === "object" &&
  value !== null &&
  ["code", "path", "message"].every((name) => typeof Reflect.get(value, name) === "string");

function printWarnings(warnings: readonly RequestWarning[]): void {
  // biome-ignore lint/suspicious/noConsole: a caller without onWarnings learns of a misspelled member as well.
  for (const { path, message } of warnings) console.warn(`Runyard: ${path}: ${message}`);
}

function required<T>(name: string, given: T | undefined, variable: string): T | string {
  const value = given ?? environment()?.env?.[variable];
  if (value === undefined || value === "") {
    throw new RunyardError(`There is no ${name}: pass it to new Runyard({ ${name} }), or set ${variable}.`);
  }
  return value;
}

/** Removes spaces around a key. The errors of `Headers` would quote a key with characters that a header cannot have. */
function checkKey(apiKey: string): string {
  const key = apiKey.trim();
  if (!/^[!-~]+$/.test(key))
    throw new RunyardError("The API key has characters that no key has, such as a line break.");
  return key;
}

/** `process`, which Node, Deno and Bun have. */
function environment(): { env?: Record<string, string | undefined>; versions?: { node?: string } } | undefined {
  return Reflect.get(globalThis, "process");
}

function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `runyard-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** A web page instead of JSON means that the base URL is the address of the web app, or of something else. */
function parseJson(response: Response, text: string): unknown {
  const type = response.headers.get("content-type")?.split(";")[0] ?? "";
  if (type === "" || type.includes("json")) return JSON.parse(text);
  throw new APIConnectionError(`The response is ${type}, not JSON: check that the base URL ends in /api/v1.`);
}

function formatError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
