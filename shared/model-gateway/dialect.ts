import * as v from "valibot";
import type { Provider } from "#shared/models/catalogue.ts";
import type { Filter } from "./request-filter.ts";
import type { Usage } from "./usage.ts";

/** The part of a request body that the gateway reads; it passes on the rest unchanged. */
export const ModelRequest = v.looseObject({ model: v.string(), stream: v.optional(v.nullable(v.boolean())) });
export type ModelRequest = v.InferOutput<typeof ModelRequest>;

/** An API of a provider: its formats, and the members with the token limit and the token usage. */
export interface Dialect {
  /** Path below the gateway's base URL. */
  readonly path: string;
  /** Path below a provider's base URL. */
  readonly upstreamPath: string;
  /** Providers with this API. A model without a provider is looked up in this order. */
  readonly providers: readonly Provider[];
  /** Headers of a request that are passed on. */
  readonly passes: readonly string[];
  /** Keeps the parts of a request that have a known price, for runs with a budget. */
  readonly filter: Filter;
  /** Reads the requested output. Throws if it is not a whole number within bounds. */
  readOutputLimits(request: ModelRequest): OutputAsked;
  /** Sets the output limit in the member that the provider respects. */
  withOutputLimit(request: ModelRequest, tokens: number, provider: Provider): ModelRequest;
  /** Changes the request so that its response contains the usage. */
  prepared(request: ModelRequest): ModelRequest;
  /** Creates the body of an error; `code` is the error code of the service, if any. */
  error(status: number, message: string, code?: string): unknown;
  /** Formats an error as an event of a stream that has begun. @default 502 */
  errorEvent(message: string, status?: number, code?: string): string;
  /** Reads the usage of a response that was not streamed; undefined if it has none. */
  readUsage(response: unknown): Usage | undefined;
  /** Creates the meter of a streamed response to the request. */
  meter(request: ModelRequest): Meter;
}

export interface OutputAsked {
  /** The maximum tokens of one response; absent if the request sets none. */
  readonly limit?: number | undefined;
  /** Tokens below which the limit cannot be lowered without making the request invalid. */
  readonly least: number;
  /** The number of requested responses, each with the limit. */
  readonly choices: number;
}

/** Measures a streamed response. */
export interface Meter {
  /** Processes the data of one event. Returns false if the caller did not request it. */
  see(data: string): boolean;
  /** The reported usage so far. */
  usage(): Usage | undefined;
  /** Bytes of output so far, for an estimate if the response is interrupted. */
  bytes(): number;
  /** True once the response is complete. */
  ended(): boolean;
  /** True once the reported usage is complete. */
  complete(): boolean;
}

/** The code of an error that says that the conversation exceeds the model's context window. */
export const CONTEXT_OVERFLOW = "context_length_exceeded";

/** Parses JSON; undefined if the text is not valid. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Counts the bytes of all texts in a part of a response. */
export function textBytes(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + textBytes(part), 0);
}
