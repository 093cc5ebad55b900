import * as v from "valibot";
import type { RunEvent } from "../../clients/typescript/src/index.ts";
import { formatCount, formatDuration, formatUsd } from "../ui/format.ts";
import { revealHidden } from "../ui/hidden-characters.ts";

const Call = v.object({
  model_id: v.string(),
  input_tokens: v.number(),
  output_tokens: v.number(),
  cache_read_tokens: v.optional(v.number(), 0),
  /** Absent where the model has no known price. */
  cost_usd: v.optional(v.number()),
  is_estimated: v.optional(v.boolean(), false),
  duration_ms: v.optional(v.number(), 0),
});

export interface ModelCall extends v.InferOutput<typeof Call> {
  readonly sequence: number;
  /** Milliseconds since the epoch at which the call ended. */
  readonly end: number;
}

/** The calls of models among the events of a run. */
export function toModelCalls(events: readonly RunEvent[]): ModelCall[] {
  return events.flatMap(({ type, sequence, occurred_at, data }) => {
    const call = type === "model_called" ? v.safeParse(Call, data) : undefined;
    return call?.success === true ? [{ ...call.output, sequence, end: Date.parse(occurred_at) }] : [];
  });
}

export interface ModelTotal {
  readonly model: string;
  readonly calls: number;
  readonly tokens: number;
  readonly cost: number;
}

/** The calls by model, the costliest first. */
export function totalByModel(calls: readonly ModelCall[]): ModelTotal[] {
  return [...Map.groupBy(calls, ({ model_id }) => model_id)]
    .map(([model, all]) => ({
      model,
      calls: all.length,
      tokens: all.reduce((sum, call) => sum + call.input_tokens + call.output_tokens, 0),
      cost: all.reduce((sum, call) => sum + (call.cost_usd ?? 0), 0),
    }))
    .toSorted((a, b) => b.cost - a.cost || b.tokens - a.tokens);
}

/** A call in words: its model, its tokens, its cost and its duration. */
export const describeCall = ({
  model_id,
  input_tokens,
  output_tokens,
  cost_usd,
  is_estimated,
  duration_ms,
}: ModelCall) =>
  [
    revealHidden(model_id),
    `${formatCount(input_tokens)} tokens in, ${formatCount(output_tokens)} out`,
    ...(cost_usd === undefined ? [] : [`${formatUsd(cost_usd)}${is_estimated ? " estimated" : ""}`]),
    formatDuration(duration_ms),
  ].join(" · ");
