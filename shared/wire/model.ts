import * as v from "valibot";

/** A model that runs can use, unless it has a `disable_reason`. */
export const Model = v.object({
  id: v.string(),
  display_name: v.string(),
  provider: v.picklist(["OPENAI", "ANTHROPIC", "GOOGLE", "AMAZON", "LOCAL", "UNKNOWN"]),
  vision_supported: v.boolean(),
  description: v.exactOptional(v.string()),
  /** The default reasoning level, as the provider calls it. */
  reasoning_level: v.exactOptional(v.string()),
  cost: v.exactOptional(v.object({ input_per_million_usd: v.number(), output_per_million_usd: v.number() })),
  disable_reason: v.exactOptional(
    v.picklist(["PROVIDER_OUTAGE", "OUT_OF_REQUESTS", "ADMIN_DISABLED", "REQUIRES_UPGRADE"]),
  ),
});

export type Model = v.InferOutput<typeof Model>;

/** The models of the deployment. */
export const ModelsResponse = v.object({ default_model_id: v.string(), models: v.array(Model) });
export type ModelsResponse = v.InferOutput<typeof ModelsResponse>;
