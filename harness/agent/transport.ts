import { assembleCompletion, toCompletionEvents } from "./dialects/chat.ts";
import { BrokenResponse, formatEvents, parseEvents } from "./dialects/events.ts";
import { assembleMessage, toMessageEvents } from "./dialects/messages.ts";
import { assembleResponse, toResponseEvents } from "./dialects/responses.ts";
import { createTextReader } from "./dialects/text-deltas.ts";

/** The APIs of the model gateway. */
export type ModelApi = keyof typeof APIS;

interface Api {
  /** Assembles the events of a stream into the response of an unstreamed call. */
  whole(events: readonly unknown[]): unknown;
  /** Converts such a response into the events of a stream. */
  events(whole: unknown): object[];
}

const APIS = {
  messages: { whole: assembleMessage, events: toMessageEvents },
  chat: { whole: assembleCompletion, events: toCompletionEvents },
  responses: { whole: assembleResponse, events: toResponseEvents },
} as const satisfies Record<string, Api>;

export interface TransportOptions {
  readonly api: ModelApi;
  /** The run's key. */
  readonly key: string;
  /** Ends a call immediately. */
  readonly signal: AbortSignal;
  readonly limits?: TransportLimits;
  /** Receives the text of a response while it arrives; it may turn out to be unusable. */
  readonly onText?: (text: string) => void;
}

export interface TransportLimits {
  /** How long a call may take, in milliseconds. @default 900000 */
  readonly callMs?: number;
  /** How long a call may go without receiving data, in milliseconds. @default 240000 */
  readonly idleMs?: number;
}

const CALL_MS = 15 * 60_000;
const IDLE_MS = 4 * 60_000;
/** The largest response. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/**
 * Creates the fetch that the providers' SDKs use to call the model gateway. It only keeps the body of their requests: the SDKs read keys,
 * addresses and headers from the environment, which belongs to the host. A response is passed on only when it is complete, whether it was
 * streamed or not, so an interrupted stream has no effect but live output.
 */
export function createTransport({ api, key, signal, limits = {}, onText }: TransportOptions): typeof fetch {
  const { callMs = CALL_MS, idleMs = IDLE_MS } = limits;
  return async (input, init) => {
    const watch = createWatch(idleMs);
    const ends = AbortSignal.any([signal, watch.signal, AbortSignal.timeout(callMs)]);
    try {
      const response = await fetch(toUrl(input), {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          accept: "text/event-stream, application/json",
          "content-type": "application/json",
          "anthropic-version": "2023-06-01",
        },
        body: typeof init?.body === "string" ? init.body : null,
        redirect: "error",
        signal: ends,
      });
      const readPiece = onText === undefined || !response.ok ? () => {} : createTextReader(onText);
      const text = await readText(response, watch.alive, readPiece);
      if (!response.ok) return new Response(text, { status: response.status, headers: pickErrorHeaders(response) });
      return replay(APIS[api], text);
    } catch (error) {
      signal.throwIfAborted();
      if (ends.aborted) throw new BrokenResponse("the model took too long to respond");
      throw error;
    } finally {
      watch.end();
    }
  };
}

function replay({ whole, events }: Api, text: string): Response {
  const isWhole = text.trimStart().startsWith("{");
  const response = isWhole ? parseJson(text) : whole(parseEvents(text));
  return new Response(formatEvents(events(response)), { headers: { "content-type": "text/event-stream" } });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BrokenResponse("the response is not JSON");
  }
}

async function readText(response: Response, alive: () => void, onPiece: (piece: string) => void): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    alive();
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) throw new BrokenResponse(`the response has more than ${MAX_RESPONSE_BYTES} bytes`);
    const piece = decoder.decode(chunk, { stream: true });
    text += piece;
    onPiece(piece);
  }
  return text + decoder.decode();
}

function pickErrorHeaders({ headers }: Response): Record<string, string> {
  const retryAfter = headers.get("retry-after");
  return { "content-type": "application/json", ...(retryAfter === null ? {} : { "retry-after": retryAfter }) };
}

const toUrl = (input: string | URL | Request): string => (input instanceof Request ? input.url : String(input));

/** Creates a signal that aborts when `alive` has not been called for this long. */
function createWatch(idleMs: number) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), idleMs);
  return { signal: controller.signal, alive: () => void timer.refresh(), end: () => clearTimeout(timer) };
}
