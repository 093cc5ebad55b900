import { type ModelProvider, NotConfigured, type ProviderCall } from "#shared/model-provider/model-provider.ts";
import type { Provider } from "#shared/models/catalogue.ts";

export type ModelProviders = Readonly<Partial<Record<Provider, ModelProvider>>>;

export type Key = () => Promise<string | undefined>;

/** Anthropic, at `baseUrl`. */
export const anthropic =
  (baseUrl: string, key: Key): ModelProvider =>
  async (call) =>
    send(baseUrl, call, { "x-api-key": await presentKey(key) });

/** OpenAI, at `baseUrl`. */
export const openai =
  (baseUrl: string, key: Key): ModelProvider =>
  async (call) =>
    send(baseUrl, call, { authorization: `Bearer ${await presentKey(key)}` });

/** Returns the key. @throws NotConfigured if there is none */
export async function presentKey(key: Key): Promise<string> {
  const value = await key();
  if (value === undefined) throw new NotConfigured("the key of the model's provider is not where the settings say");
  return value;
}

const send = (baseUrl: string, call: ProviderCall, secret: Readonly<Record<string, string>>): Promise<Response> =>
  fetch(`${baseUrl.replace(/\/$/, "")}${call.dialect.upstreamPath}`, {
    method: "POST",
    headers: { "anthropic-version": "2023-06-01", ...call.headers, "content-type": "application/json", ...secret },
    body: JSON.stringify(call.request),
    signal: call.signal,
    // A redirect would send the key to another server.
    redirect: "error",
  });
