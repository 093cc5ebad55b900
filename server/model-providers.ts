import { compatibleServer } from "#shared/model-gateway/compatible-server.ts";
import { anthropic, type ModelProviders, openai } from "#shared/model-gateway/provider.ts";
import { localModels } from "./host/models.ts";

const ANTHROPIC = "https://api.anthropic.com";
const OPENAI = "https://api.openai.com/v1";

/** Creates the model providers that RUNYARD_* variables configure. Their keys stay in this process. */
export function modelProviders(environment: NodeJS.ProcessEnv): ModelProviders {
  const { anthropicKey, openaiKey, compatible } = localModels(environment);
  const key = (value: string) => async () => value;
  return {
    ...(anthropicKey !== undefined && { anthropic: anthropic(ANTHROPIC, key(anthropicKey)) }),
    ...(openaiKey !== undefined && { openai: openai(OPENAI, key(openaiKey)) }),
    ...(compatible !== undefined && {
      compatible: compatibleServer(compatible.baseUrl, {
        key: compatible.key === undefined ? undefined : key(compatible.key),
        timeoutMs: compatible.timeoutMs,
      }),
    }),
  };
}
