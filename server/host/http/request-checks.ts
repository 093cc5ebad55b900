import type { IncomingMessage, Server } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type LocalProblem, rawProblem } from "./problem-response.ts";

/** Bytes of a request's target, and of its request line and headers together; the latter is API Gateway's limit. */
const MAX_URL_BYTES = 8_192;
const MAX_HEADER_BYTES = 10_240;
/** What Node parses, so that a request above our limits gets a response that says so. */
const MAX_PARSED_BYTES = 1024 * 1024;
/** How long a client may continue to send a refused request. Closing the connection at once would lose the response. */
const DRAIN_MS = 2_000;

export const SERVER_OPTIONS = { maxHeaderSize: MAX_PARSED_BYTES };

/** What is wrong with a request of any kind: the host that it is addressed to, or its size. */
export function findRefusal(
  request: IncomingMessage,
  isOwn: (host: string | undefined) => boolean = isLoopbackHost,
): LocalProblem | undefined {
  const { rawHeaders, url = "/" } = request;
  const headerBytes = rawHeaders.reduce((sum, text) => sum + Buffer.byteLength(text, "latin1"), 0);
  if (url.length > MAX_URL_BYTES) return urlTooLong;
  if (url.length + headerBytes > MAX_HEADER_BYTES) return headersTooLarge;
  return isOwn(request.headers.host) ? undefined : foreignHost;
}

/** A web page can make its own host name resolve to 127.0.0.1 (DNS rebinding); its requests have that name as their host. */
export const isLoopbackHost = (host: string | undefined): boolean =>
  host !== undefined && /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(host);

const refused = (status: number, detail: string): LocalProblem => ({ status, code: "invalid_request", detail });
const urlTooLong = refused(414, `the URL is longer than ${MAX_URL_BYTES} bytes`);
const headersTooLarge = refused(431, `URL and headers together are longer than ${MAX_HEADER_BYTES} bytes`);
const foreignHost = refused(421, "the Host header names another server than this one");
const unreadable = refused(400, "the request is not a valid HTTP/1.1 request");
/** A part of a request that did not arrive within its time limit. */
export const tooSlow = (part: string, milliseconds: number): LocalProblem =>
  refused(408, `${part} did not arrive within ${milliseconds / 1000} seconds`);

/**
 * Responds to a request that Node cannot parse. By itself, Node sends no body or closes the connection.
 * @param baseUrl base URL of the API. @default the API of the port on this machine
 */
export function refuseUnreadable(server: Server, baseUrl?: string): void {
  server.on("clientError", (error: NodeJS.ErrnoException, stream: Duplex) => {
    // The rest of a request that already got a response; its sender needs the time to read it.
    if (stream.writableEnded) return;
    if (error.code === "ECONNRESET" || !stream.writable || !(stream instanceof Socket)) {
      stream.destroy();
      return;
    }
    endRefused(stream, rawProblem(problemFor(error.code, server), stream, baseUrl));
  });
}

/** Ends a connection with a last response. A client that keeps it open does not keep the server from closing. */
export function endRefused(stream: Duplex, response: string): void {
  stream.end(response);
  stream.resume();
  setTimeout(() => stream.destroy(), DRAIN_MS).unref();
}

function problemFor(code: string | undefined, { headersTimeout }: Server): LocalProblem {
  if (code === "HPE_HEADER_OVERFLOW") return headersTooLarge;
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? tooSlow("the headers", headersTimeout) : unreadable;
}
