import * as v from "valibot";
import { Approvals } from "../execution/approval.ts";
import { OutputSchema, StoredOutputSchema } from "../output/output-schema.ts";
import { Id } from "../primitives.ts";

const wholeUpTo = (most: number, least = 1) => v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));

const MAX = { timeout_minutes: 10_080, max_steps: 10_000, max_total_tokens: 1_000_000_000 };

/** The limits of a run besides its budget. A run that reaches one ends FAILED, and a follow-up continues it with a fresh allowance. */
export const RunLimits = {
  timeout_minutes: v.exactOptional(wholeUpTo(MAX.timeout_minutes)),
  max_steps: v.exactOptional(wholeUpTo(MAX.max_steps)),
  max_total_tokens: v.exactOptional(wholeUpTo(MAX.max_total_tokens)),
};

/** Models that the agent continues with while a provider is down. */
export const FallbackModelIds = v.pipe(v.array(Id), v.maxLength(5));

export const REASONING_LEVELS = ["none", "minimal", "low", "medium", "high", "max"] as const;
export type ReasoningLevel = (typeof REASONING_LEVELS)[number];
/** How much a model reasons before it responds. */
export const ReasoningLevel = v.picklist(REASONING_LEVELS);

/** A default of an identity or environment: absent or null leaves it as it is. */
const optional = <T>(schema: v.GenericSchema<unknown, T>) => v.exactOptional(v.nullable(schema));

/** The limits, models, reasoning, responses and approvals of an identity's or environment's runs: 0, `[]`, `{}` and `""` clear them. */
export const LimitDefaults = {
  timeout_minutes: optional(wholeUpTo(MAX.timeout_minutes, 0)),
  max_steps: optional(wholeUpTo(MAX.max_steps, 0)),
  max_total_tokens: optional(wholeUpTo(MAX.max_total_tokens, 0)),
  fallback_model_ids: optional(FallbackModelIds),
  reasoning_level: optional(v.picklist([...REASONING_LEVELS, ""])),
  output_schema: optional(OutputSchema),
  approvals: optional(Approvals),
};

/** The same as they are stored and shown. */
export const StoredLimits = {
  ...RunLimits,
  fallback_model_ids: v.exactOptional(FallbackModelIds),
  reasoning_level: v.exactOptional(ReasoningLevel),
  output_schema: v.exactOptional(StoredOutputSchema),
  approvals: v.exactOptional(Approvals),
};
export type StoredLimits = v.InferOutput<v.ObjectSchema<typeof StoredLimits, undefined>>;

/** Picks those that are set. */
export function pickLimits({
  timeout_minutes,
  max_steps,
  max_total_tokens,
  fallback_model_ids,
  reasoning_level,
  output_schema,
  approvals,
}: StoredLimits): StoredLimits {
  return {
    ...(timeout_minutes === undefined ? {} : { timeout_minutes }),
    ...(max_steps === undefined ? {} : { max_steps }),
    ...(max_total_tokens === undefined ? {} : { max_total_tokens }),
    ...(fallback_model_ids === undefined ? {} : { fallback_model_ids }),
    ...(reasoning_level === undefined ? {} : { reasoning_level }),
    ...(output_schema === undefined ? {} : { output_schema }),
    ...(approvals === undefined ? {} : { approvals }),
  };
}
