import { RunyardError } from "./errors.ts";

export interface WithResponse<T> {
  readonly data: T;
  /** The response, for its headers. Its body has been read. */
  readonly response: Response;
}

/** Sends a request and reads its response. Without `read`, it resolves as soon as the headers have arrived. */
export type Send<T> = (read: boolean) => Promise<WithResponse<T>>;

/** The promise of a call's data, which also gives access to the response. */
export class APIPromise<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = "APIPromise";
  readonly #send: Send<T>;
  #read: Promise<WithResponse<T>> | undefined;
  #raw: Promise<WithResponse<T>> | undefined;

  constructor(send: Send<T>) {
    this.#send = send;
    // Sends the request even if nobody awaits it. By then, asResponse() would have been called.
    queueMicrotask(() => {
      if (this.#raw === undefined) this.#read ??= this.#send(true);
    });
  }

  /**
   * Returns the successful response with an unread body. Call it in the statement that makes the request: later, the
   * body may have been read.
   */
  async asResponse(): Promise<Response> {
    if (this.#read !== undefined)
      throw new RunyardError("asResponse() was called too late: the response is being read");
    this.#raw ??= this.#send(false);
    return (await this.#raw).response;
  }

  /** Returns the data and the response. */
  async withResponse(): Promise<WithResponse<T>> {
    if (this.#raw !== undefined) throw new RunyardError("the raw response was requested, and cannot be read here");
    this.#read ??= this.#send(true);
    return this.#read;
  }

  // biome-ignore lint/suspicious/noThenProperty: this is a promise.
  then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.withResponse()
      .then(({ data }) => data)
      .then(onFulfilled, onRejected);
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(null, onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<T> {
    return this.then().finally(onFinally);
  }
}
