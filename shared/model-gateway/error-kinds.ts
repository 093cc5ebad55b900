import type { ProviderError } from "./provider-error.ts";

/** The remedy where the provider has failed. */
export const PROVIDER_REMEDY = "The provider has a problem. Continue the run later, or choose another model.";

/** What a failed call means for its caller. */
export interface ErrorMeaning {
  readonly kind: "overflow" | "permanent" | "transient";
  /** What the operator or the caller can do about it. */
  readonly remedy: string;
}

/**
 * How providers and servers say that a conversation exceeds the context window of a model. Each is a part of an error message or of
 * its kind, as their documentation, source or users' reports have it.
 */
const OVERFLOW: readonly RegExp[] = [
  /context_length_exceeded|context_window_exceeded|exceed_context_size_error|model_context_window_exceeded/i,
  // OpenAI, vLLM, Mistral, DeepSeek, SGLang, Together.
  /maximum (?:context|model) length|max(?:imum)?[_ ]model[_ ]len|maximum allowed (?:input )?length/i,
  // llama.cpp and Lemonade.
  /exceeds? the available context size|context size (?:has been )?exceeded|exceed(?:s|ed)? context (?:size|window|limit)/i,
  // Anthropic and Amazon Bedrock.
  /(?:prompt|input) (?:is )?too long|exceed(?:s|ed)? (?:the )?(?:model(?:'s)? )?(?:max(?:imum)? )?context/i,
  /input and output tokens exceed your context limit|too many input tokens|input length exceeds/i,
  // Gemini and Vertex AI.
  /input token count.{0,40}exceeds the maximum|exceeds the maximum number of tokens|tokens? (?:count )?exceeds? the (?:model )?limit/i,
  // LM Studio and Ollama.
  /trying to keep the first \d+ tokens|context (?:the )?overflows?|greater than the context length|exceeds? (?:the )?context length/i,
  // Groq, xAI, OpenRouter, Mistral, Cohere, Text Generation Inference, MLX.
  /reduce the length of the (?:messages|input|prompt)|maximum prompt length is|too large for model with \d+ maximum context/i,
  /too many tokens: (?:size limit|total)|prompt (?:contains|has) too many tokens|tokens? \+ `?max_new_tokens`? must be|`inputs` must have less than/i,
  /(?:longer|larger) than the (?:model's |maximum )?context (?:length|window)|context window (?:is )?(?:full|limit|exceed)/i,
  /exceeds? (?:the )?limit of \d+ tokens|token limit exceeded|input tokens exceed/i,
  // Moonshot, DashScope, z.ai.
  /exceeded model token limit|message size \d+ exceeds|range of input length should be|prompt exceeds max length/i,
];

/** Errors in which an overflow's words mean something else: a limit of tokens a minute. */
const THROTTLED = /rate.?limit|tokens per (?:minute|day)|\bTPM\b|too many requests|throttl/i;

/** Errors that a retry cannot fix, whatever their status is. */
const PERMANENT =
  /insufficient[_ ](?:quota|credit|balance|funds)|credit balance is too low|billing|exceeded your (?:current|monthly) (?:quota|spend)|payment required|used all available credits|(?:reached|exceeded).{0,20}(?:monthly )?spending limit|(?:account|organization).{0,30}(?:deactivated|suspended|disabled)|model_not_found|not_found_error|invalid_api_key|authentication_error|permission_error|invalid_request_error|content_policy|content_filter|jinja exception|chat template/i;

/** Statuses below 500 of errors that may pass: 424 of a failed inference (Hugging Face), 498 of a lack of capacity (Groq). */
const TRANSIENT = new Set([408, 409, 424, 425, 429, 498]);

/** Kinds of errors that come without a status, within a stream. */
const STATUS_OF_KIND: readonly (readonly [RegExp, number])[] = [
  [/overloaded|unavailable|capacity/i, 529],
  [/rate.?limit|resource_exhausted|throttl/i, 429],
  [/timeout|deadline/i, 504],
  [/authentication|invalid_api_key|unauthenticated/i, 401],
  [/permission/i, 403],
  [/insufficient|billing|payment/i, 402],
  [/not_found/i, 404],
  [/invalid_request|invalid_argument|bad_?request|invalid_prompt|context_length|content_(?:policy|filter)/i, 400],
];

/** The status of an error that a provider reports in a response with the status of a success. */
export function statusOfError({ status, kinds, message }: ProviderError): number {
  if (status !== undefined) return status;
  const of = (text: string) => STATUS_OF_KIND.find(([pattern]) => pattern.test(text))?.[1];
  return kinds.map(of).find((found) => found !== undefined) ?? (PERMANENT.test(message) ? 402 : 502);
}

/** Classifies a failed call by its status and the provider's words. */
export function classifyError(status: number, { message, kinds }: ProviderError): ErrorMeaning {
  const words = [...kinds, message].join(" ");
  if (isOverflow(status, words)) {
    return {
      kind: "overflow",
      remedy: "Choose a model with a larger context window, or split the task.",
    };
  }
  const isTransient = TRANSIENT.has(status) || status >= 500;
  const kind = isTransient && !PERMANENT.test(words) ? "transient" : "permanent";
  return { kind, remedy: remedyFor(status, words, kind) };
}

const isOverflow = (status: number, words: string): boolean =>
  status !== 429 && !THROTTLED.test(words) && OVERFLOW.some((pattern) => pattern.test(words));

function remedyFor(status: number, words: string, kind: "permanent" | "transient"): string {
  if (status === 402 || /insufficient|credit|billing|quota|balance/i.test(words))
    return "Add credit to the account of the provider, or raise its limit.";
  if (status === 401 || status === 403 || status === 407)
    return "The operator of this deployment has to check the provider's key and its rights.";
  if (status === 404) return "Check the model's name and the provider's address, or choose another model.";
  if (status === 429) return "The provider limits requests. Continue the run later, or raise the account's limit.";
  if (status === 413) return "The request is too large for the provider. Send fewer or smaller files and images.";
  if (kind === "transient") return PROVIDER_REMEDY;
  return "Check that the model supports the request, such as tools and images, or choose another model.";
}
