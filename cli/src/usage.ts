import type { RunItem } from "../../clients/typescript/src/index.ts";

type Usage = NonNullable<RunItem["request_usage"]>;

/** What a run has used, such as `12,345 tokens · $0.0421`; undefined if it has used nothing. */
export function usageText(usage: Usage | undefined): string | undefined {
  if (usage === undefined) return undefined;
  const { total_tokens, inference_cost, compute_cost, platform_cost } = usage;
  const costs = [inference_cost, compute_cost, platform_cost].filter((cost) => cost !== undefined);
  const parts = [
    ...(total_tokens === undefined ? [] : [`${total_tokens.toLocaleString("en-US")} tokens`]),
    ...(costs.length === 0 ? [] : [dollars(costs.reduce((sum, cost) => sum + cost, 0))]),
  ];
  return parts.length === 0 ? undefined : parts.join(" · ");
}

const dollars = (amount: number): string => `$${amount.toFixed(amount > 0 && amount < 1 ? 4 : 2)}`;
