import * as v from "valibot";

/** A model that a run may name, unless `disable_reason` says why not. */
export const Model = v.object({
  id: v.string(),
  display_name: v.string(),
  provider: v.picklist(["OPENAI", "ANTHROPIC", "GOOGLE", "AMAZON", "LOCAL", "UNKNOWN"]),
  vision_supported: v.boolean(),
  description: v.exactOptional(v.string()),
  /** How much the model thinks unless it is told otherwise, in its provider's words. */
  reasoning_level: v.exactOptional(v.string()),
  cost: v.exactOptional(v.object({ input_per_million_usd: v.number(), output_per_million_usd: v.number() })),
  disable_reason: v.exactOptional(
    v.picklist(["PROVIDER_OUTAGE", "OUT_OF_REQUESTS", "ADMIN_DISABLED", "REQUIRES_UPGRADE"]),
  ),
});

export type Model = v.InferOutput<typeof Model>;

export const ModelsResponse = v.object({ default_model_id: v.string(), models: v.array(Model) });
export type ModelsResponse = v.InferOutput<typeof ModelsResponse>;
