import type { Provider } from "#shared/models/catalogue.ts";
import type { ModelCost } from "#shared/wire/model.ts";

/** The usage of one call in tokens. `input` excludes what was read from or written to the provider's cache. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  /** Input read from the cache. */
  readonly cacheRead: number;
  /** Input written to the cache for five minutes. */
  readonly cacheWrite: number;
  /** Input written to the cache for an hour. */
  readonly cacheWriteLong: number;
}

export const NOTHING_USED: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0 };

/** A price of one dollar a million tokens, in billionths of a dollar a token. */
const NANO_PER_TOKEN = 1_000;

export type Price = ModelCost;

/** The higher price of a request with more input than this, as a factor of the standard one. */
interface LongInputPrice {
  readonly aboveTokens: number;
  readonly input: number;
  readonly output: number;
}

/** As published at https://developers.openai.com/api/docs/models/gpt-5.4, for prices that the deployment sets without steps. */
const LONG_INPUT: Readonly<Record<string, LongInputPrice>> = {
  "openai/gpt-5.4": { aboveTokens: 272_000, input: 2, output: 1.5 },
};

/**
 * What use of the cache costs, as a share of the price of input, where the price of a model does not say. Anthropic's share is that of most
 * of its models (https://platform.claude.com/docs/en/build-with-claude/prompt-caching, 29 November 2026); the discounts of others differ by
 * model, so none is assumed.
 */
const CACHE_SHARES: Readonly<Record<Provider, { readonly read: number; readonly write: number }>> = {
  anthropic: { read: 0.1, write: 1.25 },
  bedrock: { read: 0.1, write: 1.25 },
  openai: { read: 1, write: 1 },
  compatible: { read: 1, write: 1 },
};

/** The prices of one call, in dollars per million tokens. */
export interface CallPrice {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWriteLong: number;
}

interface PricedModel {
  readonly id: string;
  readonly providerKind: Provider;
}

/** The prices of a call with this number of input tokens. */
export function priceForInput(model: PricedModel, cost: Price, tokens: number): CallPrice {
  const prices = listPrices(model, cost).filter(({ aboveTokens }) => aboveTokens < tokens);
  return prices.at(-1)?.price ?? NO_PRICE;
}

/** The most that a call with at most this number of input tokens may cost for each kind of token. */
export function highestPrice(model: PricedModel, cost: Price, tokens: number): CallPrice {
  const prices = listPrices(model, cost).filter(({ aboveTokens }) => aboveTokens < tokens);
  const most = (kind: keyof CallPrice) => Math.max(0, ...prices.map(({ price }) => price[kind]));
  return {
    input: most("input"),
    output: most("output"),
    cacheRead: most("cacheRead"),
    cacheWrite: most("cacheWrite"),
    cacheWriteLong: most("cacheWriteLong"),
  };
}

/** Whether calls of a model cost nothing, whatever they use. */
export const isFree = ({ cost, ...model }: PricedModel & { readonly cost?: Price }): boolean =>
  cost !== undefined &&
  Object.values(highestPrice(model, cost, Number.POSITIVE_INFINITY)).every((price) => price === 0);

const NO_PRICE: CallPrice = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteLong: 0 };

/** The price of each step, the standard one first. */
function listPrices({ id, providerKind }: PricedModel, cost: Price) {
  const { steps = [], ...standard } = cost;
  const long = Object.hasOwn(LONG_INPUT, id) ? LONG_INPUT[id] : undefined;
  const known = cost.steps === undefined && long !== undefined ? [scale(standard, long)] : steps;
  return [{ above_input_tokens: -1, ...standard }, ...known]
    .toSorted((one, other) => one.above_input_tokens - other.above_input_tokens)
    .map(({ above_input_tokens: aboveTokens, ...step }) => ({
      aboveTokens,
      price: toCallPrice(step, standard, CACHE_SHARES[providerKind]),
    }));
}

type StepPrice = Omit<Price, "steps">;

/** A step without prices of the cache has those of the standard price, as shares of its own input. */
function toCallPrice(
  step: StepPrice,
  standard: StepPrice,
  shares: { readonly read: number; readonly write: number },
): CallPrice {
  const input = step.input_per_million_usd;
  const findShare = (price: number | undefined, share: number) =>
    price === undefined || standard.input_per_million_usd === 0 ? share : price / standard.input_per_million_usd;
  const read = step.cache_read_per_million_usd ?? input * findShare(standard.cache_read_per_million_usd, shares.read);
  const write =
    step.cache_write_per_million_usd ?? input * findShare(standard.cache_write_per_million_usd, shares.write);
  return {
    input,
    output: step.output_per_million_usd,
    cacheRead: read,
    cacheWrite: write,
    cacheWriteLong: Math.max(write, input * LONG_WRITE_SHARE),
  };
}

/** A cache of an hour costs twice the price of input at each provider that has one. */
const LONG_WRITE_SHARE = 2;

const scale = (standard: StepPrice, { aboveTokens, input, output }: LongInputPrice) => ({
  above_input_tokens: aboveTokens,
  input_per_million_usd: standard.input_per_million_usd * input,
  output_per_million_usd: standard.output_per_million_usd * output,
});

/** Cost of one output token in billionths of a dollar. */
export const outputTokenCost = (price: CallPrice): number => price.output * NANO_PER_TOKEN;

/** Calculates the cost of a call in billionths of a dollar, rounded up. */
export function calculateCost(usage: Usage, price: CallPrice): number {
  const kinds = ["input", "output", "cacheRead", "cacheWrite", "cacheWriteLong"] as const;
  const millionths = kinds.reduce((sum, kind) => sum + usage[kind] * price[kind], 0);
  // Without the last digits of sums such as 0.1 + 0.2.
  return Math.ceil(Number((millionths * NANO_PER_TOKEN).toFixed(6)));
}

export const inputTokens = (usage: Usage): number =>
  usage.input + usage.cacheRead + usage.cacheWrite + usage.cacheWriteLong;

/** Minimum bytes that a token of text usually has. */
const USUAL_BYTES_PER_TOKEN = 3;

/** Estimates the tokens in a number of bytes, for a provider that does not report its usage. */
export const usualTokens = (bytes: number): number => Math.ceil(bytes / USUAL_BYTES_PER_TOKEN);
