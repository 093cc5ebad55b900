import Anthropic from "@anthropic-ai/sdk";
import type { Model } from "@strands-agents/sdk";
import { AnthropicModel } from "@strands-agents/sdk/models/anthropic";
import { OpenAIModel } from "@strands-agents/sdk/models/openai";
import OpenAI from "openai";
import { chooseApi } from "./choose-api.ts";
import type { OptionalMembers } from "./optional-members.ts";
import { createTransport, type ModelApi, type TransportLimits } from "./transport.ts";

export interface ModelOptions {
  /** An id of the models list. */
  readonly modelId: string;
  /** The API of the model. @default that of the provider that its id names */
  readonly api?: ModelApi | undefined;
  /** Base address of the model gateway. */
  readonly modelUrl: string;
  /** The run's key. */
  readonly key: string;
  readonly signal: AbortSignal;
  readonly limits?: TransportLimits;
  /** Members of requests that not all models accept. */
  readonly optional?: readonly OptionalMembers[];
  /** Receives the text of a response while it arrives. */
  readonly onText?: (text: string) => void;
  /** Receives the reasoning of a complete response, or an empty text. */
  readonly onReasoning?: (reasoning: string) => void;
  /** Receives what is left of the limits of the run, once that is little. */
  readonly onRemaining?: (remaining: string) => void;
}

/** The most tokens of one response. The gateway lowers it if the budget does not cover it. */
const MAX_RESPONSE_TOKENS = 32_000;
/** Assumed context window in tokens; every model of the list has at least this. */
const CONTEXT_TOKENS = 200_000;
/** Assumed context window of a compatible server until the gateway states it. Output limits of such models are set by the gateway. */
const COMPATIBLE_CONTEXT_TOKENS = 100_000;

/** Creates a model behind the gateway. Sets every option of the clients, so that none is read from the environment. */
export function createModel(options: ModelOptions): Model {
  const { modelId, api = chooseApi(modelId), modelUrl, key, signal, limits = {}, ...text } = options;
  const onWindow = (contextWindowLimit: number) => model.updateConfig({ contextWindowLimit });
  const fetch = createTransport({ api, key, signal, limits, onWindow, ...text });
  const model = createClient(modelId, modelUrl, { api, key, fetch });
  return model;
}

function createClient(
  modelId: string,
  modelUrl: string,
  { api, key, fetch }: { readonly api: ModelApi; readonly key: string; readonly fetch: typeof globalThis.fetch },
): Model {
  const common = { apiKey: key, fetch, maxRetries: 0, timeout: 2 ** 31 - 1, logLevel: "off" } as const;
  if (api === "messages") {
    const baseURL = `${modelUrl}/anthropic`;
    return new AnthropicModel({
      modelId,
      maxTokens: MAX_RESPONSE_TOKENS,
      contextWindowLimit: CONTEXT_TOKENS,
      cacheConfig: { strategy: "auto" },
      client: new Anthropic({ ...common, baseURL, authToken: null, webhookKey: null }),
    });
  }
  const nobody = { organization: null, project: null, adminAPIKey: null, webhookSecret: null };
  const client = new OpenAI({ ...common, ...nobody, baseURL: `${modelUrl}/openai/v1` });
  return api === "responses"
    ? new OpenAIModel({ api, modelId, maxTokens: MAX_RESPONSE_TOKENS, contextWindowLimit: CONTEXT_TOKENS, client })
    : new OpenAIModel({ api, modelId, contextWindowLimit: COMPATIBLE_CONTEXT_TOKENS, client });
}
