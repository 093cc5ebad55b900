import { invalid } from "#shared/errors.ts";
import type { Provider } from "#shared/models/catalogue.ts";
import type { ModelRequest } from "./dialect.ts";

/** Members that choose a price, with the values that choose the standard one or leave the choice to the provider. */
const STANDARD: Readonly<Record<string, readonly unknown[]>> = {
  service_tier: [null, "auto", "default", "standard", "standard_only", "flex"],
  speed: [null, "standard"],
  inference_geo: [null, "global"],
};

/** The options that are sent to each provider, so that no default of the provider selects another price. */
const PINNED: Readonly<Record<Provider, object>> = {
  anthropic: { service_tier: "standard_only" },
  openai: { service_tier: "default" },
  bedrock: {},
  compatible: {},
};

/**
 * Changes the request to the standard price, which the gateway counts. Throws if it requires another price.
 * @param isCustom whether the server is not that of the company with this API: it may refuse members that choose a price
 */
export function pinPrice(request: ModelRequest, provider: Provider, isCustom = false): ModelRequest {
  for (const [name, values] of Object.entries(STANDARD)) {
    if (request[name] !== undefined && !values.includes(request[name])) {
      throw invalid(name, "must be left out or standard: the gateway counts models at their standard price only");
    }
  }
  const { service_tier: _, speed: __, inference_geo, ...rest } = request;
  const isNamed = provider === "anthropic" && inference_geo === "global";
  return { ...rest, ...(isCustom ? {} : PINNED[provider]), ...(isNamed ? { inference_geo } : {}) };
}

/** Lists the options of a request that were changed or removed. */
export const changedOptions = (request: ModelRequest, pinned: ModelRequest): readonly string[] =>
  Object.keys(STANDARD).filter((name) => (request[name] ?? undefined) !== undefined && request[name] !== pinned[name]);

/** Maximum tokens of output in a request; no model returns more in one response. */
const MAX_OUTPUT_TOKENS = 1_000_000;
/** Maximum responses of one request. */
const MAX_CHOICES = 128;

/** Reads a member as a whole number from 1 to `max`; undefined if it is absent. Throws for any other value. */
function wholeNumber(value: unknown, path: string, max: number): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalid(path, `must be a whole number from 1 to ${max}`);
}

export const outputTokens = (value: unknown, path: string): number | undefined =>
  wholeNumber(value, path, MAX_OUTPUT_TOKENS);

export const choices = (value: unknown): number => wholeNumber(value, "n", MAX_CHOICES) ?? 1;
