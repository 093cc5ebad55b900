import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { isIP, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import {
  type AllowedScopes,
  createAddressCheck,
  resolveAllowed,
  toBlockedAddressError,
} from "../../network/blocked-addresses.ts";
import { formatError } from "../../support/stop.ts";

/** The largest body of a response; in a stream of events, the largest event. */
export const MESSAGE_BYTES = 10 * 1024 * 1024;

/** Like fetch, for one request without redirects. */
export type OutwardFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Creates a fetch for URLs that callers choose. It connects only to the internet and to the `allowed` scopes, and only to the address that was
 * checked, so a name cannot resolve to another address in between.
 */
export function createOutwardFetch(allowed: AllowedScopes): OutwardFetch {
  const isAllowed = createAddressCheck(allowed);
  const lookup: LookupFunction = (hostname, options, done) => {
    resolveAllowed(hostname, isAllowed, options).then(
      (found) => {
        const [first] = found;
        if (options.all === true || first === undefined) done(null, [...found]);
        else done(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => done(error, ""),
    );
  };
  return async (target, init = {}) => {
    const url = new URL(target);
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    // Node calls the lookup only for names, so check an address in the URL here.
    if (isIP(host) !== 0 && !isAllowed(host)) throw toBlockedAddressError(host);
    return await send(url, init, lookup);
  };
}

async function send(url: URL, init: RequestInit, lookup: LookupFunction): Promise<Response> {
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const body = typeof init.body === "string" ? init.body : undefined;
  const options: RequestOptions = {
    method: init.method ?? "GET",
    headers: {
      ...Object.fromEntries(new Headers(init.headers)),
      ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
    },
    lookup,
    ...(init.signal instanceof AbortSignal ? { signal: init.signal } : {}),
  };
  const call: ClientRequest = request(url, options, (response) => {
    // The reader of the body gets the error of an interrupted response, so there is nothing else to do.
    response.on("error", () => {});
    try {
      resolve(toResponse(response));
    } catch (error) {
      response.destroy();
      reject(new Error(`the response is invalid: ${formatError(error)}`));
    }
  });
  call.on("error", reject);
  call.end(body);
  return await promise;
}

const BODILESS = [204, 205, 304];

/** @throws if a Response cannot have the status, its text or the headers */
function toResponse(response: IncomingMessage): Response {
  const { statusCode: status = 502, statusMessage: statusText = "" } = response;
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  if (BODILESS.includes(status)) response.resume();
  const body = BODILESS.includes(status) ? null : streamBody(response);
  return new Response(body, { status, statusText, headers });
}

/** Converts the body to the stream type of a Response. */
function streamBody(response: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = Readable.from(response)[Symbol.asyncIterator]();
  const isEvents = response.headers["content-type"]?.startsWith("text/event-stream") === true;
  const measure = isEvents ? createEventMeter() : createMeter();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) return controller.close();
      if (measure(value) > MESSAGE_BYTES) {
        response.destroy();
        throw new Error(`the ${isEvents ? "event" : "response"} has more than ${MESSAGE_BYTES} bytes`);
      }
      controller.enqueue(new Uint8Array(value));
    },
    cancel() {
      response.destroy();
    },
  });
}

/** Counts the bytes of a body. */
function createMeter(): (chunk: Uint8Array) => number {
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.length;
    return bytes;
  };
}

const LF = 0x0a;
const CR = 0x0d;

/** Counts the bytes since the last empty line, which ends an event. Returns the largest count of a chunk. */
function createEventMeter(): (chunk: Uint8Array) => number {
  let bytes = 0;
  let isLineEmpty = true;
  let previous = 0;
  return (chunk) => {
    let most = 0;
    for (const byte of chunk) {
      bytes++;
      if (byte === CR || (byte === LF && previous !== CR)) {
        most = Math.max(most, bytes);
        if (isLineEmpty) bytes = 0;
        isLineEmpty = true;
      } else if (byte !== LF) isLineEmpty = false;
      previous = byte;
    }
    return Math.max(most, bytes);
  };
}
