import * as v from "valibot";
import type { AssignId } from "./call-ids.ts";
import { BrokenResponse, type CarriedResponse, FailedResponse, type ReplayedResponse } from "./events.ts";
import { isMembers, type Members, toList, toText } from "./members.ts";
import { parseToolInput } from "./tool-input.ts";

const Block = v.looseObject({ type: v.string() });
type Block = v.InferOutput<typeof Block>;
const Usage = v.record(v.string(), v.unknown());

/** An unstreamed response of Anthropic's Messages API. */
const ModelResponse = v.object({
  content: v.array(Block),
  stop_reason: v.nullish(v.string()),
  usage: v.nullish(Usage, {}),
});

const Event = v.variant("type", [
  v.object({ type: v.literal("message_start"), message: v.object({ usage: v.nullish(Usage) }) }),
  v.object({ type: v.literal("content_block_start"), index: v.optional(v.number()), content_block: Block }),
  v.object({ type: v.literal("content_block_delta"), index: v.optional(v.number()), delta: Block }),
  v.object({
    type: v.literal("message_delta"),
    delta: v.object({ stop_reason: v.nullish(v.string()) }),
    usage: v.nullish(Usage),
  }),
  v.object({ type: v.literal("message_stop") }),
  v.object({ type: v.literal("error"), error: v.object({ type: v.string(), message: v.string() }) }),
]);

/** The text members that the deltas of each type continue. */
const CONTINUED: Readonly<Record<string, string>> = {
  text_delta: "text",
  thinking_delta: "thinking",
  signature_delta: "signature",
};

/** Assembles the events of a stream. @throws BrokenResponse when its end is missing; FailedResponse */
export function assembleMessage(events: readonly unknown[]): unknown {
  const content = new Map<number, Block>();
  const inputs = new Map<number, string>();
  let usage: Record<string, unknown> = {};
  let stopReason: string | undefined;
  let isStopped = false;
  // Not every server numbers its blocks.
  let open = 0;
  for (const data of events) {
    // A response that was not streamed is the only event of a stream that was kept open until it came.
    if (isMembers(data) && data["type"] === "message" && v.is(ModelResponse, data)) return data;
    const event = v.safeParse(Event, data);
    // A ping, or an event of a later API version.
    if (!event.success) continue;
    const { output } = event;
    if (output.type === "error") throw new FailedResponse(output.error.type, output.error.message);
    if (output.type === "message_start") usage = { ...usage, ...output.message.usage };
    else if (output.type === "content_block_start") {
      open = output.index ?? content.size;
      content.set(open, output.content_block);
    } else if (output.type === "content_block_delta") appendDelta(content, inputs, output.index ?? open, output.delta);
    else if (output.type === "message_stop") isStopped = true;
    else {
      stopReason = output.delta.stop_reason ?? stopReason;
      usage = { ...usage, ...output.usage };
    }
  }
  if (stopReason === undefined && !isStopped) throw new BrokenResponse("the response is incomplete");
  // Some servers send the whole input with the start of the block.
  const blocks = [...content.entries()].map(([index, block]) =>
    (inputs.get(index)?.trim() ?? "") === "" ? block : { ...block, input: inputs.get(index) },
  );
  return { content: blocks, stop_reason: stopReason ?? null, usage };
}

function appendDelta(content: Map<number, Block>, inputs: Map<number, string>, index: number, delta: Block) {
  const block = content.get(index) ?? (delta.type === "text_delta" ? { type: "text" } : undefined);
  if (delta.type === "input_json_delta") {
    inputs.set(index, (inputs.get(index) ?? "") + toText(delta["partial_json"]));
    return;
  }
  const name = CONTINUED[delta.type];
  if (block === undefined || name === undefined) return;
  const isOfBlock = name === "signature" ? block.type === "thinking" : name === block.type;
  const members: Members = block;
  if (isOfBlock) content.set(index, { ...block, [name]: toText(members[name]) + toText(delta[name]) });
}

