import { base64Source } from "./image-data.ts";
import {
  allowValues,
  anything,
  byType,
  choice,
  clientTools,
  type Filter,
  isObject,
  list,
  members,
  providerDefined,
  refused,
  textOr,
} from "./request-filter.ts";

/** A lifetime of an hour costs more than one of five minutes. */
const cacheControl = members({ type: anything, ttl: allowValues("5m") });
const common = { type: anything, cache_control: textOr(cacheControl) } as const;

const text = members({ ...common, text: anything });
const image = members({ ...common, source: base64Source });
const texts = textOr(list(byType({ text })));
const document = members({
  ...common,
  title: anything,
  context: anything,
  source: byType({
    text: members({ type: anything, media_type: allowValues("text/plain"), data: anything }),
    content: members({ type: anything, content: textOr(list(byType({ text, image }))) }),
    base64: refused("a PDF document has no known size and needs a run without a budget: send its text or images"),
    url: refused("must be data and not a URL where the run has a budget"),
    file: refused("must be data and not a file of the provider where the run has a budget"),
  }),
});
const searchResult = members({ ...common, source: anything, title: anything, content: texts });

const block = byType({
  text,
  image,
  document,
  search_result: searchResult,
  thinking: members({ type: anything, thinking: anything, signature: anything }),
  redacted_thinking: members({ type: anything, data: anything }),
  tool_use: members({ ...common, id: anything, name: anything, input: anything }),
  tool_result: members({
    ...common,
    tool_use_id: anything,
    is_error: anything,
    content: textOr(list(byType({ text, image, document, search_result: searchResult }))),
  }),
  container_upload: refused("must be data and not a file of the provider where the run has a budget"),
});

const tool = members({
  ...common,
  name: anything,
  description: anything,
  input_schema: anything,
  strict: anything,
  input_examples: anything,
  eager_input_streaming: anything,
});

/** Tools that Anthropic defines and the caller executes. */
const DEFINED_BY_ANTHROPIC = /^(?:bash|text_editor|computer|memory)_\d{8}$/;
const definedTool = providerDefined(
  members({
    ...common,
    name: anything,
    max_characters: anything,
    display_width_px: anything,
    display_height_px: anything,
    display_number: anything,
    enable_zoom: anything,
  }),
);

const toolFilter = (type: unknown): Filter | undefined => {
  if (type === undefined || type === null || type === "custom") return tool;
  return typeof type === "string" && DEFINED_BY_ANTHROPIC.test(type) ? definedTool : undefined;
};

/**
 * Edits that only shorten the conversation. A compaction is a separate response, to which the limits of the request do not apply.
 */
const clearingEdit: Filter = (value) =>
  isObject(value) && typeof value["type"] === "string" && value["type"].startsWith("clear_") ? value : undefined;

/** Keeps the parts of a request to Anthropic's Messages API that have a known price. */
export const messagesFilter = members({
  model: anything,
  max_tokens: anything,
  stream: anything,
  system: texts,
  messages: list(members({ role: anything, content: textOr(list(block)) })),
  tools: textOr(clientTools(toolFilter)),
  tool_choice: choice,
  thinking: members({ type: anything, budget_tokens: anything, display: anything }),
  output_config: members({ effort: anything, format: anything }),
  output_format: anything,
  context_management: textOr(members({ edits: list(clearingEdit) })),
  cache_control: textOr(cacheControl),
  metadata: anything,
  stop_sequences: anything,
  temperature: anything,
  top_p: anything,
  top_k: anything,
  service_tier: anything,
  inference_geo: anything,
});

/** Features that do not change the price of a request whose other members are filtered. */
const BETAS = new Set([
  "adaptive-thinking-2026-01-28",
  "claude-code-20250219",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "context-management-2025-06-27",
  "effort-2025-11-24",
  "fine-grained-tool-streaming-2025-05-14",
  "interleaved-thinking-2025-05-14",
  "output-128k-2025-02-19",
  "prompt-caching-2024-07-31",
  "redact-thinking-2026-02-12",
  "structured-outputs-2025-11-13",
  "structured-outputs-2025-12-15",
  "token-efficient-tools-2025-02-19",
  "tool-examples-2025-10-29",
]);

export const isPricedBeta = (name: string): boolean => BETAS.has(name);
