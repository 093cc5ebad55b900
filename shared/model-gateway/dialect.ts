import * as v from "valibot";
import type { Provider } from "#shared/models/catalogue.ts";
import type { Filter } from "./request-filter.ts";
import type { Usage } from "./usage.ts";

/** The body of a request, as far as the gateway looks into it; the rest of it is passed on as it came. */
export const ModelRequest = v.looseObject({ model: v.string(), stream: v.optional(v.nullable(v.boolean())) });
export type ModelRequest = v.InferOutput<typeof ModelRequest>;

/** One provider's API as callers speak it: its shapes, and where in them the limit and the use of tokens stand. */
export interface Dialect {
  /** Behind the address of the gateway. */
  readonly path: string;
  /** Behind the address of a provider. */
  readonly upstreamPath: string;
  /** Whose models are spoken to in it; a name without a provider is looked for in this order. */
  readonly providers: readonly Provider[];
  /** Headers of a request that are passed on. */
  readonly passes: readonly string[];
  /** What of a request has a known price, for runs with a budget. */
  readonly filter: Filter;
  /** How much output the request asks for. Throws where that is not a whole number within bounds. */
  outputOf(request: ModelRequest): OutputAsked;
  /** The request with this limit, in the one member that the provider keeps to. */
  withOutputLimit(request: ModelRequest, tokens: number, provider: Provider): ModelRequest;
  /** The request as it is passed on, so that its answer tells of its use. */
  prepared(request: ModelRequest): ModelRequest;
  /** Body of an error; `code` is the service's own word for it, if it has one. */
  error(status: number, message: string, code?: string): unknown;
  /** An error as an event of a stream that has begun. */
  errorEvent(message: string): string;
  /** What an answer that was not streamed has used; nothing where it does not say. */
  usageOf(answer: unknown): Usage | undefined;
  /** Reads along with a streamed answer to the request. */
  meter(request: ModelRequest): Meter;
}

export interface OutputAsked {
  /** The most tokens of one answer; absent where the request leaves that to the model. */
  readonly limit?: number | undefined;
  /** Tokens below which the limit cannot be lowered without making the request invalid. */
  readonly least: number;
  /** How many answers it asks for, each of them up to the limit. */
  readonly answers: number;
}

/** Reads along with one streamed answer. */
export interface Meter {
  /** Takes in the data of one event; false where it is not for the caller, who did not ask for it. */
  see(data: string): boolean;
  /** What the answer says that it has used so far. */
  usage(): Usage | undefined;
  /** Bytes of what the model has said so far, for an estimate where the answer breaks off. */
  bytes(): number;
  /** True once the answer has come to its own end. */
  ended(): boolean;
  /** True once the answer has said all that it has used. */
  complete(): boolean;
}

/** The JSON in a text, or undefined where there is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Bytes of all texts in a part of an answer. */
export function textBytes(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + textBytes(part), 0);
}
