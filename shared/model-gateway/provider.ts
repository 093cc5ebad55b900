import type { Provider } from "#shared/models/catalogue.ts";
import type { Dialect, ModelRequest } from "./dialect.ts";

/** A request as a provider gets it: `model` is the provider's own name for the model. */
export interface ProviderCall {
  readonly dialect: Dialect;
  readonly request: ModelRequest;
  /** Headers of the caller that are passed on. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/**
 * Sends a request to a provider and answers as that one does, in the shapes of the request's dialect. Throws where the provider
 * cannot be reached, and NotConfigured where the deployment lacks the key for it.
 */
export type ModelProvider = (call: ProviderCall) => Promise<Response>;
export type ModelProviders = Readonly<Partial<Record<Provider, ModelProvider>>>;

/** The provider's key is not where the settings say that it is. */
export class NotConfigured extends Error {}

type Key = () => Promise<string | undefined>;

/** Anthropic, at `baseUrl`. */
export const anthropic =
  (baseUrl: string, key: Key): ModelProvider =>
  async (call) =>
    send(baseUrl, call, { "x-api-key": await present(key) });

/** Any server that speaks the APIs of OpenAI, at `baseUrl`, which for most ends in /v1. Without a key none is sent. */
export const openaiCompatible =
  (baseUrl: string, key?: Key): ModelProvider =>
  async (call) =>
    send(baseUrl, call, key === undefined ? {} : { authorization: `Bearer ${await present(key)}` });

async function present(key: Key): Promise<string> {
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
    // A redirect would take the key somewhere else.
    redirect: "error",
  });
