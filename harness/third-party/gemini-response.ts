import * as v from "valibot";

/** A response of Google's generateContent, or one piece of it. */
export interface GeminiChunk {
  readonly candidates: readonly {
    readonly index: 0;
    readonly content: { readonly role: "model"; readonly parts: readonly GeminiPart[] };
    readonly finishReason?: "STOP" | "MAX_TOKENS" | "SAFETY";
  }[];
  readonly usageMetadata?: {
    readonly promptTokenCount: number;
    readonly candidatesTokenCount: number;
    readonly totalTokenCount: number;
  };
}

export type GeminiPart =
  | { readonly text: string }
  | { readonly functionCall: { readonly id: string; readonly name: string; readonly args: unknown } };

/** Translates the events of another provider's streamed response into Gemini chunks. */
export interface Translator {
  /** Translates the data of one event. @throws Error with the provider's message when the response failed */
  translate(data: unknown): GeminiChunk[];
  /** Returns the last chunk: tool calls, finish reason and usage. */
  end(): GeminiChunk;
}

interface Call {
  id: string;
  name: string;
  json: string;
}

interface Counts {
  input: number;
  output: number;
}

const chunk = (parts: readonly GeminiPart[]): GeminiChunk => ({
  candidates: [{ index: 0, content: { role: "model", parts } }],
});

function buildLastChunk(
  calls: readonly Call[],
  reason: "STOP" | "MAX_TOKENS" | "SAFETY",
  { input, output }: Counts,
): GeminiChunk {
  const parts = calls.map(({ id, name, json }) => ({ functionCall: { id, name, args: parseArguments(json) } }));
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, finishReason: reason }],
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
  };
}

function parseArguments(json: string): unknown {
  try {
    const value: unknown = JSON.parse(json === "" ? "{}" : json);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    // The call was truncated; the agent reports the missing arguments to the model.
    return {};
  }
}

const MessagesEvent = v.looseObject({
  type: v.string(),
  message: v.optional(v.looseObject({ usage: v.optional(v.looseObject({ input_tokens: v.optional(v.number(), 0) })) })),
  content_block: v.optional(
    v.looseObject({ type: v.string(), id: v.optional(v.string(), ""), name: v.optional(v.string(), "") }),
  ),
  delta: v.optional(
    v.looseObject({
      type: v.optional(v.string()),
      text: v.optional(v.string()),
      partial_json: v.optional(v.string()),
      stop_reason: v.optional(v.nullable(v.string())),
    }),
  ),
  usage: v.optional(v.looseObject({ output_tokens: v.optional(v.number(), 0) })),
  error: v.optional(v.looseObject({ message: v.optional(v.string(), "") })),
});

/** Creates the translator for Anthropic's Messages API. */
export function createMessagesTranslator(): Translator {
  const calls: Call[] = [];
  const counts = { input: 0, output: 0 };
  let stop = "end_turn";
  return {
    translate(data) {
      const { type, message, content_block, delta, usage, error } = v.parse(MessagesEvent, data);
      if (type === "error") throw new Error(error?.message);
      counts.input = message?.usage?.input_tokens ?? counts.input;
      counts.output = usage?.output_tokens ?? counts.output;
      stop = delta?.stop_reason ?? stop;
      if (type === "content_block_start" && content_block?.type === "tool_use")
        calls.push({ id: content_block.id, name: content_block.name, json: "" });
      const last = calls.at(-1);
      if (delta?.partial_json !== undefined && last !== undefined) last.json += delta.partial_json;
      return delta?.text === undefined || delta.text === "" ? [] : [chunk([{ text: delta.text }])];
    },
    end: () =>
      buildLastChunk(calls, stop === "max_tokens" ? "MAX_TOKENS" : stop === "refusal" ? "SAFETY" : "STOP", counts),
  };
}

const ChatEvent = v.looseObject({
  choices: v.optional(
    v.array(
      v.looseObject({
        delta: v.optional(
          v.looseObject({
            content: v.optional(v.nullable(v.string())),
            tool_calls: v.optional(
              v.nullable(
                v.array(
                  v.looseObject({
                    index: v.optional(v.number(), 0),
                    id: v.optional(v.nullable(v.string())),
                    function: v.optional(
                      v.looseObject({
                        name: v.optional(v.nullable(v.string())),
                        arguments: v.optional(v.string(), ""),
                      }),
                    ),
                  }),
                ),
              ),
            ),
          }),
          {},
        ),
        finish_reason: v.optional(v.nullable(v.string())),
      }),
    ),
    [],
  ),
  usage: v.optional(
    v.nullable(
      v.looseObject({ prompt_tokens: v.optional(v.number(), 0), completion_tokens: v.optional(v.number(), 0) }),
    ),
  ),
  error: v.optional(v.looseObject({ message: v.optional(v.string(), "") })),
});

/** Creates the translator for OpenAI's Chat Completions API. */
export function createChatTranslator(): Translator {
  const calls = new Map<number, Call>();
  const counts = { input: 0, output: 0 };
  let stop = "stop";
  return {
    translate(data) {
      const { choices, usage, error } = v.parse(ChatEvent, data);
      if (error !== undefined) throw new Error(error.message);
      counts.input = usage?.prompt_tokens ?? counts.input;
      counts.output = usage?.completion_tokens ?? counts.output;
      const [choice] = choices;
      stop = choice?.finish_reason ?? stop;
      for (const { index, id, function: called } of choice?.delta.tool_calls ?? []) {
        const call = calls.get(index) ?? { id: "", name: "", json: "" };
        call.id ||= id ?? "";
        call.name ||= called?.name ?? "";
        call.json += called?.arguments ?? "";
        calls.set(index, call);
      }
      const text = choice?.delta.content ?? "";
      return text === "" ? [] : [chunk([{ text }])];
    },
    end: () =>
      buildLastChunk(
        [...calls.values()],
        stop === "length" ? "MAX_TOKENS" : stop === "content_filter" ? "SAFETY" : "STOP",
        counts,
      ),
  };
}

/** Merges the chunks of a response into one. */
export function mergeChunks(chunks: readonly GeminiChunk[]): GeminiChunk {
  const parts = chunks.flatMap(({ candidates }) => candidates.flatMap(({ content }) => content.parts));
  const text = parts.flatMap((part) => ("text" in part ? [part.text] : [])).join("");
  const calls = parts.filter((part) => "functionCall" in part);
  const last = chunks.at(-1);
  const [candidate] = last?.candidates ?? [];
  return {
    ...last,
    candidates: [
      {
        index: 0,
        ...candidate,
        content: { role: "model", parts: [...(text === "" ? [] : [{ text }]), ...calls] },
      },
    ],
  };
}
