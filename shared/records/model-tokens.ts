import type { RequestUsage } from "#shared/wire/run.ts";

/** The tokens that calls of one model have used. Each token is in one category: `input` was neither read from nor written to a cache. */
export interface ModelTokens {
  readonly modelId: string;
  /** True for calls with a key of the team or the run. */
  readonly hasOwnKey?: boolean;
  /** True for calls of a server that is not the one of the company with its API. */
  readonly isCustom?: boolean;
  readonly tokens: Readonly<Record<Category, number>>;
}

const CATEGORIES = ["input", "output", "cache_read", "cache_write"] as const;
type Category = (typeof CATEGORIES)[number];
/** The letters that the attributes of each category begin with. */
const LETTERS = { input: "i", output: "o", cache_read: "r", cache_write: "w" } satisfies Record<Category, string>;

const PREFIX = "t_";
const nameAttribute = (category: Category, modelId: string): string => `${PREFIX}${LETTERS[category]}_${modelId}`;

/** Begins the model in attributes that count calls with a key of the team or the run. No model's id has a colon before its slash. */
const OWN_KEY = "byok:";

/** The same of calls of a server of the operator's choice. The ids of the first such provider say so themselves. */
const CUSTOM = "custom:";
const CUSTOM_ENDPOINT = "compatible/";

/** The attributes of a run's usage that count tokens by model: the write that counts a call adds to them too. */
export const toTokenAttributes = ({
  modelId,
  hasOwnKey,
  isCustom,
  tokens,
}: ModelTokens): Readonly<Record<string, number>> => {
  const prefix = hasOwnKey === true ? OWN_KEY : isCustom === true && !modelId.startsWith(CUSTOM_ENDPOINT) ? CUSTOM : "";
  return Object.fromEntries(
    CATEGORIES.filter((category) => tokens[category] > 0).map((category) => [
      nameAttribute(category, `${prefix}${modelId}`),
      tokens[category],
    ]),
  );
};

/** Parses those attributes, in the order of the models' ids. */
export function parseTokens(item: Readonly<Record<string, unknown>>): readonly ModelTokens[] {
  const start = nameAttribute("input", "").length;
  const names = Object.keys(item).filter((name) => name.startsWith(PREFIX));
  return [...new Set(names.map((name) => name.slice(start)))].sort().map((counted) => {
    const hasOwnKey = counted.startsWith(OWN_KEY);
    const named = hasOwnKey ? counted.slice(OWN_KEY.length) : counted;
    const modelId = named.startsWith(CUSTOM) ? named.slice(CUSTOM.length) : named;
    const isCustom = named !== modelId || modelId.startsWith(CUSTOM_ENDPOINT);
    const read = (category: Category) => Number(item[nameAttribute(category, counted)] ?? 0);
    const tokens = {
      input: read("input"),
      output: read("output"),
      cache_read: read("cache_read"),
      cache_write: read("cache_write"),
    };
    return { modelId, ...(hasOwnKey ? { hasOwnKey } : {}), ...(isCustom ? { isCustom } : {}), tokens };
  });
}

/** Formats the tokens of one model. */
export const toModelTokenUsage = ({ modelId, hasOwnKey, isCustom, tokens }: ModelTokens) => ({
  model_id: modelId,
  total_tokens: sum(tokens),
  ...toUsageType(hasOwnKey === true, isCustom === true),
  tokens_by_category: { ...tokens },
});

function toUsageType(hasOwnKey: boolean, isCustom: boolean) {
  if (hasOwnKey) return { usage_type: "byok" as const };
  return isCustom ? { usage_type: "custom_endpoint" as const } : {};
}

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
