import * as v from "valibot";
import type { Dialect } from "./dialect.ts";
import { isStream } from "./provider-response.ts";

/** Milliseconds between comments: less than the idle time-outs of clients and proxies. */
const KEEP_ALIVE_MS = 15_000;
const COMMENT = ": waiting for the model\n\n";

const ErrorBody = v.object({ error: v.object({ message: v.string(), code: v.optional(v.unknown()) }) });

interface KeepAliveOptions {
  readonly dialect: Dialect;
  /** Called when the caller disconnects before the response. */
  readonly giveUp: () => void;
  /** Milliseconds between comments. @default KEEP_ALIVE_MS */
  readonly everyMs?: number | undefined;
}

/**
 * Begins the stream that the caller has requested before the provider responds, if that takes long, and keeps it open by comments.
 * An error that comes later is an event of the stream.
 */
export async function keepAlive(response: Promise<Response>, options: KeepAliveOptions): Promise<Response> {
  const { everyMs = KEEP_ALIVE_MS } = options;
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), everyMs);
  const early = await Promise.race([response, late]).finally(() => clearTimeout(timer));
  if (early !== undefined) return early;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  void waitFor(response, writable, { ...options, everyMs }).catch((error: unknown) =>
    writable.abort(error).catch(() => undefined),
  );
  return new Response(readable, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
}

async function waitFor(
  response: Promise<Response>,
  writable: WritableStream<Uint8Array>,
  { dialect, giveUp, everyMs }: KeepAliveOptions,
): Promise<void> {
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  let isWaiting = true;
  void writer.closed.catch(() => {
    if (isWaiting) giveUp();
  });
  const comment = () => void writer.write(encoder.encode(COMMENT)).catch(() => undefined);
  comment();
  const comments = setInterval(comment, everyMs);
  const received = await response.finally(() => {
    isWaiting = false;
    clearInterval(comments);
  });
  if (received.body !== null && received.ok && isStream(received, false)) {
    writer.releaseLock();
    return received.body.pipeTo(writable);
  }
  await writer.write(encoder.encode(await toEvents(received, dialect)));
  await writer.close();
}

/** Converts a response that came whole to the events of a stream. */
async function toEvents(response: Response, dialect: Dialect): Promise<string> {
  const text = await response.text();
  if (response.ok) return `data: ${text.replaceAll("\n", " ")}\n\n`;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), ErrorBody), text);
  const { message, code } = parsed.success ? parsed.output.error : { message: text, code: undefined };
  const isFinal = response.headers.get("x-should-retry") === "false";
  const event = dialect.errorEvent(message, isFinal ? 400 : 502, typeof code === "string" ? code : undefined);
  return `${event}\n\n`;
}
