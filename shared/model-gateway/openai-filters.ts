import { imageDataUrl } from "./image-data.ts";
import {
  anything,
  byType,
  choice,
  clientTools,
  type Filter,
  isObject,
  list,
  members,
  noteDropped,
  providerDefined,
  refused,
  textOr,
} from "./request-filter.ts";

const FILE = "must be text or an image where the run has a budget: the size of a file is not known here";
const AUDIO = "audio has a price of its own and needs a run without a budget";
const STORED = "refers to what the provider has stored and needs a run without a budget: send the whole input instead";

/** Settings of both APIs that do not change the price of a token. */
const settings = {
  model: anything,
  stream: anything,
  stream_options: textOr(members({ include_usage: anything, include_obfuscation: anything })),
  temperature: anything,
  top_p: anything,
  top_logprobs: anything,
  tool_choice: choice,
  parallel_tool_calls: anything,
  metadata: anything,
  store: anything,
  user: anything,
  safety_identifier: anything,
  prompt_cache_key: anything,
  service_tier: anything,
} as const;

const textParts = {
  text: members({ type: anything, text: anything }),
  refusal: members({ type: anything, refusal: anything }),
} as const;
const chatPart = byType({
  ...textParts,
  image_url: members({ type: anything, image_url: members({ url: imageDataUrl, detail: anything }) }),
  input_audio: refused(AUDIO),
  file: refused(FILE),
});

/** Mistral's models return their reasoning as a part of the content. */
const assistantPart = byType({ ...textParts, thinking: members({ type: anything, thinking: anything }) });

const chatTools: Readonly<Record<string, Filter>> = {
  function: members({ type: anything, function: anything }),
  custom: members({ type: anything, custom: anything }),
};

/** Members of a message whose content the provider has stored or bills apart. */
const REFERENCES = new Set(["audio", "annotations", "cache_control", "file", "file_id", "file_url", "image_url"]);

/** Keeps what a provider has returned within a message, such as reasoning and signatures, which is billed as its text. */
const returned: Filter = (value, path, notes) => {
  if (Array.isArray(value)) return value.map((item, index) => returned(item, `${path}[${index}]`, notes));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (!REFERENCES.has(name)) return [[name, returned(member, `${path}.${name}`, notes)]];
      noteDropped(notes, `${path}.${name}`);
      return [];
    }),
  );
};

const chatMessage = {
  role: anything,
  content: textOr(list(chatPart)),
  name: anything,
  tool_calls: anything,
  tool_call_id: anything,
  function_call: anything,
  refusal: anything,
  reasoning: anything,
  reasoning_content: anything,
} as const;

/** A message of the model has members that only its provider knows. */
const anyMessage: Filter = (value, path, notes) => {
  if (!isObject(value) || value["role"] !== "assistant") return members(chatMessage)(value, path, notes);
  const { content, ...others } = value;
  const filteredContent = members({ content: textOr(list(assistantPart)) })(
    content === undefined ? {} : { content },
    path,
    notes,
  );
  return { ...Object(filteredContent), ...Object(returned(others, path, notes)) };
};

/** Keeps the parts of a request to OpenAI's Chat Completions API that have a known price. */
export const chatFilter = members({
  ...settings,
  messages: list(anyMessage),
  max_tokens: anything,
  max_completion_tokens: anything,
  n: anything,
  tools: textOr(clientTools((type) => filterNamed(chatTools, type))),
  functions: anything,
  function_call: anything,
  response_format: anything,
  reasoning_effort: anything,
  verbosity: anything,
  frequency_penalty: anything,
  presence_penalty: anything,
  repetition_penalty: anything,
  logit_bias: anything,
  logprobs: anything,
  min_p: anything,
  top_k: anything,
  seed: anything,
  stop: anything,
});

const textPart = members({ type: anything, text: anything });
const part = byType({
  input_text: textPart,
  output_text: textPart,
  text: textPart,
  summary_text: textPart,
  reasoning_text: textPart,
  refusal: members({ type: anything, refusal: anything }),
  input_image: members({ type: anything, image_url: imageDataUrl, detail: anything, file_id: notNull(STORED) }),
  input_file: refused(FILE),
  input_audio: refused(AUDIO),
});
const parts = textOr(list(part));

/** A function of the caller, or a group of them. */
const callerTools: Readonly<Record<string, Filter>> = {
  function: members({ type: anything, name: anything, description: anything, parameters: anything, strict: anything }),
  custom: members({ type: anything, name: anything, description: anything, format: anything }),
};
const responseTools: Readonly<Record<string, Filter>> = {
  ...callerTools,
  namespace: members({
    type: anything,
    name: anything,
    description: anything,
    tools: clientTools((type) => filterNamed(callerTools, type)),
  }),
  local_shell: providerDefined(members({ type: anything })),
  apply_patch: providerDefined(members({ type: anything })),
};

/** A member that may be null, and nothing else. */
function notNull(reason: string): Filter {
  return (value, path, notes) => (value === null ? undefined : refused(reason)(value, path, notes));
}

/** Reasoning without its text refers to what the provider has stored. */
const reasoning: Filter = (value, path, notes) => {
  if (isObject(value) && (typeof value["encrypted_content"] === "string" || Array.isArray(value["content"]))) {
    return members({ type: anything, summary: anything, content: parts, encrypted_content: anything })(
      value,
      path,
      notes,
    );
  }
  noteDropped(notes, `${path}(reasoning)`);
  return undefined;
};

const called = { type: anything, call_id: anything, status: anything } as const;
const output = members({ ...called, output: parts });
// Ids of items are references too: the provider would insert what it has stored under them.
const item = byType(
  {
    message: members({ type: anything, role: anything, content: parts, phase: anything, status: anything }),
    function_call: members({ ...called, name: anything, arguments: anything, namespace: anything }),
    function_call_output: output,
    custom_tool_call: members({ ...called, name: anything, input: anything }),
    custom_tool_call_output: output,
    local_shell_call: members({ ...called, action: anything }),
    local_shell_call_output: output,
    apply_patch_call: members({ ...called, operation: anything }),
    apply_patch_call_output: output,
    reasoning,
    item_reference: refused(STORED),
  },
  "message",
);

/** Keeps the parts of a request to OpenAI's Responses API that have a known price. */
export const responsesFilter = members({
  ...settings,
  input: textOr(list(item)),
  instructions: anything,
  max_output_tokens: anything,
  tools: textOr(clientTools((type) => filterNamed(responseTools, type))),
  reasoning: textOr(members({ effort: anything, summary: anything, generate_summary: anything })),
  text: textOr(members({ format: anything, verbosity: anything })),
  truncation: anything,
  include: anything,
  previous_response_id: notNull(STORED),
  conversation: notNull(STORED),
  prompt: notNull(STORED),
  background: (value, path, notes) =>
    value === false || value === null
      ? undefined
      : refused("the response must be read in this call if the run has a budget")(value, path, notes),
});

function filterNamed(filters: Readonly<Record<string, Filter>>, type: unknown): Filter | undefined {
  return typeof type === "string" && Object.hasOwn(filters, type) ? filters[type] : undefined;
}