/** Converts a response into the events of a stream, with an id for each call. @throws BrokenResponse; FailedResponse */
export function replayMessage(whole: unknown, assignId: AssignId): ReplayedResponse {
  const response = v.safeParse(ModelResponse, whole);
  if (!response.success) throw new BrokenResponse("the response does not match the Messages API");
  const { usage, stop_reason } = response.output;
  const blocks = response.output.content.map((block) =>
    block.type === "tool_use"
      ? { ...block, id: assignId(block["id"]), name: toText(block["name"]), input: parseToolInput(block["input"]) }
      : block,
  );
  const ids = blocks.flatMap((block) => (block.type === "tool_use" ? [toText(block["id"])] : []));
  const counted = {
    ...usage,
    input_tokens: usage?.["input_tokens"] ?? 0,
    output_tokens: usage?.["output_tokens"] ?? 0,
  };
  return {
    reasoning: blocks.map((block) => (block.type === "thinking" ? toText(block["thinking"]) : "")).join(""),
    carried: ids.length === 0 ? undefined : { ids, value: blocks.filter(isSentBack) },
    events: [
      {
        type: "message_start",
        message: { id: "message", type: "message", role: "assistant", model: "", content: [], usage: counted },
      },
      ...blocks.flatMap(toBlockEvents).flatMap((events, index) => events.map((event) => ({ ...event, index }))),
      {
        type: "message_delta",
        delta: { stop_reason: correctStopReason(stop_reason ?? "end_turn", ids.length > 0), stop_sequence: null },
        usage: counted,
      },
      { type: "message_stop" },
    ],
  };
}

/** No API accepts an empty text. */
const isSentBack = (block: Block): boolean => block.type !== "text" || toText(block["text"]) !== "";

/** Blocks that the agent's SDK reads; others are only sent back. */
function toBlockEvents(block: Block): object[][] {
  const start = (content_block: object) => ({ type: "content_block_start", content_block });
  const delta = (value: object) => ({ type: "content_block_delta", delta: value });
  const stop = { type: "content_block_stop" };
  if (block.type === "tool_use") {
    const { id, name, input } = block;
    const use = { type: "tool_use", id, name, input: {} };
    return [[start(use), delta({ type: "input_json_delta", partial_json: JSON.stringify(input) }), stop]];
  }
  if (block.type === "thinking") {
    const thinking = toText(block["thinking"]);
    // The signature is required even if the thinking is not shown.
    return [
      [
        start({ type: "thinking", thinking: "", signature: "" }),
        ...(thinking === "" ? [] : [delta({ type: "thinking_delta", thinking })]),
        delta({ type: "signature_delta", signature: toText(block["signature"]) }),
        stop,
      ],
    ];
  }
  if (block.type === "text") return [[start({ type: "text", text: toText(block["text"]) }), stop]];
  if (block.type === "redacted_thinking") return [[start({ type: block.type, data: toText(block["data"]) }), stop]];
  return [];
}

/** Corrects the reason of servers that send another one with tool calls. */
function correctStopReason(reason: string, hasCalls: boolean): string {
  if (reason === "model_context_window_exceeded") return "max_tokens";
  if (hasCalls && reason !== "max_tokens") return "tool_use";
  return reason === "tool_use" ? "end_turn" : reason;
}

/** Sends back what the provider returned with its tool calls. */
export function restoreMessage(body: Members, carried: CarriedResponse): Members {
  const messages = toList(body["messages"]).map((message) => {
    if (!isMembers(message) || message["role"] !== "assistant") return message;
    const use = toList(message["content"]).find((block) => isMembers(block) && block["type"] === "tool_use");
    const content = carried(isMembers(use) ? use["id"] : undefined);
    return content === undefined ? message : { ...message, content };
  });
  return { ...body, messages };
}

/** The ids of the tool calls in a request. */
export const listMessageIds = (body: Members): string[] =>
  toList(body["messages"])
    .flatMap((message) => (isMembers(message) ? toList(message["content"]) : []))
    .flatMap((block) => (isMembers(block) && block["type"] === "tool_use" ? [toText(block["id"])] : []));
