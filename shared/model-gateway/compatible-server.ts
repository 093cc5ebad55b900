import type { ModelLimits } from "#shared/model-provider/model-limits.ts";
import type {
  ModelProvider,
  ProviderCall,
  ProviderRequest,
  ProviderTimeouts,
} from "#shared/model-provider/model-provider.ts";
import { parsedJson } from "./dialect.ts";
import { isWorthRepeating, type LearnedLimits, type LimitName, learnLimits, withLimit } from "./output-limit.ts";
import { patientFetch } from "./patient-fetch.ts";
import { chooseKey, createHiding, type Key, toBearer } from "./provider.ts";
import { readText } from "./provider-response.ts";
import { readServerLimits } from "./server-limits.ts";

/** A server that reads a long prompt on a processor may take this long for its first token. */
const TIMEOUT_MS = 13 * 60_000;
/** Milliseconds that the server's description may take, which comes before the first call. */
const DESCRIBE_MS = 5_000;
/** Milliseconds after which a description is read again: the server may run with other options by then. */
const DESCRIBED_MS = 5 * 60_000;
/** Requests of one call: the first, one with another name of the output limit, one with a lower limit. */
const MAX_REQUESTS = 3;

export interface CompatibleOptions {
  /** Absent if the server needs no key. */
  readonly key?: Key | undefined;
  /** Headers of each request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** @default TIMEOUT_MS until a response begins or continues */
  readonly timeouts?: ProviderTimeouts | undefined;
  readonly now?: () => number;
}

/** What is known of one model. */
interface KnownModel {
  described: Promise<void>;
  describedAt: number;
  limits: ModelLimits;
  name: LimitName;
  /** Whether the server refuses to be asked for the usage of a streamed response. */
  refusesUsage?: true;
}

/**
 * Any server with OpenAI's APIs at `baseUrl`, which usually ends in /v1. The limits of its models come from the server: its description,
 * its refusals, and the usage of calls that succeeded.
 */
export function compatibleServer(baseUrl: string, options: CompatibleOptions = {}): ModelProvider {
  const { key, now = Date.now } = options;
  const { firstByteMs = TIMEOUT_MS, idleMs = firstByteMs, totalMs } = options.timeouts ?? {};
  const base = baseUrl.replace(/\/$/, "");
  const known = new Map<string, KnownModel>();
  const { note, hide } = createHiding();
  const secret = async (own?: string): Promise<Record<string, string>> =>
    note({ ...options.headers, ...toBearer(await chooseKey(own, key, options)) });

  async function read(url: string, body: object | undefined, signal: AbortSignal): Promise<unknown> {
    const headers = { ...(await secret()), ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const sent =
      body === undefined ? { method: "GET" as const } : { method: "POST" as const, body: JSON.stringify(body) };
    const response = await patientFetch(url, { ...sent, headers, signal });
    const text = await readText(response);
    return response.ok ? parsedJson(text) : undefined;
  }

  function findModel(model: string): KnownModel {
    const found = known.get(model);
    if (found !== undefined && now() - found.describedAt < DESCRIBED_MS) return found;
    const entry: KnownModel = found ?? { described: Promise.resolve(), describedAt: 0, limits: {}, name: "max_tokens" };
    entry.describedAt = now();
    // A server without a description can be called all the same.
    const signal = AbortSignal.timeout(DESCRIBE_MS);
    const unlessFailed = (url: string, body?: object) => read(url, body, signal).catch(() => undefined);
    entry.described = readServerLimits(base, model, unlessFailed).then((limits) => {
      entry.limits = { ...entry.limits, ...limits };
    });
    known.set(model, entry);
    return entry;
  }

  async function send(call: ProviderCall): Promise<Response> {
    const { dialect, headers, signal } = call;
    return patientFetch(`${base}${dialect.upstreamPath}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json", ...(await secret(call.key)) },
      body: JSON.stringify(call.request),
      signal,
    });
  }

  async function callModel(call: ProviderCall): Promise<Response> {
    const model = findModel(call.request.model);
    await Promise.race([model.described, untilAborted(call.signal)]);
    const isResponses = call.dialect.upstreamPath === "/responses";
    let room: number | undefined;
    for (let count = 1; ; count++) {
      const { name } = model;
      const limits = { ...model.limits, ...call.limits };
      if (limits.tools === false && hasTools(call)) return refuseTools(call);
      const asked = model.refusesUsage === true ? withoutUsage(call.request) : call.request;
      const request = withLimit(asked, { name, limits, isResponses }, room);
      const response = await send({ ...call, request });
      if (!REFUSALS.has(response.status)) return response;
      const text = await readText(response);
      if (asked["stream_options"] !== undefined && /\bstream_options\b/.test(text)) {
        model.refusesUsage = true;
        return callModel(call);
      }
      const learned = learnLimits(text, request);
      keep(model, learned);
      room = learned.room;
      if (count === MAX_REQUESTS || !isWorthRepeating(learned, request)) return new Response(text, response);
    }
  }

  return Object.assign(callModel, {
    timeouts: { firstByteMs, idleMs, totalMs },
    hide,
    limits: (model: string) => known.get(model)?.limits ?? {},
    noteTokens(model: string, tokens: number) {
      const entry = known.get(model);
      if (tokens > (entry?.limits.contextTokens ?? tokens)) keep(entry, { contextTokens: tokens });
    },
  });
}

/** Statuses of servers that refuse a member of a request; 416 is Scaleway's for an output limit that is too high. */
const REFUSALS = new Set([400, 416, 422]);

function withoutUsage({ stream_options: _, ...request }: ProviderRequest): ProviderRequest {
  return request;
}

const hasTools = ({ request: { tools } }: ProviderCall): boolean => Array.isArray(tools) && tools.length > 0;

/** The server would leave them out without an error. */
function refuseTools({ dialect, request: { model } }: ProviderCall): Response {
  const words = `${model} is not shown the tools of a request: its chat template has no place for them, or its settings say so`;
  return Response.json(dialect.error(400, words, "tools_not_supported"), { status: 400 });
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

function keep(model: KnownModel | undefined, { name, contextTokens, outputTokens }: LearnedLimits): void {
  if (model === undefined) return;
  if (name !== undefined) model.name = name;
  model.limits = {
    ...model.limits,
    ...(contextTokens !== undefined && { contextTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
  };
}
