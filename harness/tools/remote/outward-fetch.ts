import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { isIP, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import {
  type AllowedScopes,
  createAddressCheck,
  resolveAllowed,
  toBlockedAddressError,
} from "../../network/blocked-addresses.ts";

/** As fetch, for one request without redirects. */
export type OutwardFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A fetch for URLs that callers choose: it connects to the internet and to what `allowed` adds, and to no other address. The address that is checked is the
 * one that it connects to, so a name cannot mean another address in between.
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
    // Node looks up names only: an address in the URL is checked here.
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
  const call: ClientRequest = request(url, options, (answer) => resolve(toResponse(answer)));
  call.on("error", reject);
  call.end(body);
  return await promise;
}

const BODILESS = [101, 204, 205, 304];

function toResponse(answer: IncomingMessage): Response {
  const { statusCode: status = 502, statusMessage: statusText = "" } = answer;
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  // What is broken off is told to who reads; nobody else has to know.
  answer.on("error", () => {});
  if (BODILESS.includes(status)) answer.resume();
  const body = BODILESS.includes(status) ? null : streamBody(answer);
  return new Response(body, { status, statusText, headers });
}

/** As bytes, in the type that a response wants. */
function streamBody(answer: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = Readable.from(answer)[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
    cancel() {
      answer.destroy();
    },
  });
}
