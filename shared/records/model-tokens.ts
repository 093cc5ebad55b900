import type { RequestUsage } from "#shared/wire/run.ts";

/** The tokens that calls of one model have used. Each token is in one category: `input` was neither read from nor written to a cache. */
export interface ModelTokens {
  readonly modelId: string;
  readonly tokens: Readonly<Record<Category, number>>;
}

const CATEGORIES = ["input", "output", "cache_read", "cache_write"] as const;
type Category = (typeof CATEGORIES)[number];
/** The letters that the attributes of each category begin with. */
const LETTERS = { input: "i", output: "o", cache_read: "r", cache_write: "w" } satisfies Record<Category, string>;

const PREFIX = "t_";
const nameAttribute = (category: Category, modelId: string): string => `${PREFIX}${LETTERS[category]}_${modelId}`;

/** The models of compatible servers. */
const CUSTOM_ENDPOINT = "compatible/";

/** The attributes of a run's usage that count tokens by model: the write that counts a call adds to them too. */
export const toTokenAttributes = ({ modelId, tokens }: ModelTokens): Readonly<Record<string, number>> =>
  Object.fromEntries(
    CATEGORIES.filter((category) => tokens[category] > 0).map((category) => [
      nameAttribute(category, modelId),
      tokens[category],
    ]),
  );

/** Parses those attributes, in the order of the models' ids. */
export function parseTokens(item: Readonly<Record<string, unknown>>): readonly ModelTokens[] {
  const start = nameAttribute("input", "").length;
  const names = Object.keys(item).filter((name) => name.startsWith(PREFIX));
  return [...new Set(names.map((name) => name.slice(start)))].sort().map((modelId) => {
    const read = (category: Category) => Number(item[nameAttribute(category, modelId)] ?? 0);
    const tokens = {
      input: read("input"),
      output: read("output"),
      cache_read: read("cache_read"),
      cache_write: read("cache_write"),
    };
    return { modelId, tokens };
  });
}

/** Formats the tokens of one model. */
export const toModelTokenUsage = ({ modelId, tokens }: ModelTokens) => ({
  model_id: modelId,
  total_tokens: sum(tokens),
  ...(modelId.startsWith(CUSTOM_ENDPOINT) ? { usage_type: "custom_endpoint" as const } : {}),
  tokens_by_category: { ...tokens },
});

/** Sums the tokens of all models. As in the events of calls, the input includes what a cache was read or written for. */
export function toTokenTotals(models: readonly ModelTokens[]): Partial<RequestUsage> {
  const total = (category: Category) => models.reduce((tokens, one) => tokens + one.tokens[category], 0);
  const [read, written] = [total("cache_read"), total("cache_write")];
  return {
    input_tokens: total("input") + read + written,
    output_tokens: total("output"),
    cache_read_tokens: read,
    cache_write_tokens: written,
  };
}

const sum = (tokens: ModelTokens["tokens"]): number => Object.values(tokens).reduce((total, one) => total + one, 0);
