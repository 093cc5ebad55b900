import * as v from "valibot";
import { Approvals } from "../executions/approval.ts";
import { OutputSchema, StoredOutputSchema } from "../output/output-schema.ts";
import { Id, optional } from "../primitives.ts";
import { ClearableCommitAuthor, CommitAuthor } from "../runs/commit-author.ts";

const wholeUpTo = (most: number, least = 1) => v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));

const MAX = { timeout_minutes: 10_080, max_steps: 10_000, max_total_tokens: 1_000_000_000 };

/** The limits of a run besides its budget. A run that reaches one ends FAILED, and a follow-up continues it with a fresh allowance. */
export const RunLimits = {
  /**
   * Minutes from the run's first start after which it ends FAILED with `budget_exceeded`, 1 to 10,080. A follow-up
   * starts them again. Not limited by default.
   */
  timeout_minutes: v.exactOptional(wholeUpTo(MAX.timeout_minutes)),
  /**
   * Model responses of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 10,000. A
   * follow-up starts the count again. Not limited by default.
   */
  max_steps: v.exactOptional(wholeUpTo(MAX.max_steps)),
  /**
   * Tokens of input and output of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1
   * to 1,000,000,000. A follow-up starts the count again. Not limited by default.
   */
  max_total_tokens: v.exactOptional(wholeUpTo(MAX.max_total_tokens)),
};

/** Models that the agent continues with while a provider is down. */
const FallbackModelIds = v.pipe(v.array(Id), v.maxLength(5));

export const REASONING_LEVELS = ["none", "minimal", "low", "medium", "high", "max"] as const;
export type ReasoningLevel = (typeof REASONING_LEVELS)[number];
/** How much a model reasons before it responds. */
export const ReasoningLevel = v.picklist(REASONING_LEVELS);

/** The models, reasoning, response and approvals of an agent. */
export const AgentSettings = {
  /** Models that the agent continues with, in this order, while a provider is down. */
  fallback_model_ids: v.exactOptional(FallbackModelIds),
  /**
   * How much the model reasons before it responds. A model without the level gets the nearest one that it has, and
   * one that does not reason gets none. Defaults to the model's own.
   */
  reasoning_level: v.exactOptional(ReasoningLevel),
  /**
   * The JSON Schema, of at most 64 KiB, that the agent's final message has to fit. An agent whose message does not
   * is asked again, up to twice; then the run ends FAILED with `invalid_request`. GET /agent/runs/{runId}/response
   * shows the value in `structured`.
   */
  output_schema: v.exactOptional(OutputSchema),
  /**
   * Calls that wait until a person approves them, at most 20. A run waits as `BLOCKED` with `waiting_for`
   * `approval`. The rules of a parent hold for its children.
   */
  approvals: v.exactOptional(Approvals),
  /** The author and committer of commits that set none, such as `Build Bot <bot@example.com>`. */
  commit_author: v.exactOptional(CommitAuthor),
};

/** The limits, models, reasoning, responses, approvals and author of an identity's or environment's runs: 0, `[]`, `{}` and `""` clear them. */
export const LimitDefaults = {
  /** The `timeout_minutes` of runs that set none, up to 10,080. 0 clears it. */
  timeout_minutes: optional(wholeUpTo(MAX.timeout_minutes, 0)),
  /** The `max_steps` of runs that set none, up to 10,000. 0 clears it. */
  max_steps: optional(wholeUpTo(MAX.max_steps, 0)),
  /** The `max_total_tokens` of runs that set none, up to 1,000,000,000. 0 clears it. */
  max_total_tokens: optional(wholeUpTo(MAX.max_total_tokens, 0)),
  /** The `fallback_model_ids` of runs that set none. `[]` clears them. */
  fallback_model_ids: optional(FallbackModelIds),
  /** The `reasoning_level` of runs that set none. `""` clears it. */
  reasoning_level: optional(v.picklist([...REASONING_LEVELS, ""])),
  /** The `output_schema` of runs that set none. `{}` clears it. */
  output_schema: optional(OutputSchema),
  /** The `approvals` of runs that set none. `[]` clears them. */
  approvals: optional(Approvals),
  /** The `commit_author` of runs that set none. `""` clears it. */
  commit_author: optional(ClearableCommitAuthor),
};

/** The limits and settings of an identity's or environment's runs, as they are stored and shown. */
export const StoredLimits = { ...RunLimits, ...AgentSettings, output_schema: v.exactOptional(StoredOutputSchema) };
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
  commit_author,
}: StoredLimits): StoredLimits {
  return {
    ...(timeout_minutes === undefined ? {} : { timeout_minutes }),
    ...(max_steps === undefined ? {} : { max_steps }),
    ...(max_total_tokens === undefined ? {} : { max_total_tokens }),
    ...(fallback_model_ids === undefined ? {} : { fallback_model_ids }),
    ...(reasoning_level === undefined ? {} : { reasoning_level }),
    ...(output_schema === undefined ? {} : { output_schema }),
    ...(approvals === undefined ? {} : { approvals }),
    ...(commit_author === undefined ? {} : { commit_author }),
  };
}
