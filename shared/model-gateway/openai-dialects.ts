import * as v from "valibot";
import { type Dialect, type Meter, type ModelRequest, parsedJson, textBytes } from "./dialect.ts";
import { chatFilter, responsesFilter } from "./openai-filters.ts";
import { choices, outputTokens } from "./price-options.ts";
import { NOTHING_USED, type Usage } from "./usage.ts";

/** Minimum tokens of a useful response. */
const MIN_RESPONSE_TOKENS = 1_024;

const Count = v.pipe(v.number(), v.minValue(0));
const WantsUsage = v.object({ stream_options: v.object({ include_usage: v.literal(true) }) });

const Cached = v.optional(v.nullable(v.object({ cached_tokens: v.optional(v.nullable(Count)) })));
const ChatUsage = v.object({
  prompt_tokens: Count,
  completion_tokens: Count,
  prompt_tokens_details: Cached,
  // DeepSeek's name.
  prompt_cache_hit_tokens: v.optional(v.nullable(Count)),
});
const Finished = v.object({ finish_reason: v.pipe(v.string(), v.minLength(1)) });
/** A count that is missing or null, which proxies send, leaves the usage unknown. */
const MaybeUsage = v.fallback(v.optional(v.nullable(ChatUsage)), undefined);
const ChatBody = v.object({ choices: v.array(v.unknown()), usage: MaybeUsage });
/** The event with the usage has an empty list of choices, null or no such member. */
const ChatEvent = v.object({ choices: v.nullish(v.array(v.unknown()), []), usage: MaybeUsage });
const ResponsesUsage = v.object({ input_tokens: Count, output_tokens: Count, input_tokens_details: Cached });
const ResponsesBody = v.object({ output: v.array(v.unknown()), usage: v.optional(v.nullable(ResponsesUsage)) });
const ResponsesEvent = v.looseObject({
  type: v.string(),
  delta: v.optional(v.unknown()),
  response: v.optional(v.object({ usage: v.optional(v.nullable(ResponsesUsage)) })),
});

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

const error = (status: number, message: string, code?: string) => ({
  error: {
    message: code === undefined ? message : `${code}: ${message}`,
    type: TYPES[status] ?? (status >= 500 ? "server_error" : "invalid_request_error"),
    param: null,
    code: code ?? null,
  },
});

const common = {
  providers: ["openai", "compatible"],
  passes: ["openai-beta"],
  error,
} as const;

/** OpenAI's Chat Completions API, which servers of many vendors implement. */
export const chat: Dialect = {
  ...common,
  path: "/openai/v1/chat/completions",
  upstreamPath: "/chat/completions",
  filter: chatFilter,
  readOutputLimits(request) {
    const { max_completion_tokens, max_tokens, n } = request;
    const completion = outputTokens(max_completion_tokens, "max_completion_tokens");
    const limit = outputTokens(max_tokens, "max_tokens");
    return { limit: completion ?? limit, least: MIN_RESPONSE_TOKENS, choices: choices(n) };
  },
  // OpenAI's own models accept only the newer member, and some other servers respect only the older one.
  withOutputLimit: ({ max_tokens: _, max_completion_tokens: __, ...request }, tokens, provider) =>
    provider === "openai" ? { ...request, max_completion_tokens: tokens } : { ...request, max_tokens: tokens },
  // Without this, a streamed response does not contain its usage.
  prepared: (request) =>
    request.stream === true
      ? { ...request, stream_options: { ...toObject(request["stream_options"]), include_usage: true } }
      : request,
  errorEvent: (message, status = 502, code) => `data: ${JSON.stringify(error(status, message, code))}`,
  readUsage(response) {
    const parsed = v.safeParse(ChatBody, response);
    return parsed.success && parsed.output.usage ? chatUsage(parsed.output.usage) : undefined;
  },
  meter: chatMeter,
};

/** OpenAI's Responses API. */
export const responses: Dialect = {
  ...common,
  path: "/openai/v1/responses",
  upstreamPath: "/responses",
  filter: responsesFilter,
  readOutputLimits: ({ max_output_tokens }) => ({
    limit: outputTokens(max_output_tokens, "max_output_tokens"),
    least: MIN_RESPONSE_TOKENS,
    choices: 1,
  }),
  withOutputLimit: (request, tokens) => ({ ...request, max_output_tokens: tokens }),
  prepared: (request) => request,
  errorEvent: (message, status = 502, code) => {
    const { type, ...rest } = error(status, message, code).error;
    return `event: error\ndata: ${JSON.stringify({ ...rest, type: "error", code: code ?? type })}`;
  },
  readUsage(response) {
    const parsed = v.safeParse(ResponsesBody, response);
    return parsed.success && parsed.output.usage ? responsesUsage(parsed.output.usage) : undefined;
  },
  meter: responsesMeter,
};

const chatUsage = (usage: v.InferOutput<typeof ChatUsage>): Usage =>
  toUsage(
    usage.prompt_tokens,
    usage.completion_tokens,
    usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens,
  );
const responsesUsage = ({ input_tokens, output_tokens, input_tokens_details }: v.InferOutput<typeof ResponsesUsage>) =>
  toUsage(input_tokens, output_tokens, input_tokens_details?.cached_tokens);

/** These APIs count cached input among all input. */
function toUsage(input: number, output: number, cached: number | null | undefined): Usage {
  const cacheRead = Math.min(cached ?? 0, input);
  return { ...NOTHING_USED, input: input - cacheRead, output, cacheRead };
}

const toObject = (value: unknown): object | null => (typeof value === "object" ? value : null);

function chatMeter(request: ModelRequest): Meter {
  const wantsUsage = v.is(WantsUsage, request);
  let usage: Usage | undefined;
  let bytes = 0;
  let ended = false;
  let counted = false;
  return {
    see(data) {
      if (data === "[DONE]") ended = true;
      const json = parsedJson(data);
      const parsed = v.safeParse(ChatEvent, json);
      if (!parsed.success) return true;
      if (parsed.output.usage) usage = chatUsage(parsed.output.usage);
      // Some servers send counts with each event; the last one has no choice.
      if (parsed.output.usage && parsed.output.choices.length === 0) counted = true;
      // Some servers send no end marker.
      if (counted || parsed.output.choices.some((choice) => v.is(Finished, choice))) ended = true;
      bytes += textBytes(parsed.output.choices);
      const isOther = !Object.hasOwn(Object(json), "choices") && !parsed.output.usage;
      return parsed.output.choices.length > 0 || wantsUsage || isOther;
    },
    usage: () => usage,
    bytes: () => bytes,
    ended: () => ended,
    complete: () => counted || (ended && usage !== undefined),
  };
}

const LAST_EVENTS = new Set([
  "response.completed",
  "response.incomplete",
  "response.failed",
  "response.cancelled",
  "response.done",
  "error",
]);

function responsesMeter(): Meter {
  let usage: Usage | undefined;
  let bytes = 0;
  let ended = false;
  return {
    see(data) {
      const parsed = v.safeParse(ResponsesEvent, parsedJson(data));
      if (!parsed.success) return true;
      const { type, delta, response } = parsed.output;
      if (response?.usage) usage = responsesUsage(response.usage);
      bytes += textBytes(delta);
      if (LAST_EVENTS.has(type)) ended = true;
      return true;
    },
    usage: () => usage,
    bytes: () => bytes,
    ended: () => ended,
    complete: () => ended && usage !== undefined,
  };
}
