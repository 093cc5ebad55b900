import { lookup as lookUp } from "node:dns";
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { BlockList, isIP, isIPv6, type LookupFunction } from "node:net";
import { Readable } from "node:stream";
import { METADATA, ownAddresses } from "../forbidden.ts";

/** Link-local addresses, where clouds answer by IPv6 too; commands have none of it. */
const LINK_LOCAL = ["fe80::/10", "fd00:ec2::/32"];
/** Where this machine's own services listen, and those of other runs. */
const LOOPBACK = ["127.0.0.0/8", "0.0.0.0/8", "::/127"];

export interface OutwardOptions {
  /** Whether the machine's own services may be called. */
  readonly loopback: boolean;
}

/** As fetch, for one request without redirects. */
export type OutwardFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A fetch that goes where a command may go and no further: neither to the machine itself nor to where clouds tell of it. The address that is checked
 * is the one that is called, so no name can stand for another in between.
 */
export function outwardFetch({ loopback }: OutwardOptions): OutwardFetch {
  const forbidden = new BlockList();
  for (const range of [...METADATA, ...LINK_LOCAL, ...(loopback ? [] : [...LOOPBACK, ...ownAddresses()])]) {
    const [address = "", prefix = "32"] = range.split("/");
    forbidden.addSubnet(address, Number(prefix), isIPv6(address) ? "ipv6" : "ipv4");
  }
  const isForbidden = (address: string) => forbidden.check(address, isIPv6(address) ? "ipv6" : "ipv4");
  const lookup: LookupFunction = (hostname, options, done) => {
    lookUp(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, "");
      if (found.some(({ address }) => isForbidden(address))) return done(refusal(hostname), "");
      const [first] = found;
      if (options.all === true || first === undefined) return done(null, found);
      done(null, first.address, first.family);
    });
  };
  return async (target, init = {}) => {
    const url = new URL(target);
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    if (isIP(host) !== 0 && isForbidden(host)) throw refusal(host);
    return await send(url, init, lookup);
  };
}

const refusal = (host: string) => new Error(`${host} is an address that runs may not call`);

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
  const call: ClientRequest = request(url, options, (answer) => resolve(responseOf(answer)));
  call.on("error", reject);
  call.end(body);
  return await promise;
}

const BODILESS = [101, 204, 205, 304];

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 502, statusMessage: statusText = "" } = answer;
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  // What is broken off is told to who reads; nobody else has to know.
  answer.on("error", () => {});
  if (BODILESS.includes(status)) answer.resume();
  const body = BODILESS.includes(status) ? null : bodyOf(answer);
  return new Response(body, { status, statusText, headers });
}

/** As bytes, in the type that a response wants. */
function bodyOf(answer: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
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
