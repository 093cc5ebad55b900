import { CONTEXT_TOKENS_HEADER, REMAINING_HEADER } from "#shared/wire/protocol.ts";
import { type AssignId, createIds } from "./dialects/call-ids.ts";
import { assembleCompletion, listCompletionIds, replayCompletion, restoreCompletion } from "./dialects/chat.ts";
import {
  BrokenResponse,
  type CarriedResponse,
  FailedResponse,
  formatEvents,
  hasEndMarker,
  parseEvents,
  type ReplayedResponse,
} from "./dialects/events.ts";
import { isMembers, type Members } from "./dialects/members.ts";
import { assembleMessage, listMessageIds, replayMessage, restoreMessage } from "./dialects/messages.ts";
import { assembleResponse, listResponseIds, replayResponse, restoreResponse } from "./dialects/responses.ts";
import { createTextReader } from "./dialects/text-deltas.ts";
import type { OptionalMembers } from "./optional-members.ts";

/** The APIs of the model gateway. */
export type ModelApi = keyof typeof APIS;

interface Api {
  /** Assembles the events of a stream into the response of an unstreamed call. */
  assemble(events: readonly unknown[], hasEndMarker: boolean): unknown;
  /** Converts such a response for the SDK. */
  replay(whole: unknown, assignId: AssignId): ReplayedResponse;
  /** Puts what the provider returned with its tool calls into a request. */
  restore(body: Members, carried: CarriedResponse): Members;
  /** Lists the ids of the tool calls in a request. */
  listIds(body: Members): string[];
}

const APIS = {
  messages: { assemble: assembleMessage, replay: replayMessage, restore: restoreMessage, listIds: listMessageIds },
  chat: {
    assemble: assembleCompletion,
    replay: replayCompletion,
    restore: restoreCompletion,
    listIds: listCompletionIds,
  },
  responses: {
    assemble: assembleResponse,
    replay: replayResponse,
    restore: restoreResponse,
    listIds: listResponseIds,
  },
} as const satisfies Record<string, Api>;

