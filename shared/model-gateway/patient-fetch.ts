import type { IncomingMessage } from "node:http";
import { request as sendHttp } from "node:http";
import { request as sendHttps } from "node:https";
import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { NotConfigured } from "#shared/model-provider/model-provider.ts";

interface PatientRequest {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export const REDIRECTED =
  "the model's provider redirected the request, which would send its key elsewhere: the operator has to set the base URL that it redirects to";

/**
 * Sends a request without a time-out of its own: `fetch` gives up after 300 seconds without a header, and a server that reads a long
 * prompt on a processor takes longer. Follows no redirect, which would send the key to another server.
 */
export async function patientFetch(url: string, { body, ...options }: PatientRequest): Promise<Response> {
  const send = new URL(url).protocol === "https:" ? sendHttps : sendHttp;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // A connection of its own: one that the server is closing would fail a call.
  const call = send(url, { ...options, agent: false }, resolve);
  call.on("error", (error) => reject(options.signal.aborted ? options.signal.reason : error));
  call.end(body);
  return toResponse(await promise);
}

function toResponse(incoming: IncomingMessage): Response {
  const { statusCode: status = 502, headers } = incoming;
  if (status >= 300 && status < 400) {
    incoming.destroy();
    throw new NotConfigured(REDIRECTED);
  }
  const copied = new Headers();
  for (const [name, value] of Object.entries(headers)) if (typeof value === "string") copied.set(name, value);
  const hasNoBody = status === 204 || status === 205;
  if (hasNoBody) incoming.resume();
  const unpacked = hasNoBody ? incoming : unpack(incoming, copied);
  return new Response(hasNoBody ? null : toStream(unpacked), { status, headers: copied });
}

const UNPACKERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Unpacks a response that was not requested in a packed form: some proxies pack each one. */
function unpack(incoming: IncomingMessage, headers: Headers): Readable {
  const encoding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  const create = Object.hasOwn(UNPACKERS, encoding) ? UNPACKERS[encoding] : undefined;
  if (create === undefined) return incoming;
  headers.delete("content-encoding");
  headers.delete("content-length");
  return pipeline(incoming, create(), () => undefined);
}

function toStream(incoming: Readable): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Buffer> = incoming[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
    cancel: () => void incoming.destroy(),
  });
}
