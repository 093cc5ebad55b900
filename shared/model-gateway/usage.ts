import type { Model } from "#shared/wire/model.ts";

/** What one call has used, in tokens. `input` leaves out what was read from, or written to, the provider's cache. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  /** Input read from the cache, at a tenth of the price of input. */
  readonly cacheRead: number;
  /** Input written to the cache for five minutes, at 1.25 times the price of input. */
  readonly cacheWrite: number;
  /** Input written to the cache for an hour, at twice the price of input. */
  readonly cacheWriteLong: number;
}

export const NOTHING_USED: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0 };

/** A price of one dollar a million tokens, in billionths of a dollar a token. */
const NANO_PER_TOKEN = 1_000;

export type Price = NonNullable<Model["cost"]>;

/** Billionths of a dollar that one token of output costs. */
export const outputTokenCost = (price: Price): number => price.output_per_million_usd * NANO_PER_TOKEN;

/** Billionths of a dollar that the call costs, rounded up. */
export function costOf(usage: Usage, price: Price): number {
  const input = usage.input + usage.cacheRead * 0.1 + usage.cacheWrite * 1.25 + usage.cacheWriteLong * 2;
  return Math.ceil(
    input * price.input_per_million_usd * NANO_PER_TOKEN + usage.output * price.output_per_million_usd * NANO_PER_TOKEN,
  );
}

export const inputTokens = (usage: Usage): number =>
  usage.input + usage.cacheRead + usage.cacheWrite + usage.cacheWriteLong;

/** Bytes that a token has at least, on average: texts of all kinds have more. */
const BYTES_PER_TOKEN = 3;
/** Tokens of an image, at most; providers scale larger ones down. */
const IMAGE_TOKENS = 5_000;
/** Tokens that a provider adds of its own, such as the text that explains tools to the model. */
const OVERHEAD_TOKENS = 1_000;

export const tokensOfText = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);

/**
 * What a request's input will be, before anybody has counted it: rather too much than too little. All of it may be written to the
 * cache where the request asks for that.
 */
export function estimatedInput(body: unknown): Usage {
  const tokens = tokensIn(body) + OVERHEAD_TOKENS;
  const text = JSON.stringify(body);
  if (!text.includes('"cache_control"')) return { ...NOTHING_USED, input: tokens };
  return text.includes('"1h"') ? { ...NOTHING_USED, cacheWriteLong: tokens } : { ...NOTHING_USED, cacheWrite: tokens };
}

function tokensIn(value: unknown): number {
  if (typeof value === "string") {
    if (value.startsWith("data:image/")) return IMAGE_TOKENS;
    return tokensOfText(Buffer.byteLength(value));
  }
  if (Array.isArray(value)) return value.reduce((sum: number, part) => sum + tokensIn(part) + 1, 0);
  if (typeof value !== "object" || value === null) return 1;
  const isImage = "media_type" in value && String(value.media_type).startsWith("image/");
  return Object.entries(value).reduce(
    (sum, [name, part]) =>
      sum + tokensOfText(Buffer.byteLength(name)) + (isImage && name === "data" ? IMAGE_TOKENS : tokensIn(part)),
    0,
  );
}
