import { compatibleServer } from "#shared/model-gateway/compatible-server.ts";
import { anthropic, type ModelProviders, openai } from "#shared/model-gateway/provider.ts";
import type { ModelProvider } from "#shared/model-provider/model-provider.ts";
import { type LocalProvider, localModels } from "./host/models.ts";

const ANTHROPIC = "https://api.anthropic.com";
const OPENAI = "https://api.openai.com/v1";
/** Google's servers with OpenAI's API. */
const GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai";

/**
 * Creates the model providers that RUNYARD_* variables and the file in the data directory configure. Keys of variables stay in this
 * process.
 */
export function modelProviders(environment: NodeJS.ProcessEnv, directory?: string): ModelProviders {
  const { anthropicKey, openaiKey, compatible, named } = localModels(environment, directory);
  const key = (value: string) => async () => value;
  return {
    ...Object.fromEntries(named.map((provider) => [provider.name, createProvider(provider)])),
    ...(anthropicKey !== undefined && { anthropic: anthropic(ANTHROPIC, key(anthropicKey)) }),
    ...(openaiKey !== undefined && { openai: openai(OPENAI, key(openaiKey)) }),
    ...(compatible !== undefined && {
      compatible: compatibleServer(compatible.baseUrl, {
        key: compatible.key === undefined ? undefined : key(compatible.key),
        timeouts: { firstByteMs: compatible.timeoutMs },
      }),
    }),
  };
}

function createProvider({ kind, base_url, readKey, headers, timeouts: limits }: LocalProvider): ModelProvider {
  const key = readKey === undefined ? undefined : async () => readKey();
  const timeouts = limits && {
    firstByteMs: toMs(limits.first_byte_seconds),
    idleMs: toMs(limits.idle_seconds),
    totalMs: toMs(limits.total_seconds),
  };
  const options = { headers, timeouts };
  if (kind === "anthropic") return anthropic(base_url ?? ANTHROPIC, key, options);
  if (kind === "openai") return openai(base_url ?? OPENAI, key, options);
  return compatibleServer(base_url ?? GOOGLE, { ...options, key });
}

const toMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1_000);
