import { readOutputRequest } from "../engine/output-request.ts";
import { isMembers, type Members, toList, toText } from "./dialects/members.ts";
import type { findReasoning } from "./dialects/reasoning.ts";

/** The APIs of the model gateway. */
export type ModelApi = Parameters<typeof findReasoning>[0];

/** Members of requests that not all models accept, which only the refusal of a server shows. */
export interface OptionalMembers {
  /** True if it adds nothing, and removes something from requests after a refusal. */
  readonly removes?: true;
  /** Adds the members to a request; returns the same request if there are none. */
  add(api: ModelApi, body: Members): Members;
  /** Whether the response refuses these members. The model's later requests have none. */
  isRefused(body: Members, status: number, text: string): boolean;
  /** Converts the response to what is expected for the request that `add` was called with. */
  convert?(body: Members, whole: unknown): unknown;
}

type IsRefusal = (status: number, text: string) => boolean;

export const createRefusalTest =
  (names: RegExp, statuses: readonly number[] = [400, 422]): IsRefusal =>
  (status, text) =>
    statuses.includes(status) && names.test(text);

/** How servers name the members of a structured output in their refusals. */
export const isFormatRefusal = createRefusalTest(
  /response_format|json_?schema|output_config\.format|text\.format|structured output|grammar|\bschema\b/i,
);
const isCacheKeyRefusal = createRefusalTest(/prompt_cache_key/i);

/** Remembers the models whose servers have refused something. */
export function createRefusals(isRefusal: IsRefusal) {
  const models = new Set<string>();
  const modelOf = (body: Members) => toText(body["model"]);
  return {
    has: (body: Members): boolean => models.has(modelOf(body)),
    /** Whether the response is the first refusal of its model. */
    add(body: Members, status: number, text: string): boolean {
      if (models.has(modelOf(body)) || !isRefusal(status, text)) return false;
      models.add(modelOf(body));
      return true;
    },
  };
}

/** Creates members that are left out for a model once its server has refused them. */
export function createOptional(isRefusal: IsRefusal, add: OptionalMembers["add"]): OptionalMembers {
  const refusals = createRefusals(isRefusal);
  return { add: (api, body) => (refusals.has(body) ? body : add(api, body)), isRefused: refusals.add };
}

/**
 * Sends the output schema of a run as the structured output of the API. OpenAI's Responses API takes it together with tools. Others apply it
 * to every response, which then calls no tool, so they get it only when the agent is asked again for nothing but the JSON. The schema is not
 * `strict`, which few schemas are; the response is checked in any case.
 * @see https://developers.openai.com/api/docs/guides/structured-outputs
 * @see https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
export const createStructuredOutput = (schema: object): OptionalMembers =>
  createOptional(isFormatRefusal, (api, body) => {
    if (api === "responses") {
      const format = { type: "json_schema", name: "response", schema, strict: false };
      return { ...body, text: { ...toMembers(body["text"]), format } };
    }
    if (readOutputRequest(readLastText(body)) === 0) return body;
    if (api === "messages") {
      return {
        ...body,
        output_config: { ...toMembers(body["output_config"]), format: { type: "json_schema", schema } },
      };
    }
    // Servers that constrain the response by a grammar refuse it together with tools.
    const { tools: _, tool_choice: __, parallel_tool_calls: ___, ...rest } = body;
    return {
      ...rest,
      response_format: { type: "json_schema", json_schema: { name: "response", schema, strict: false } },
    };
  });

/**
 * Sends the calls of one run to where their common prefix is cached. Anthropic's models have markers in the request instead.
 * @see https://developers.openai.com/api/docs/guides/prompt-caching
 */
export const createCacheKey = (key: string): OptionalMembers =>
  createOptional(isCacheKeyRefusal, (api, body) => (api === "responses" ? { ...body, prompt_cache_key: key } : body));

const toMembers = (value: unknown): Members => (isMembers(value) ? value : {});

/** The text of the last message, if it is one of the user. */
function readLastText(body: Members): string {
  const last = toList(body["messages"]).at(-1);
  if (!isMembers(last) || last["role"] !== "user") return "";
  const { content } = last;
  if (typeof content === "string") return content;
  const [first] = toList(content).filter(isMembers);
  return toText(first?.["text"]);
}
