import type { ModelLimits } from "./model-limits.ts";

/** What a provider's adapter needs to know about the API of a request. */
export interface ProviderDialect {
  /** Path below the provider's base URL. */
  readonly upstreamPath: string;
  /** Creates the body of an error in the format of that API. */
  error(status: number, message: string, code?: string): unknown;
}

/** The body of a request to a model, with the members that adapters read. All others are passed on unchanged. */
export interface ProviderRequest {
  readonly model: string;
  readonly stream?: boolean | null | undefined;
  readonly [member: string]: unknown;
}

/** A request as the provider gets it: `model` is the provider's name of the model. */
export interface ProviderCall {
  readonly dialect: ProviderDialect;
  readonly request: ProviderRequest;
  /** Headers of the caller that are passed on. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** The key of the team or the run, in place of the deployment's. */
  readonly key?: string | undefined;
  /** The limits of the model that the deployment sets. */
  readonly limits?: ModelLimits;
}

/** Milliseconds. */
export interface ProviderTimeouts {
  /** Until a response begins. */
  readonly firstByteMs?: number | undefined;
  /** Until a response continues. */
  readonly idleMs?: number | undefined;
  /** Until a response has ended, with all retries. */
  readonly totalMs?: number | undefined;
}

/**
 * Sends a request to a provider and returns its response in the formats of the request's dialect. Throws if the provider cannot
 * be reached, and NotConfigured if the deployment lacks the key for it.
 */
export interface ModelProvider {
  (call: ProviderCall): Promise<Response>;
  /** Those that the provider has instead of the time-outs of the model gateway. A stream to the caller is kept open meanwhile. */
  readonly timeouts?: ProviderTimeouts;
  /** What the provider's server has said about the limits of a model, by the provider's name of it. */
  readonly limits?: (model: string) => ModelLimits;
  /** Redacts the deployment's key and headers from what the provider returned, whatever they look like. */
  readonly hide?: (text: string) => string;
  /** Notes the tokens of a call that succeeded, which may disprove a limit. */
  readonly noteTokens?: (model: string, tokens: number) => void;
}

/** A header of a provider's refusal: what the operator of the deployment can do about it. The run sees it, so it names no account. */
export const REMEDY_HEADER = "runyard-remedy";

/** The provider cannot be called as it is configured: its key does not exist, or its base URL redirects. */
export class NotConfigured extends Error {}
