import { compatibleServer } from "#shared/model-gateway/compatible-server.ts";
import { createProvider } from "#shared/model-gateway/create-provider.ts";
import type { ModelProviders } from "#shared/model-gateway/provider.ts";
import { localModels } from "./host/models.ts";

/**
 * Creates the model providers that RUNYARD_* variables and the file in the data directory configure. Keys of variables stay in this
 * process.
 */
export function modelProviders(environment: NodeJS.ProcessEnv, directory?: string): ModelProviders {
  const { anthropicKey, openaiKey, compatible, named } = localModels(environment, directory);
  const key = (value: string) => async () => value;
  return {
    ...Object.fromEntries(
      named.map((provider) => [
        provider.name,
        createProvider(provider, provider.readKey && (async () => provider.readKey?.())),
      ]),
    ),
    ...(anthropicKey !== undefined && { anthropic: createProvider({ kind: "anthropic" }, key(anthropicKey)) }),
    ...(openaiKey !== undefined && { openai: createProvider({ kind: "openai" }, key(openaiKey)) }),
    ...(compatible !== undefined && {
      compatible: compatibleServer(compatible.baseUrl, {
        key: compatible.key === undefined ? undefined : key(compatible.key),
        timeouts: { firstByteMs: compatible.timeoutMs },
      }),
    }),
  };
}
