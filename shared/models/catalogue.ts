import type { Model } from "#shared/wire/model.ts";

/** The providers of models besides the deployment's own: the part before the slash of a model's id. */
export const PROVIDERS = ["anthropic", "openai", "bedrock", "compatible"] as const;
export type Provider = (typeof PROVIDERS)[number];

/** @param cache what reads from the provider's cache cost, and writes to it for five minutes */
const usd = (input: number, output: number, cache: { readonly read: number; readonly write: number }) => ({
  input_per_million_usd: input,
  output_per_million_usd: output,
  cache_read_per_million_usd: cache.read,
  cache_write_per_million_usd: cache.write,
});

/**
 * The models of each provider that has a list of its own; a run that names none gets the first. The part of an id after the slash
 * is the provider's own name for the model.
 *
 * Ids, prices, vision and reasoning levels (the effort that is the model's default) of Anthropic's models: its overview of
 * models, https://platform.claude.com/docs/en/models/overview, and
 * https://platform.claude.com/docs/en/about-claude/models/model-ids-and-versions, as of September 2026. Prices of its cache:
 * https://platform.claude.com/docs/en/models/opus-5-5/overview and https://platform.claude.com/docs/en/about-claude/pricing, read on
 * 29 November 2026; none of these models has other prices for long input. Bedrock's ids are those
 * of its inference profiles for all regions. A model without a price published by its provider has none here: a wrong price is
 * worse than a missing one.
 */
export const CATALOGUE: Readonly<Record<Exclude<Provider, "compatible">, readonly Model[]>> = {
  anthropic: [
    {
      id: "anthropic/claude-opus-5-5",
      display_name: "Claude Opus 5.5",
      provider: "ANTHROPIC",
      vision_supported: true,
      description: "For long agentic work on code, and for knowledge work.",
      reasoning_level: "medium",
      cost: usd(4, 20, { read: 0.2, write: 5 }),
    },
    {
      id: "anthropic/claude-sonnet-5-5",
      display_name: "Claude Sonnet 5.5",
      provider: "ANTHROPIC",
      vision_supported: true,
      description: "Fast, at half the price of Opus.",
      reasoning_level: "high",
      cost: usd(2, 10, { read: 0.1, write: 2.5 }),
    },
    {
      id: "anthropic/claude-haiku-4-5-20251001",
      display_name: "Claude Haiku 4.5",
      provider: "ANTHROPIC",
      vision_supported: true,
      description: "For small tasks that are to be done at once.",
      cost: usd(1, 5, { read: 0.1, write: 1.25 }),
    },
  ],
  openai: [
    { id: "openai/gpt-5.4", display_name: "GPT-5.4", provider: "OPENAI", vision_supported: true },
    { id: "openai/gpt-5.4-mini", display_name: "GPT-5.4 mini", provider: "OPENAI", vision_supported: true },
  ],
  bedrock: [
    {
      id: "bedrock/global.anthropic.claude-opus-5-5",
      display_name: "Claude Opus 5.5 on Amazon Bedrock",
      provider: "AMAZON",
      vision_supported: true,
      reasoning_level: "medium",
    },
    {
      id: "bedrock/global.anthropic.claude-sonnet-5-5",
      display_name: "Claude Sonnet 5.5 on Amazon Bedrock",
      provider: "AMAZON",
      vision_supported: true,
      reasoning_level: "high",
    },
  ],
};
