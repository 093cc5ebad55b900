import { RunyardError } from "./errors.ts";

export interface WithResponse<T> {
  readonly data: T;
  /** The answer that the data came in, for its headers; its body has been read. */
  readonly response: Response;
}

/** Sends a request and reads its answer; without `read`, the answer comes as soon as its headers are there. */
export type Send<T> = (read: boolean) => Promise<WithResponse<T>>;

/** The promise of a call's data. It is also the way to the answer that they come in. */
export class APIPromise<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = "APIPromise";
  readonly #send: Send<T>;
  #read: Promise<WithResponse<T>> | undefined;
  #raw: Promise<WithResponse<T>> | undefined;

  constructor(send: Send<T>) {
    this.#send = send;
    // A call that nobody waits for is made all the same; whoever wants the bare answer has said so by then.
    queueMicrotask(() => {
      if (this.#raw === undefined) this.#read ??= this.#send(true);
    });
  }

  /**
   * The answer itself, its body unread, once it is known to be one of success. Ask for it in the statement that makes
   * the call: later, the body may have been read.
   */
  async asResponse(): Promise<Response> {
    if (this.#read !== undefined) throw new RunyardError("asResponse() comes too late: the answer is being read");
    this.#raw ??= this.#send(false);
    return (await this.#raw).response;
  }

  /** The data, and the answer that they came in. */
  async withResponse(): Promise<WithResponse<T>> {
    if (this.#raw !== undefined) throw new RunyardError("the answer was asked for as it is, and cannot be read here");
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