export interface TransportOptions {
  readonly api: ModelApi;
  /** The run's key. */
  readonly key: string;
  /** Ends a call immediately. */
  readonly signal: AbortSignal;
  readonly limits?: TransportLimits;
  /** Members of requests that not all models accept. */
  readonly optional?: readonly OptionalMembers[];
  /** Receives the text of a response while it arrives; it may turn out to be unusable. */
  readonly onText?: (text: string) => void;
  /** Receives the reasoning of a complete response, or an empty text. */
  readonly onReasoning?: (reasoning: string) => void;
  /** Receives the context window in tokens, as the gateway knows it. */
  readonly onWindow?: (tokens: number) => void;
  /** Receives what is left of the limits of the run, once that is little. */
  readonly onRemaining?: (remaining: string) => void;
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
 * streamed or not, so an interrupted stream has no effect but live output. What the SDKs do not know of a response is kept here, and
 * added to the requests that contain its tool calls.
 */
export function createTransport({
  api,
  key,
  signal,
  limits = {},
  optional = [],
  onText,
  onReasoning,
  onWindow,
  onRemaining,
}: TransportOptions): typeof fetch {
  const { callMs = CALL_MS, idleMs = IDLE_MS } = limits;
  const memory = new Map<unknown, readonly unknown[]>();
  return async (input, init) => {
    const watch = createWatch(idleMs);
    const ends = AbortSignal.any([signal, watch.signal, AbortSignal.timeout(callMs)]);
    const sent = typeof init?.body === "string" ? init.body : null;
    const asked = sent === null ? undefined : parseJson(sent);
    const body = isMembers(asked) ? APIS[api].restore(asked, (id) => memory.get(id)) : undefined;
    const post = async (members: Members | undefined) => {
      const response = await fetch(toUrl(input), {
        method: "POST",
        headers: toHeaders(key),
        body: members === asked ? sent : JSON.stringify(members),
        redirect: "error",
        signal: ends,
      });
      // Data is no text to show.
      const isShown = response.ok && members?.["response_format"] === undefined;
      const readPiece = onText === undefined || !isShown ? () => {} : createTextReader(onText);
      return { response, text: await readText(response, watch.alive, readPiece) };
    };
    // Servers differ in what they accept, and say so only in their refusal.
    const postOptional = async (members: Members | undefined) => {
      if (members === undefined) return { ...(await post(members)), stages: [] };
      // It ends, because each refusal counts once.
      for (;;) {
        const stages = addEach(optional, api, members);
        const last = { ...(await post(stages.at(-1))), stages };
        if (last.response.ok) return last;
        const isRefused = (one: OptionalMembers) =>
          (one.removes === true || one.add(api, members) !== members) &&
          one.isRefused(members, last.response.status, last.text);
        if (!optional.some(isRefused)) return last;
      }
    };
    try {
      const { response, text, stages } = await postOptional(body);
      const window = Number(response.headers.get(CONTEXT_TOKENS_HEADER));
      if (Number.isInteger(window) && window > 0) onWindow?.(window);
      const remaining = response.headers.get(REMAINING_HEADER);
      if (remaining !== null) onRemaining?.(remaining);
      if (!response.ok) return new Response(text, { status: response.status, headers: pickErrorHeaders(response) });
      const whole = optional.reduceRight<unknown>(
        (after, { convert }, index) => convert?.(stages[index] ?? {}, after) ?? after,
        readWhole(APIS[api], text),
      );
      const replayed = APIS[api].replay(whole, createIds(APIS[api].listIds(body ?? {})));
      const { events, carried } = replayed;
      for (const id of carried?.ids ?? []) memory.set(id, carried?.value ?? []);
      onReasoning?.(replayed.reasoning);
      return new Response(formatEvents(events), { headers: { "content-type": "text/event-stream" } });
    } catch (error) {
      signal.throwIfAborted();
      if (ends.aborted) throw new BrokenResponse("the model took too long to respond");
      if (error instanceof FailedResponse) return toErrorResponse(api, error);
      throw error;
    } finally {
      watch.end();
    }
  };
}

/** Returns the request, and what each of the members makes of it: one more than there are members. */
function addEach(optional: readonly OptionalMembers[], api: ModelApi, request: Members): readonly Members[] {
  let last = request;
  return [
    request,
    ...optional.map(({ add }) => {
      last = add(api, last);
      return last;
    }),
  ];
}

const toHeaders = (key: string) => ({
  authorization: `Bearer ${key}`,
  accept: "text/event-stream, application/json",
  "content-type": "application/json",
  "anthropic-version": "2023-06-01",
});

function readWhole({ assemble }: Api, text: string): unknown {
  const isWhole = text.trimStart().startsWith("{");
  return isWhole ? parseJson(text) : assemble(parseEvents(text), hasEndMarker(text));
}

/** Converts a failure within a response to the error that the API would have sent instead, which the SDKs classify. */
function toErrorResponse(api: ModelApi, { kind, message, isPermanent }: FailedResponse): Response {
  const error = api === "messages" ? { type: kind, message } : { message, type: kind, code: kind };
  return Response.json(
    { type: "error", error },
    { status: isPermanent ? 400 : 502, headers: isPermanent ? { "x-should-retry": "false" } : {} },
  );
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
  const errorHeaders = ["retry-after", "x-should-retry"].flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return { "content-type": "application/json", ...Object.fromEntries(errorHeaders) };
}

const toUrl = (input: string | URL | Request): string => (input instanceof Request ? input.url : String(input));

/** Creates a signal that aborts when `alive` has not been called for this long. */
function createWatch(idleMs: number) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), idleMs);
  return { signal: controller.signal, alive: () => void timer.refresh(), end: () => clearTimeout(timer) };
}
