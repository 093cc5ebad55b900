import * as v from "valibot";
import { CONTEXT_OVERFLOW, type Dialect, type Meter, parsedJson, textBytes } from "./dialect.ts";
import { messagesFilter } from "./messages-filter.ts";
import { outputTokens } from "./price-options.ts";
import { isObject } from "./request-filter.ts";
import { NOTHING_USED, type Usage } from "./usage.ts";

/** Minimum tokens of a useful response after the tokens for thinking. */
const MIN_RESPONSE_TOKENS = 1_024;

const Count = v.optional(v.nullable(v.pipe(v.number(), v.minValue(0))));
const Counts = v.object({
  input_tokens: Count,
  output_tokens: Count,
  cache_read_input_tokens: Count,
  cache_creation_input_tokens: Count,
  cache_creation: v.optional(v.nullable(v.object({ ephemeral_1h_input_tokens: Count }))),
});
const MessagesBody = v.object({ type: v.literal("message"), usage: Counts });
const Event = v.looseObject({
  type: v.string(),
  message: v.optional(v.object({ usage: v.optional(Counts) })),
  usage: v.optional(Counts),
  delta: v.optional(v.unknown()),
});
const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

const errorType = (status: number): string => TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");

function error(status: number, message: string, code?: string) {
  // Callers of this API recognize an overflow by the words of Anthropic.
  const prefix = code === CONTEXT_OVERFLOW ? "prompt is too long" : code;
  return {
    type: "error",
    error: { type: errorType(status), message: prefix === undefined ? message : `${prefix}: ${message}` },
  };
}

/** Anthropic's Messages API, which Anthropic models on Bedrock use too. */
export const messages: Dialect = {
  path: "/anthropic/v1/messages",
  upstreamPath: "/v1/messages",
  providers: ["anthropic", "bedrock"],
  passes: ["anthropic-version", "anthropic-beta"],
  filter: messagesFilter,
  readOutputLimits({ max_tokens, thinking }) {
    const thinkingTokens = isObject(thinking)
      ? outputTokens(thinking["budget_tokens"], "thinking.budget_tokens")
      : undefined;
    return {
      limit: outputTokens(max_tokens, "max_tokens"),
      least: (thinkingTokens ?? 0) + MIN_RESPONSE_TOKENS,
      choices: 1,
    };
  },
  withOutputLimit: (request, tokens) => ({ ...request, max_tokens: tokens }),
  prepared: (request) => request,
  error,
  errorEvent: (message, status = 502, code) => `event: error\ndata: ${JSON.stringify(error(status, message, code))}`,
  readUsage(response) {
    const parsed = v.safeParse(MessagesBody, response);
    return parsed.success ? withCounts(NOTHING_USED, parsed.output.usage) : undefined;
  },
  meter,
};

/** The counts of a stream are cumulative, so later ones replace earlier ones. */
function withCounts(before: Usage, counts: v.InferOutput<typeof Counts>): Usage {
  const long = counts.cache_creation?.ephemeral_1h_input_tokens ?? before.cacheWriteLong;
  const written = counts.cache_creation_input_tokens ?? before.cacheWrite + before.cacheWriteLong;
  return {
    input: counts.input_tokens ?? before.input,
    output: counts.output_tokens ?? before.output,
    cacheRead: counts.cache_read_input_tokens ?? before.cacheRead,
    cacheWrite: Math.max(0, written - long),
    cacheWriteLong: long,
  };
}

function meter(): Meter {
  let usage: Usage | undefined;
  let bytes = 0;
  let ended = false;
  let stopped = false;
  return {
    see(data) {
      const parsed = v.safeParse(Event, parsedJson(data));
      if (!parsed.success) return true;
      const { type, message, delta } = parsed.output;
      const counts = message?.usage ?? parsed.output.usage;
      if (counts !== undefined) usage = withCounts(usage ?? NOTHING_USED, counts);
      if (type === "content_block_delta") bytes += textBytes(delta);
      if (type === "message_stop") stopped = true;
      // An error also ends the stream, and some servers send no event after the reason of the end.
      const hasReason = type === "message_delta" && isObject(delta) && typeof delta["stop_reason"] === "string";
      if (type === "message_stop" || type === "error" || hasReason) ended = true;
      return true;
    },
    usage: () => usage,
    bytes: () => bytes,
    ended: () => ended,
    complete: () => stopped && usage !== undefined,
  };
}
