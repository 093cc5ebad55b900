import * as v from "valibot";

const Block = v.looseObject({ type: v.string() });
type Block = v.InferOutput<typeof Block>;
const Message = v.pipe(
  v.string(),
  v.parseJson(),
  v.looseObject({
    type: v.literal("message"),
    content: v.array(Block),
    stop_reason: v.nullish(v.string()),
    stop_sequence: v.nullish(v.string()),
    usage: v.looseObject({ output_tokens: v.nullish(v.number()) }),
  }),
);

/** Converts a whole message of Anthropic's API to the stream of its events; undefined if it is none. */
export function toMessageStream(text: string): string | undefined {
  const parsed = v.safeParse(Message, text);
  if (!parsed.success) return undefined;
  const { content, stop_reason, stop_sequence, usage, ...message } = parsed.output;
  const events = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage } },
    ...content.flatMap((block, index) => [
      ...toBlockEvents(block).map((event) => ({ ...event, index })),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: stop_reason ?? null, stop_sequence: stop_sequence ?? null },
      usage: { output_tokens: usage.output_tokens ?? 0 },
    },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

function toBlockEvents(block: Block) {
  const start = (content_block: object) => ({ type: "content_block_start", content_block });
  const delta = (value: object) => ({ type: "content_block_delta", delta: value });
  const { type } = block;
  if (type === "text") return [start({ ...block, text: "" }), delta({ type: "text_delta", text: block["text"] })];
  if (type === "tool_use") {
    const input = JSON.stringify(block["input"] ?? {});
    return [start({ ...block, input: {} }), delta({ type: "input_json_delta", partial_json: input })];
  }
  if (type !== "thinking") return [start(block)];
  return [
    start({ ...block, thinking: "", signature: "" }),
    delta({ type: "thinking_delta", thinking: block["thinking"] }),
    delta({ type: "signature_delta", signature: block["signature"] }),
  ];
}
