import type { Provider } from "#shared/models/catalogue.ts";
import type { ModelRequest } from "./dialect.ts";
import type { FilterNotes } from "./request-filter.ts";
import { NOTHING_USED, type Usage } from "./usage.ts";

/** Maximum tokens of an image: the providers scale larger images down. The behavior of other servers is unknown. */
const IMAGE_TOKENS: Readonly<Record<Provider, number>> = {
  anthropic: 5_000,
  bedrock: 5_000,
  openai: 25_000,
  compatible: 50_000,
};
/** Tokens that a provider adds to a request, such as the text that explains the use of tools to the model. */
const OVERHEAD_TOKENS = 1_000;
/** Maximum tokens of a tool that the provider defines. */
const PROVIDER_TOOL_TOKENS = 2_000;
/** Bytes of a character outside ASCII where JSON is written with escapes. */
const ESCAPE_BYTES = 6;

/**
 * The most input that a provider can bill for a filtered request. A token has at least one byte, so the bytes of the JSON bound
 * all of its text. All of the input may be written to the cache if the request says so.
 */
export function boundInput(request: ModelRequest, provider: Provider, notes: FilterNotes): Usage {
  const json = JSON.stringify(request);
  const tokens =
    Buffer.byteLength(json) -
    notes.imageCharacters +
    escapedBytes(JSON.stringify(request["tools"] ?? [])) +
    notes.images * IMAGE_TOKENS[provider] +
    notes.providerTools * PROVIDER_TOOL_TOKENS +
    OVERHEAD_TOKENS;
  return json.includes('"cache_control":')
    ? { ...NOTHING_USED, cacheWrite: tokens }
    : { ...NOTHING_USED, input: tokens };
}

/** The additional bytes of a text in ASCII with escapes, as some providers write the definitions of tools. */
const escapedBytes = (json: string): number => (json.length - json.replace(/[^\0-\x7f]/g, "").length) * ESCAPE_BYTES;
