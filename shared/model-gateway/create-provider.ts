import type { ModelProvider } from "#shared/model-provider/model-provider.ts";
import type { DeployedProvider } from "#shared/wire/providers/provider-settings.ts";
import { compatibleServer } from "./compatible-server.ts";
import { anthropic, bedrockByKey, type Key, openai } from "./provider.ts";

const ANTHROPIC_URL = "https://api.anthropic.com";
const OPENAI_URL = "https://api.openai.com/v1";
/** Google's servers with OpenAI's API. */
const GOOGLE_URL = "https://generativelanguage.googleapis.com/v1beta/openai";

const BEDROCK_URL = "https://bedrock-runtime.us-east-1.amazonaws.com";

/** Creates the provider that settings describe, by the API of its kind. */
export function createProvider(
  { kind, base_url, headers, timeouts: limits }: Omit<DeployedProvider, "name" | "models" | "key">,
  key: Key | undefined,
): ModelProvider {
  const timeouts = limits && {
    firstByteMs: toMs(limits.first_byte_seconds),
    idleMs: toMs(limits.idle_seconds),
    totalMs: toMs(limits.total_seconds),
  };
  const options = { headers, timeouts };
  if (kind === "anthropic") return anthropic(base_url ?? ANTHROPIC_URL, key, options);
  if (kind === "openai") return openai(base_url ?? OPENAI_URL, key, options);
  if (kind === "bedrock") return bedrockByKey(base_url ?? BEDROCK_URL, key, options);
  return compatibleServer(base_url ?? GOOGLE_URL, { ...options, key });
}

const toMs = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : seconds * 1_000);
