import type { ModelLimits } from "#shared/model-provider/model-limits.ts";
import type { ProviderRequest } from "#shared/model-provider/model-provider.ts";

/** The names of the output limit in the Chat Completions API. Each is unknown to some servers and models. */
export type LimitName = "max_tokens" | "max_completion_tokens";

/** The most tokens of a response where the request sets no limit. */
const MAX_DEFAULT_TOKENS = 32_000;
/** The same where neither the window nor the output limit of the model is known. */
const UNKNOWN_DEFAULT_TOKENS = 8_192;
/** The share of the context window that a response may take, so that the rest is left for the conversation. */
const OUTPUT_SHARE = 4;
/** Fewer tokens are not worth a repeated request. */
const MIN_TOKENS = 256;

/** Reads the output limit of a request to an API of OpenAI. */
function readLimit(request: ProviderRequest): number | undefined {
  const members = [request["max_output_tokens"], request["max_completion_tokens"], request["max_tokens"]];
  return members.find((value) => typeof value === "number");
}

/** Sets the output limit under the name that the model takes, at most what the model can. */
export function withLimit(
  request: ProviderRequest,
  {
    name,
    limits,
    isResponses,
  }: { readonly name: LimitName; readonly limits: ModelLimits; readonly isResponses: boolean },
  room = Number.POSITIVE_INFINITY,
): ProviderRequest {
  const tokens = Math.min(readLimit(request) ?? defaultTokens(limits), limits.outputTokens ?? room, room);
  const { max_tokens: _, max_completion_tokens: __, max_output_tokens: ___, ...rest } = request;
  return { ...rest, [isResponses ? "max_output_tokens" : name]: tokens };
}

function defaultTokens({ contextTokens, outputTokens }: ModelLimits): number {
  if (contextTokens === undefined) return Math.min(outputTokens ?? UNKNOWN_DEFAULT_TOKENS, MAX_DEFAULT_TOKENS);
  const share = Math.max(1, Math.floor(contextTokens / OUTPUT_SHARE));
  return Math.min(MAX_DEFAULT_TOKENS, share, outputTokens ?? share);
}

/** What a server's refusal says about its limits. */
export interface LearnedLimits extends ModelLimits {
  /** The name that the server requires instead. */
  readonly name?: LimitName;
  /** The tokens that this request leaves for its response. */
  readonly room?: number;
}

const UNKNOWN_NAME = /unsupported|not supported|unrecognized|unknown|unexpected|extra_forbidden|not permitted|instead/i;

/** Reads what a refusal of a request with this output limit says about the limits of the server. */
export function learnLimits(text: string, request: ProviderRequest): LearnedLimits {
  const sent: LimitName | undefined =
    "max_completion_tokens" in request ? "max_completion_tokens" : "max_tokens" in request ? "max_tokens" : undefined;
  if (sent !== undefined && UNKNOWN_NAME.test(text) && new RegExp(`\\b${sent}\\b`).test(text)) {
    return { name: sent === "max_tokens" ? "max_completion_tokens" : "max_tokens" };
  }
  const contextTokens = firstNumber(
    text,
    /maximum (?:context|model) length(?: is| of)? (\d+)/i,
    /"n_ctx": ?(\d+)/,
    /available context size \((\d+) tokens\)/i,
    /context (?:length|window|size) (?:is|of|only) (?:only )?(\d+)/i,
    /current length is \d+ while limit is (\d+)/i,
    /`?max_new_tokens`? must be <= (\d+)\. given: \d+ `?inputs/i,
  );
  const outputTokens = firstNumber(
    text,
    /supports at most (\d+)/i,
    /> (\d+), which is the maximum allowed/i,
    /less than or equal to `?(\d+)/i,
    /valid range of max_(?:completion_)?tokens is \[\d+, ?(\d+)\]/i,
    /max_(?:completion_)?tokens(?: \(\d+\))? cannot exceed (\d+)/i,
  );
  const input = firstNumber(text, /(\d+) (?:`?inputs?`? tokens|prompt tokens|in the (?:messages|prompt|input))/i);
  const room = contextTokens === undefined || input === undefined ? 0 : contextTokens - input;
  return {
    ...(contextTokens !== undefined && { contextTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(room >= MIN_TOKENS && { room }),
  };
}

/** Whether a request is worth repeating with what its refusal has taught. */
export function isWorthRepeating({ name, outputTokens, room }: LearnedLimits, request: ProviderRequest): boolean {
  const sent = readLimit(request) ?? 0;
  return name !== undefined || (outputTokens ?? sent) < sent || (room ?? sent) < sent;
}

function firstNumber(text: string, ...patterns: readonly RegExp[]): number | undefined {
  return patterns.map((pattern) => Number(pattern.exec(text)?.[1])).find((number) => number > 0);
}
