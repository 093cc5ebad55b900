/** How models write tool calls into their text, where their server did not recognize them. */
const CALLS_AS_TEXT: readonly RegExp[] = [
  // Hermes and Qwen, Qwen3-Coder, GLM.
  /<tool_call>\s*[{<\w]/,
  /<function=[\w.-]+>/,
  // Mistral, Llama, DeepSeek, Kimi.
  /\[TOOL_CALLS\]\s*[[{\w]/,
  /<\|python_tag\|>/,
  /<｜tool▁calls?▁begin｜>|<\|tool_calls?_(?:section_)?begin\|>|<\|tool_call_argument_begin\|>/,
  // DeepSeek from V3.2, Gemma 4, Granite and Phi.
  /<｜DSML｜(?:invoke|tool_calls|function_calls)/,
  /<\|tool_call\|?>/,
  // Harmony (gpt-oss) and Anthropic's older format.
  /<\|channel\|>commentary to=functions\./,
  /<invoke name="[\w.-]+">/,
];

/** A JSON object that is nothing but a call. */
const JSON_CALL =
  /^\s*(?:```(?:json)?\s*)?\{\s*"(?:name|function|tool)"\s*:\s*"([\w.-]+)"\s*,\s*"(?:arguments|parameters|input)"\s*:/;

/** A last sentence that says what comes next, of a short response: a longer one that ends like this is a report. */
const ANNOUNCEMENT =
  /^(?:(?:now|next|first|then|so|ok|okay|great|good|perfect|alright)\b[,.!:]?\s+)*(?:let me(?! know)|let's|i'll|i will|i'm going to|i am going to)(?! not)\b/i;
const ANNOUNCEMENT_CHARACTERS = 400;
/** What follows waits for a person. */
const WAITS = /\b(?:you|your|wait|ask)\b|\?$/i;

function announcesStep(text: string): boolean {
  const last =
    text
      .trim()
      .split("\n")
      .at(-1)
      ?.split(/(?<=[.!?])\s+/)
      .at(-1) ?? "";
  const plain = last.replaceAll("\u2019", "'");
  return text.trim().length <= ANNOUNCEMENT_CHARACTERS && ANNOUNCEMENT.test(plain) && !WAITS.test(plain);
}

/** What is wrong with the last response of a turn. */
interface Fault {
  /** What the model is told. */
  readonly hint: string;
  /** Why the run fails if the next response is no better. @default it is accepted */
  readonly reason?: string;
}

const NOTHING_CALLED =
  "Your last response announces a step, but has no tool call, so nothing happened. Call the tool now. If the task is done, or you cannot " +
  "go on, state the result instead.";

/** Finds why a response without a tool call cannot be the result of a turn; undefined if it can. */
export function findResponseFault(text: string, toolNames: readonly string[]): Fault | undefined {
  if (text.trim() === "") {
    return {
      hint: "Your last response had no text and no tool call. Continue the task with a tool call, or state the result.",
      reason: "The model returned an empty response twice: neither text nor a tool call.",
    };
  }
  const prose = text.replace(/```[\s\S]*?(?:```|$)/g, "").replace(/`[^`\n]*`/g, "");
  const name = JSON_CALL.exec(text)?.[1];
  const isCall =
    CALLS_AS_TEXT.some((pattern) => pattern.test(prose)) || (name !== undefined && toolNames.includes(name));
  if (!isCall && toolNames.length > 0 && announcesStep(text)) return { hint: NOTHING_CALLED };
  if (!isCall) return undefined;
  return {
    hint: "Your last response contains a tool call as text, which was not executed. Call the tool through the API's tool calls.",
    reason:
      "The model wrote its tool calls as text twice, so that they were not executed. Its server must support tool calls " +
      "for this model, such as with a tool parser or a chat template, or choose another model.",
  };
}
