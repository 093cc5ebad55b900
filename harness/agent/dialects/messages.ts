import * as v from "valibot";
import { randomUUID } from "../../support/lazy-crypto.ts";
import { BrokenResponse, FailedResponse } from "./events.ts";
import { parseToolInput } from "./tool-input.ts";

const Text = v.object({ type: v.literal("text"), text: v.string() });
const Thinking = v.object({
  type: v.literal("thinking"),
  thinking: v.string(),
  signature: v.optional(v.string(), ""),
});
const Redacted = v.object({ type: v.literal("redacted_thinking"), data: v.string() });
const Call = v.object({ type: v.literal("tool_use"), name: v.string(), input: v.unknown() });
const Content = v.variant("type", [Text, Thinking, Redacted, Call]);
type Content = v.InferOutput<typeof Content>;

const Usage = v.record(v.string(), v.unknown());

/** An unstreamed response of Anthropic's Messages API. Blocks of unknown types are omitted. */
const ModelResponse = v.object({
  content: v.array(
    v.union([
      Content,
      v.pipe(
        v.object({ type: v.string() }),
        v.transform(() => undefined),
      ),
    ]),
  ),
  stop_reason: v.string(),
  usage: v.optional(Usage, {}),
});

const Delta = v.variant("type", [
  v.object({ type: v.literal("text_delta"), text: v.string() }),
  v.object({ type: v.literal("input_json_delta"), partial_json: v.string() }),
  v.object({ type: v.literal("thinking_delta"), thinking: v.string() }),
  v.object({ type: v.literal("signature_delta"), signature: v.string() }),
]);
const Event = v.variant("type", [
  v.object({ type: v.literal("message_start"), message: v.object({ usage: v.optional(Usage, {}) }) }),
  v.object({ type: v.literal("content_block_start"), index: v.number(), content_block: v.unknown() }),
  v.object({ type: v.literal("content_block_delta"), index: v.number(), delta: v.unknown() }),
  v.object({
    type: v.literal("message_delta"),
    delta: v.object({ stop_reason: v.nullish(v.string()) }),
    usage: v.nullish(Usage),
  }),
  v.object({ type: v.literal("error"), error: v.object({ type: v.string(), message: v.string() }) }),
]);

/** Assembles the events of a stream. @throws BrokenResponse when its end is missing; FailedResponse */
export function assembleMessage(events: readonly unknown[]): unknown {
  const content: Content[] = [];
  const inputs = new Map<number, string>();
  let usage: Record<string, unknown> = {};
  let stopReason: string | undefined;
  for (const data of events) {
    const event = v.safeParse(Event, data);
    // A ping, or an event of a later API version.
    if (!event.success) continue;
    const { output } = event;
    if (output.type === "error") throw new FailedResponse(output.error.type, output.error.message);
    if (output.type === "message_start") usage = { ...usage, ...output.message.usage };
    else if (output.type === "content_block_start") {
      const block = v.safeParse(Content, output.content_block);
      if (block.success) content[output.index] = block.output;
    } else if (output.type === "content_block_delta") {
      const delta = v.safeParse(Delta, output.delta);
      if (delta.success) appendDelta(content, inputs, output.index, delta.output);
    } else {
      stopReason = output.delta.stop_reason ?? stopReason;
      usage = { ...usage, ...output.usage };
    }
  }
  if (stopReason === undefined) throw new BrokenResponse("the response is incomplete");
  // Omits the indexes of blocks of unknown types.
  const blocks = content.flatMap((block, index) =>
    block.type === "tool_use" && inputs.has(index) ? [{ ...block, input: inputs.get(index) }] : [block],
  );
  return { content: blocks, stop_reason: stopReason, usage };
}

function appendDelta(
  content: Content[],
  inputs: Map<number, string>,
  index: number,
  delta: v.InferOutput<typeof Delta>,
) {
  const block = content[index];
  if (delta.type === "input_json_delta") inputs.set(index, (inputs.get(index) ?? "") + delta.partial_json);
  else if (delta.type === "text_delta" && block?.type === "text") block.text += delta.text;
  else if (delta.type === "thinking_delta" && block?.type === "thinking") block.thinking += delta.thinking;
  else if (delta.type === "signature_delta" && block?.type === "thinking") block.signature += delta.signature;
}

/** Converts a response into the events of a stream, with a new id for each call. @throws BrokenResponse */
export function toMessageEvents(whole: unknown): object[] {
  const response = v.safeParse(ModelResponse, whole);
  if (!response.success) throw new BrokenResponse("the response does not match the Messages API");
  const { usage } = response.output;
  const content = response.output.content.filter((block) => block !== undefined);
  const hasCalls = content.some(({ type }) => type === "tool_use");
  const counted = { ...usage, input_tokens: usage["input_tokens"] ?? 0, output_tokens: usage["output_tokens"] ?? 0 };
  return [
    {
      type: "message_start",
      message: { id: "message", type: "message", role: "assistant", model: "", content: [], usage: counted },
    },
    ...content.flatMap((block, index) => [
      ...toBlockEvents(block).map((event) => ({ ...event, index })),
      { type: "content_block_stop", index },
    ]),
    {
      type: "message_delta",
      delta: { stop_reason: correctStopReason(response.output.stop_reason, hasCalls), stop_sequence: null },
      usage: counted,
    },
    { type: "message_stop" },
  ];
}

function toBlockEvents(block: Content): object[] {
  if (block.type === "tool_use") {
    const start = { type: "tool_use", id: randomUUID(), name: block.name, input: {} };
    const delta = { type: "input_json_delta", partial_json: JSON.stringify(parseToolInput(block.input)) };
    return [
      { type: "content_block_start", content_block: start },
      { type: "content_block_delta", delta },
    ];
  }
  if (block.type === "thinking") {
    // The signature is required even if the thinking is not shown.
    return [
      { type: "content_block_start", content_block: { type: "thinking", thinking: "", signature: "" } },
      ...(block.thinking === ""
        ? []
        : [{ type: "content_block_delta", delta: { type: "thinking_delta", thinking: block.thinking } }]),
      { type: "content_block_delta", delta: { type: "signature_delta", signature: block.signature } },
    ];
  }
  return [{ type: "content_block_start", content_block: block }];
}

/** Corrects the reason of servers that send another one with tool calls. */
function correctStopReason(reason: string, hasCalls: boolean): string {
  if (hasCalls && reason !== "max_tokens") return "tool_use";
  return reason === "tool_use" ? "end_turn" : reason;
}
