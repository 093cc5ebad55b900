import { findBedrockRemedy } from "#shared/model-provider/bedrock-remedies.ts";
import { toBedrockBody } from "#shared/model-provider/bedrock-request.ts";
import {
  type ModelProvider,
  NotConfigured,
  type ProviderCall,
  type ProviderTimeouts,
  REMEDY_HEADER,
} from "#shared/model-provider/model-provider.ts";
import { toMessageStream } from "./bedrock/message-events.ts";
import { patientFetch, REDIRECTED } from "./patient-fetch.ts";
import { readText } from "./provider-response.ts";

/** The providers of a deployment by their names. */
export type ModelProviders = Readonly<Partial<Record<string, ModelProvider>>>;

export type Key = () => Promise<string | undefined>;

export interface ProviderOptions {
  /** Headers of each request, besides that with the key. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeouts?: ProviderTimeouts | undefined;
}

/** A server with Anthropic's API at `baseUrl`. Without a key, the headers authenticate. */
export const anthropic = (baseUrl: string, key: Key | undefined, options?: ProviderOptions): ModelProvider =>
  createHttpProvider(baseUrl, options, async (own) => toHeader("x-api-key", await chooseKey(own, key, options)));

/** A server with OpenAI's API at `baseUrl`. Without a key, the headers authenticate. */
export const openai = (baseUrl: string, key: Key | undefined, options?: ProviderOptions): ModelProvider =>
  createHttpProvider(baseUrl, options, async (own) => toBearer(await chooseKey(own, key, options)));

/** A response that is not streamed begins when it is complete. */
const WHOLE_RESPONSE_MS = 13 * 60_000;

/** Amazon Bedrock at `baseUrl`, with one of its API keys. Its streams are in a format of AWS, so the responses are requested whole. */
export function bedrockByKey(baseUrl: string, key: Key | undefined, options: ProviderOptions = {}): ModelProvider {
  const { note, hide } = createHiding();
  const send = async (call: ProviderCall): Promise<Response> => {
    const { model, stream } = call.request;
    const secret = toBearer(await chooseKey(call.key, key, options));
    const response = await patientFetch(`${baseUrl.replace(/\/$/, "")}/model/${encodeURIComponent(model)}/invoke`, {
      method: "POST",
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        ...note({ ...options.headers, ...secret }),
      },
      body: toBedrockBody(call),
      signal: call.signal,
    });
    if (!response.ok) return addRemedy(response);
    const text = await readText(response);
    const events = stream === true ? toMessageStream(text) : undefined;
    const type = events === undefined ? "application/json" : "text/event-stream";
    return new Response(events ?? text, { headers: { "content-type": type } });
  };
  return Object.assign(send, { hide, timeouts: { firstByteMs: WHOLE_RESPONSE_MS, ...options.timeouts } });
}

async function addRemedy(response: Response): Promise<Response> {
  const message = await readText(response);
  const [name = ""] = (response.headers.get("x-amzn-errortype") ?? "").split(":");
  const remedy = findBedrockRemedy({ name, message });
  const headers = new Headers(response.headers);
  if (remedy !== undefined) headers.set(REMEDY_HEADER, remedy);
  return new Response(message, { status: response.status, headers });
}

const toHeader = (name: string, value: string | undefined): Record<string, string> =>
  value === undefined ? {} : { [name]: value };

export const toBearer = (key: string | undefined): Record<string, string> =>
  toHeader("authorization", key === undefined ? undefined : `Bearer ${key}`);

/**
 * Returns the key of a call: that of its team or run, or the deployment's; undefined where the provider needs none.
 * @throws NotConfigured if the key does not exist, or headers authenticate, which would be sent together with the key of a team
 */
export async function chooseKey(
  own: string | undefined,
  key: Key | undefined,
  { headers }: ProviderOptions = {},
): Promise<string | undefined> {
  if (own === undefined) return key === undefined ? undefined : presentKey(key);
  if (key === undefined && headers !== undefined)
    throw new NotConfigured("the model's provider authenticates by headers of the deployment, and takes no other key");
  return own;
}

/** Shorter values of headers are no secrets, but parts of words. */
const MIN_SECRET_LENGTH = 8;
/** The most values that are hidden: a key that is replaced stays hidden, since its last call may still fail. */
const MAX_SECRETS = 50;

/** Hides the values of headers that were sent. */
export function createHiding() {
  const secrets = new Set<string>();
  return {
    /** Notes headers with a key before they are sent, and returns them. */
    note<H extends Readonly<Record<string, string>>>(headers: H): H {
      const values = Object.values(headers).flatMap((value) => [value, value.replace(/^\S+ /, "")]);
      for (const value of values) if (value.length >= MIN_SECRET_LENGTH) secrets.add(value);
      for (const oldest of [...secrets].slice(0, -MAX_SECRETS)) secrets.delete(oldest);
      return headers;
    },
    hide: (text: string): string => [...secrets].reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text),
  };
}

/** What a header can have as its value. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Returns the key.
 * @throws NotConfigured if there is none, or no header can have it: the error of a request with it would quote it, which is logged
 */
async function presentKey(key: Key): Promise<string> {
  const value = await key();
  if (value === undefined)
    throw new NotConfigured("the key of the model's provider is not at the place that the settings name");
  if (HEADER_VALUE.test(value)) return value;
  throw new NotConfigured("the key of the model's provider has a line break or a character that no header can have");
}

function createHttpProvider(
  baseUrl: string,
  { headers, timeouts }: ProviderOptions = {},
  secret: (own: string | undefined) => Promise<Readonly<Record<string, string>>>,
): ModelProvider {
  const { note, hide } = createHiding();
  const send = async (call: ProviderCall): Promise<Response> => {
    const url = `${baseUrl.replace(/\/$/, "")}${call.dialect.upstreamPath}`;
    const request = {
      method: "POST" as const,
      headers: {
        "anthropic-version": "2023-06-01",
        ...call.headers,
        "content-type": "application/json",
        ...note({ ...headers, ...(await secret(call.key)) }),
      },
      body: JSON.stringify(call.request),
      signal: call.signal,
    };
    // A redirect would send the key to another server. `fetch` has a time-out of its own, which may be shorter than this one.
    if (timeouts !== undefined) return patientFetch(url, request);
    return fetch(url, { ...request, redirect: "error" }).catch((error: unknown) => {
      const { cause } = error instanceof Error ? error : {};
      throw cause instanceof Error && cause.message === "unexpected redirect" ? new NotConfigured(REDIRECTED) : error;
    });
  };
  return Object.assign(send, { hide, ...(timeouts === undefined ? {} : { timeouts }) });
}
