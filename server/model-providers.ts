import { anthropic, type ModelProviders, openaiCompatible } from "#shared/model-gateway/provider.ts";
import { localModels } from "./host/models.ts";

const ANTHROPIC = "https://api.anthropic.com";
const OPENAI = "https://api.openai.com/v1";

/** Creates the model providers that RUNYARD_* variables configure. Their keys stay in this process. */
export function modelProviders(environment: NodeJS.ProcessEnv): ModelProviders {
  const { anthropicKey, openaiKey, compatible } = localModels(environment);
  const key = (value: string) => async () => value;
  return {
    ...(anthropicKey !== undefined && { anthropic: anthropic(ANTHROPIC, key(anthropicKey)) }),
    ...(openaiKey !== undefined && { openai: openaiCompatible(OPENAI, key(openaiKey)) }),
    ...(compatible !== undefined && {
      compatible: openaiCompatible(compatible.baseUrl, compatible.key === undefined ? undefined : key(compatible.key)),
    }),
  };
}
