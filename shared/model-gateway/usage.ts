import type { Model } from "#shared/wire/model.ts";

/** The usage of one call in tokens. `input` excludes what was read from or written to the provider's cache. */
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

/** The higher price of a request with more input than this, as a factor of the standard one. */
interface LongInputPrice {
  readonly aboveTokens: number;
  readonly input: number;
  readonly output: number;
}

/** As published at https://developers.openai.com/api/docs/models/gpt-5.4. */
const LONG_INPUT: Readonly<Record<string, LongInputPrice>> = {
  "openai/gpt-5.4": { aboveTokens: 272_000, input: 2, output: 1.5 },
};

/** Returns the price of a model for a number of input tokens. */
export function priceForInput(modelId: string, price: Price, tokens: number): Price {
  const long = Object.hasOwn(LONG_INPUT, modelId) ? LONG_INPUT[modelId] : undefined;
  if (long === undefined || tokens <= long.aboveTokens) return price;
  return {
    input_per_million_usd: price.input_per_million_usd * long.input,
    output_per_million_usd: price.output_per_million_usd * long.output,
  };
}

/** Cost of one output token in billionths of a dollar. */
export const outputTokenCost = (price: Price): number => price.output_per_million_usd * NANO_PER_TOKEN;

/** Calculates the cost of a call in billionths of a dollar, rounded up. */
export function calculateCost(usage: Usage, price: Price): number {
  const input = usage.input + usage.cacheRead * 0.1 + usage.cacheWrite * 1.25 + usage.cacheWriteLong * 2;
  return Math.ceil(
    input * price.input_per_million_usd * NANO_PER_TOKEN + usage.output * price.output_per_million_usd * NANO_PER_TOKEN,
  );
}

export const inputTokens = (usage: Usage): number =>
  usage.input + usage.cacheRead + usage.cacheWrite + usage.cacheWriteLong;

/** Minimum bytes that a token of text usually has. */
const USUAL_BYTES_PER_TOKEN = 3;

/** Estimates the tokens in a number of bytes, for a provider that does not report its usage. */
export const usualTokens = (bytes: number): number => Math.ceil(bytes / USUAL_BYTES_PER_TOKEN);
