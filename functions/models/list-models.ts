import type * as v from "valibot";
import { endpoint } from "#shared/http/endpoint.ts";
import { DEFAULT_MODEL, MODELS } from "#shared/models/models.ts";
import { liveRuns } from "#shared/runs/live.ts";
import { ModelsResponse } from "#shared/wire/model.ts";

const models: v.InferOutput<typeof ModelsResponse> = { default_model_id: DEFAULT_MODEL, models: [...MODELS] };

/** GET /agent/models: the models that a run may name, and the default one. */
export const listModels = endpoint({
  request: {},
  reply: { 200: ModelsResponse },
  async run() {
    return { status: 200, body: models };
  },
});

export const handler = listModels.lambda(liveRuns);
