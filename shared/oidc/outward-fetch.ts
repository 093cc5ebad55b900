import dns from "node:dns";
import http from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { type AddressScope, scopeOfAddress } from "#shared/wire/network/addresses.ts";

const TIMEOUT_MS = 5_000;
/** Bytes of a response. The key sets of large issuers have a few kilobytes. */
const MAX_BYTES = 256 * 1024;

interface OutwardRequest {
  readonly method?: "GET" | "POST" | "PATCH" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** True if only the status is of interest: the response is complete with its headers, and no byte of its body is read. */
  readonly ignoreBody?: boolean;
}

/** Requests a URL. Redirects are not followed, since they could lead anywhere. */
export type OutwardFetch = (url: string, request?: OutwardRequest) => Promise<Response>;

/** An address that the service does not connect to. */
export class BlockedAddress extends Error {
  constructor(host: string) {
    super(`${host} is not an address on the internet`);
    this.name = "BlockedAddress";
  }
}

export interface OutwardOptions {
  /** True if private and loopback addresses, and plain HTTP, are accepted as well. */
  readonly allowsPrivate: boolean;
  /** True if loopback addresses, and plain HTTP, are accepted as well. @default as `allowsPrivate` says */
  readonly allowsLoopback?: boolean;
  /** Milliseconds for a request with its response. @default 5000 */
  readonly timeoutMs?: number;
  /** Bytes of a response. @default 262,144 */
  readonly maxBytes?: number;
}

/**
 * Creates a fetch for URLs that callers choose. It connects to addresses on the internet only, which it checks after names are
 * resolved, and limits the time and size of a response.
 */
export function createOutwardFetch({
  allowsPrivate,
  allowsLoopback = allowsPrivate,
  timeoutMs = TIMEOUT_MS,
  maxBytes = MAX_BYTES,
}: OutwardOptions): OutwardFetch {
  const scopes: ReadonlySet<AddressScope> = new Set([
    "public",
    ...(allowsPrivate ? (["private"] as const) : []),
    ...(allowsLoopback ? (["loopback"] as const) : []),
  ]);
  const isAllowed = (address: string): boolean => scopes.has(scopeOfAddress(address));
  return async (given, request = {}) => {
    const url = new URL(given);
    const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
    // Node resolves names only, so an address in the URL is checked here.
    if (ipaddr.isValid(host) && !isAllowed(host)) throw new BlockedAddress(host);
    if (url.protocol !== "https:" && !((allowsPrivate || allowsLoopback) && url.protocol === "http:")) {
      throw new BlockedAddress(`${url.protocol}//${url.host}`);
    }
    return send(url, request, { lookup: createLookup(isAllowed), timeoutMs, maxBytes });
  };
}

/** Resolves names to allowed addresses. The connection uses the address that was checked, so a name cannot change in between. */
function createLookup(isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "", 0);
      const allowed = addresses.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (first === undefined) return callback(new BlockedAddress(hostname), "", 0);
      if (options.all === true) return callback(null, allowed);
      callback(null, first.address, first.family);
    });
  };
}

interface Connection {
  readonly lookup: LookupFunction;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

function send(
  url: URL,
  { method = "GET", headers, body, ignoreBody = false }: OutwardRequest,
  { lookup, timeoutMs, maxBytes }: Connection,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const { request } = url.protocol === "http:" ? http : https;
  const sent = request(
    url,
    {
      method,
      lookup,
      // Without an agent each request has a connection of its own, whose address was checked.
      agent: false,
      signal: AbortSignal.timeout(timeoutMs),
      headers: { accept: "application/json", ...headers },
    },
    (response) => {
      const finish = (content: Buffer | null): void => {
        try {
          resolve(toResponse(response.statusCode ?? 502, content));
        } catch (error) {
          reject(error);
        }
      };
      response.on("error", reject);
      if (ignoreBody) {
        finish(null);
        response.destroy();
        return;
      }
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.byteLength;
        if (bytes > maxBytes) response.destroy(new Error(`the response has more than ${maxBytes} bytes`));
        else chunks.push(chunk);
      });
      response.on("end", () => finish(Buffer.concat(chunks)));
    },
  );
  sent.on("error", reject);
  // A response that switches protocols is none, and without this listener nothing would settle the promise.
  sent.on("upgrade", (_response, socket) => {
    socket.destroy();
    reject(new Error("the response switches to another protocol"));
  });
  sent.end(body);
  return promise;
}

/** @throws if a Response cannot have the status */
const toResponse = (status: number, body: Buffer | null): Response =>
  new Response(body === null || status === 204 || status === 304 ? null : new Uint8Array(body), {
    status,
    headers: { "content-type": "application/json" },
  });
