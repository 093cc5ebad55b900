import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { logLine } from "#shared/log/log.ts";

/** Requests of callers that are handled at the same time: of all, and of one. */
const MAX_IN_FLIGHT = 256;
const MAX_OF_CALLER = 64;
/** Requests of executions that are handled at the same time. Each execution has a few. */
const MAX_OF_EXECUTIONS = 1_024;
/** Bytes of the bodies of all requests in flight, as far as they have arrived; the last quarter is for executions alone. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;
const MAX_BODY_BYTES_OF_CALLERS = 192 * 1024 * 1024;
/** Bytes of the bodies of one credential's requests, so that slow requests of one do not take the room of all others. */
const MAX_BODY_BYTES_OF_CREDENTIAL = 64 * 1024 * 1024;
/** Milliseconds of event loop delay above which callers with several requests in flight, and above which all but one, are refused. */
const LATE_MS = 100;
const TOO_LATE_MS = 1_000;
/** Requests of one caller that are handled while the event loop is late. */
const FEW = 8;

const RESOLUTION_MS = 10;
const SAMPLE_MS = 250;
const REPORT_MS = 10_000;

/** What decides whether a request is handled. */
export interface Admissible {
  /** Who sends it; requests of the same caller share a limit. */
  readonly caller: string;
  /** Whether an execution sends it. Executions are not refused for the sake of readers. */
  readonly isExecution: boolean;
  /** Whether the request waits for an event, and so uses no processor time. */
  readonly isWaiting: boolean;
}

/** A request that may be read, and then handled. */
export interface Admission {
  /** Counts bytes of the request's body that have arrived. Returns false if there is no room for them. */
  receive(bytes: number): boolean;
  /** Takes a place for the request, whose body has arrived. Returns false if there is none any more. */
  begin(): boolean;
  /** Frees the place and the body, at the end of the request. */
  release(): void;
}

/** Refuses requests before the server is too slow for those that it handles already. */
export class LoadShedder {
  readonly #delayMs: () => number;
  readonly #byCaller = new Map<string, number>();
  readonly #bytesByCaller = new Map<string, number>();
  #callers = 0;
  #executions = 0;
  #bytes = 0;

  /** @param delayMs how late the event loop is at the moment, in milliseconds */
  constructor(delayMs: () => number) {
    this.#delayMs = delayMs;
  }

  /** Admits a request; undefined if it gets 503. It has no place before its body has arrived: the body may never arrive. */
  admit(request: Admissible): Admission | undefined {
    if (!this.#hasRoom(request)) return undefined;
    const { caller, isExecution, isWaiting } = request;
    const count = (by: 1 | -1): void => {
      if (isExecution) this.#executions += by;
      else if (!isWaiting) {
        this.#callers += by;
        add(this.#byCaller, caller, by);
      }
    };
    const countBytes = (by: number): void => {
      this.#bytes += by;
      add(this.#bytesByCaller, caller, by);
    };
    const maxBytes = isExecution ? MAX_BODY_BYTES : MAX_BODY_BYTES_OF_CALLERS;
    let received = 0;
    let hasPlace = false;
    let isReleased = false;
    return {
      receive: (bytes) => {
        const ofCaller = (this.#bytesByCaller.get(caller) ?? 0) + bytes;
        if (isReleased || this.#bytes + bytes > maxBytes || ofCaller > MAX_BODY_BYTES_OF_CREDENTIAL) return false;
        countBytes(bytes);
        received += bytes;
        return true;
      },
      begin: () => {
        hasPlace = this.#hasRoom(request);
        if (hasPlace) count(1);
        return hasPlace;
      },
      release: () => {
        isReleased = true;
        countBytes(-received);
        if (hasPlace) count(-1);
      },
    };
  }

  #hasRoom({ caller, isExecution, isWaiting }: Admissible): boolean {
    if (isExecution) return this.#executions < MAX_OF_EXECUTIONS;
    const delay = this.#delayMs();
    // Refusals help nobody while no request is in flight: something else makes the event loop late.
    if (delay > TOO_LATE_MS) return !isWaiting && this.#callers === 0;
    // Waiting requests have a limit of their own.
    if (isWaiting) return true;
    const inFlight = this.#byCaller.get(caller) ?? 0;
    return this.#callers < MAX_IN_FLIGHT && inFlight < (delay > LATE_MS ? FEW : MAX_OF_CALLER);
  }
}

/** Adds to the number of a caller, and forgets a caller whose number is zero. */
function add(numbers: Map<string, number>, caller: string, by: number): void {
  const number = (numbers.get(caller) ?? 0) + by;
  if (number === 0) numbers.delete(caller);
  else numbers.set(caller, number);
}

/** Reads how late the event loop is: the mean of the last quarter of a second. It runs as long as the process. */
export function watchEventLoop(): () => number {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  let delayMs = 0;
  setInterval(() => {
    const mean = histogram.mean / 1e6;
    delayMs = Number.isNaN(mean) ? 0 : Math.max(0, mean - RESOLUTION_MS);
    histogram.reset();
  }, SAMPLE_MS).unref();
  return () => delayMs;
}

/**
 * Who sends a request: the hash of the credential that is checked, or its address. Nothing else that a caller can choose counts, or one
 * could pass for many.
 * @param key the credential of a request that may have it in a header of its own
 */
export function identifyCaller({ headers, socket }: IncomingMessage, key?: string | string[]): string {
  const credential = key ?? headers.authorization?.split(" ").at(-1) ?? headers.cookie;
  return credential === undefined ? `address ${socket.remoteAddress}` : hash("sha256", String(credential));
}

/** Counts refused requests, and logs from time to time how many there were. */
export function countRefusals(): () => void {
  let refused = 0;
  return () => {
    if (refused++ > 0) return;
    setTimeout(() => {
      logLine("warn", "requests were refused because the server is overloaded", { refused });
      refused = 0;
    }, REPORT_MS).unref();
  };
}
