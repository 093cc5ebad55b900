/** What a provider's adapter needs of the API that a request is written in. */
export interface ProviderDialect {
  /** Path below the provider's base URL. */
  readonly upstreamPath: string;
  /** Body of an error in the shape of that API. */
  error(status: number, message: string, code?: string): unknown;
}

/** Body of a request to a model: the members that adapters read; all others are passed on as they are. */
export interface ProviderRequest {
  readonly model: string;
  readonly stream?: boolean | null | undefined;
  readonly [member: string]: unknown;
}

/** A request as a provider gets it: `model` is the provider's own name for the model. */
export interface ProviderCall {
  readonly dialect: ProviderDialect;
  readonly request: ProviderRequest;
  /** Headers of the caller that are passed on. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/**
 * Sends a request to a provider and answers as that one does, in the shapes of the request's dialect. Throws where the provider
 * cannot be reached, and NotConfigured where the deployment lacks the key for it.
 */
export type ModelProvider = (call: ProviderCall) => Promise<Response>;

/** The provider's key is not where the settings say that it is. */
export class NotConfigured extends Error {}
