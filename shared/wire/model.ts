import * as v from "valibot";

const Price = v.pipe(v.number(), v.minValue(0));
const prices = {
  /** US dollars per million input tokens. */
  input_per_million_usd: Price,
  /** US dollars per million output tokens. */
  output_per_million_usd: Price,
  /** US dollars per million input tokens that the provider reads from its cache. Absent if the default of its API applies. */
  cache_read_per_million_usd: v.exactOptional(Price),
  /** US dollars per million input tokens that the provider writes to its cache. Absent if the default of its API applies. */
  cache_write_per_million_usd: v.exactOptional(Price),
};

/** Other prices for calls with more input. */
export const CostStep = v.object({
  /** The number of input tokens, cached ones included, above which these prices apply. */
  above_input_tokens: v.pipe(v.number(), v.integer(), v.minValue(1)),
  ...prices,
});

/** The price of a model. */
export const ModelCost = v.object({
  ...prices,
  /** Other prices for calls with more input. The last step that the call exceeds applies to all of its tokens. */
  steps: v.exactOptional(v.array(CostStep)),
});
export type ModelCost = v.InferOutput<typeof ModelCost>;

/** A model that runs can use, unless it has a `disable_reason`. */
export const Model = v.object({
  /** The model's id, the value for `model_id` of a configuration. */
  id: v.string(),
  /** The model's name. */
  display_name: v.string(),
  /** The provider of the model. */
  provider: v.picklist(["OPENAI", "ANTHROPIC", "GOOGLE", "AMAZON", "LOCAL", "UNKNOWN"]),
  /** Whether the model accepts images. */
  vision_supported: v.boolean(),
  /** A description of the model. */
  description: v.exactOptional(v.string()),
  /** The default reasoning level, as the provider calls it. */
  reasoning_level: v.exactOptional(v.string()),
  /** The price of the model. Absent if unknown. */
  cost: v.exactOptional(ModelCost),
  /** Why the model cannot be used at the moment. Absent if it can. */
  disable_reason: v.exactOptional(
    v.picklist(["PROVIDER_OUTAGE", "OUT_OF_REQUESTS", "ADMIN_DISABLED", "REQUIRES_UPGRADE"]),
  ),
});

export type Model = v.InferOutput<typeof Model>;

/** The models of the deployment. */
export const ModelsResponse = v.object({
  /** The model of runs that set none. */
  default_model_id: v.string(),
  /** The models of the deployment. */
  models: v.array(Model),
});
export type ModelsResponse = v.InferOutput<typeof ModelsResponse>;
