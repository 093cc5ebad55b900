import { endpoint } from "#shared/http/endpoint.ts";
import { defaultModel, models } from "#shared/models/models.ts";
import { findDefaultTeam } from "#shared/principals/find-default-team.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { ModelsResponse } from "#shared/wire/model.ts";

/**
 * GET /agent/models: lists the available models and the default model. `default_model_id` is the model of runs that set
 * none: the team's setting, or else the deployment's default. A model with a `disable_reason` cannot be used at the
 * moment.
 */
export const listModels = endpoint({
  request: {},
  reply: { 200: ModelsResponse },
  async run({ principal }, { table }: RunPorts) {
    const team = await findDefaultTeam(principal, table);
    const body: ModelsResponse = { default_model_id: team?.default_model_id ?? defaultModel(), models: [...models()] };
    return { status: 200, body };
  },
});
