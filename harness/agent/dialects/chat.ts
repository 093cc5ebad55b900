import * as v from "valibot";
import type { AssignId } from "./call-ids.ts";
import { CallCollector, toValidArguments } from "./chat-calls.ts";
import { BrokenResponse, type CarriedResponse, FailedResponse, type ReplayedResponse } from "./events.ts";
import { isMembers, type Members, mergeMembers, toList, toText } from "./members.ts";
import { splitReasoning } from "./think-text.ts";

const Finish = v.fallback(v.nullish(v.string()), undefined);
const Choice = v.looseObject({ finish_reason: Finish });
const Usage = v.fallback(v.nullish(v.record(v.string(), v.unknown())), undefined);

/** An unstreamed response of OpenAI's Chat Completions API. */
const ModelResponse = v.object({
  choices: v.tupleWithRest(
    [v.object({ message: v.record(v.string(), v.unknown()), finish_reason: Finish })],
    v.unknown(),
  ),
  usage: Usage,
});
const Chunk = v.object({ choices: v.nullish(v.array(Choice), []), usage: Usage });
const Failure = v.object({
  error: v.object({
    message: v.optional(v.string(), "no reason was given"),
    type: v.nullish(v.string()),
    code: v.nullish(v.union([v.string(), v.number()])),
  }),
});

/** Assembles the events of a stream. @throws BrokenResponse when its end is missing; FailedResponse */
export function assembleCompletion(events: readonly unknown[], hasEndMarker = false): unknown {
  const calls = new CallCollector();
  let message: Members = {};
  let usage: Record<string, unknown> | undefined;
  let finish: string | undefined;
  let isCounted = false;
  for (const data of events) {
    throwIfFailed(data);
    const chunk = v.safeParse(Chunk, data);
    // A keep-alive, or an event of another kind.
    if (!chunk.success) continue;
    usage = chunk.output.usage ?? usage;
    const [choice] = chunk.output.choices;
    // The last event of a stream with usage has no choice.
    if (choice === undefined) isCounted ||= chunk.output.usage !== undefined && chunk.output.usage !== null;
    const { finish_reason, delta, message: whole } = choice ?? {};
    finish = finish_reason || finish;
    const piece = isMembers(delta) ? delta : isMembers(whole) ? whole : {};
    const { tool_calls, content, ...members } = piece;
    calls.add(toList(tool_calls));
    message = mergeMembers(message, members);
    if (content !== undefined) message = { ...message, content: joinContent(message["content"], content) };
  }
  if (finish === undefined && !hasEndMarker && !isCounted) throw new BrokenResponse("the response is incomplete");
  const tool_calls = calls.calls.map(({ id, name, arguments: text, rest, functionRest }) => ({
    ...rest,
    id,
    type: "function",
    function: { ...functionRest, name, arguments: text },
  }));
  return {
    choices: [{ message: { ...message, ...(tool_calls.length > 0 && { tool_calls }) }, finish_reason: finish ?? null }],
    usage,
  };
}

/** Continues a content with a piece. Both are texts or lists of parts. */
function joinContent(before: unknown, piece: unknown): unknown {
  if (!Array.isArray(before) && !Array.isArray(piece)) return toText(before) + toText(piece);
  const toParts = (content: unknown) =>
    Array.isArray(content) ? content : toText(content) === "" ? [] : [{ type: "text", text: content }];
  return mergeMembers({ content: toParts(before) }, { content: toParts(piece) })["content"];
}

function throwIfFailed(data: unknown): void {
  const failure = v.safeParse(Failure, data);
  if (!failure.success) return;
  const { message, type, code } = failure.output.error;
  throw new FailedResponse(typeof code === "string" ? code : (type ?? ""), message);
}

/**
 * Converts a response into the events of a stream, with an id for each call. The text and each call end with a finish reason,
 * because the Strands SDK ends blocks only there and would otherwise merge them. @throws BrokenResponse; FailedResponse
 */
export function replayCompletion(whole: unknown, assignId: AssignId): ReplayedResponse {
  throwIfFailed(whole);
  const response = v.safeParse(ModelResponse, whole);
  if (!response.success) throw new BrokenResponse("the response does not match the Chat Completions API");
  const [{ message, finish_reason }] = response.output.choices;
  const collector = new CallCollector();
  const sent = toList(message["tool_calls"]);
  // Each item of an unstreamed response is a call, whatever its id and index are.
  collector.add(sent.map((call, index) => (isMembers(call) ? { ...call, index } : call)));
  const calls = collector.calls.map((call) => ({
    ...call,
    id: assignId(call.id),
    text: toValidArguments(call.arguments),
  }));
  const { text: said, reasoning } = readTexts(message);
  const refusal = toText(message["refusal"]);
  const text = said === "" ? refusal : said;
  const reason = toFinishReason(refusal === "" ? (finish_reason ?? "") : "content_filter", calls.length > 0);
  const chunk = (delta: object, finish: string | null = null) => ({
    id: "completion",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const tool_calls = calls.map(({ id, name, text: input, rest, functionRest }) => ({
    ...rest,
    id,
    type: "function",
    function: { ...functionRest, name, arguments: input },
  }));
  return {
    reasoning,
    carried:
      calls.length === 0 ? undefined : { ids: calls.map(({ id }) => id), value: [toSentMessage(message, tool_calls)] },
    events: [
      chunk({ role: "assistant", content: "" }),
      ...(text === "" ? [] : [chunk({ content: text }), chunk({}, reason)]),
      ...calls.flatMap(({ id, name, text: input }, index) => [
        chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: input } }] }),
        chunk({}, reason),
      ]),
      ...(text === "" && calls.length === 0 ? [chunk({}, reason)] : []),
      ...(response.output.usage ? [{ id: "completion", choices: [], usage: response.output.usage }] : []),
    ],
  };
}

/** The message as it is sent back: everything that the provider returned, with the ids and inputs that the conversation has. */
function toSentMessage(message: Members, tool_calls: readonly object[]): Members {
  const { content, refusal, audio: _, ...members } = message;
  return {
    ...members,
    ...(toText(refusal) === "" ? {} : { refusal }),
    role: "assistant",
    content: content ?? "",
    tool_calls,
  };
}

/** Reads the text of a message and its reasoning, wherever the server puts them. */
function readTexts(message: Members): { readonly text: string; readonly reasoning: string } {
  const { content } = message;
  const parts = toList(content).filter(isMembers);
  const isThinking = ({ type }: Members) => type === "thinking" || type === "reasoning";
  const joined =
    typeof content === "string"
      ? content
      : parts.map((part) => (isThinking(part) ? "" : toText(part["text"]))).join("");
  const { text, reasoning } = splitReasoning(joined);
  const members = ["reasoning_content", "reasoning", "reasoning_text", "thinking"].map((name) => toText(message[name]));
  const thoughts = parts.filter(isThinking).map((part) => readThinking(part["thinking"] ?? part["text"]));
  const details = toList(message["reasoning_details"])
    .filter(isMembers)
    .map((detail) => toText(detail["text"]) || toText(detail["summary"]));
  const found = members.find((member) => member !== "") ?? "";
  return { text, reasoning: found || thoughts.join("") || details.join("") || reasoning };
}

const readThinking = (thinking: unknown): string =>
  typeof thinking === "string"
    ? thinking
    : toList(thinking)
        .filter(isMembers)
        .map((part) => toText(part["text"]))
        .join("");

/** How servers say why a response ended. Any other reason counts as a normal end. */
const REASONS: Readonly<Record<string, string>> = {
  length: "length",
  max_tokens: "length",
  max_output_tokens: "length",
  model_length: "length",
  model_context_window_exceeded: "length",
  content_filter: "content_filter",
  safety: "content_filter",
  recitation: "content_filter",
  blocklist: "content_filter",
  spii: "content_filter",
  prohibited_content: "content_filter",
  refusal: "content_filter",
  sensitive: "content_filter",
};

/** Reasons of a response that failed on the server. */
const FAILED = new Set([
  ...["error", "abort", "network_error", "insufficient_system_resource"],
  ...["malformed_function_call", "unexpected_tool_call", "too_many_tool_calls"],
]);

/** @throws FailedResponse */
function toFinishReason(sent: string, hasCalls: boolean): string {
  // Gemini names the filter before the reason.
  const name = sent.toLowerCase().replace(/^\w+: /, "");
  if (FAILED.has(name)) throw new FailedResponse("server_error", `the model's response ended with the reason ${sent}`);
  const reason = Object.hasOwn(REASONS, name) ? (REASONS[name] ?? "stop") : "stop";
  return hasCalls && reason !== "length" ? "tool_calls" : reason;
}

/** Sends back what the provider returned with its tool calls, and texts as such: not every server accepts a list of parts. */
export function restoreCompletion(body: Members, carried: CarriedResponse): Members {
  const before = toList(body["messages"]);
  const messages = before.flatMap((message) => {
    const [first] = isMembers(message) && message["role"] === "assistant" ? toList(message["tool_calls"]) : [];
    return carried(isMembers(first) ? first["id"] : undefined) ?? [joinParts(message)];
  });
  return messages.every((message, index) => message === before[index]) ? body : { ...body, messages };
}

function joinParts(message: unknown): unknown {
  if (!isMembers(message)) return message;
  const parts = toList(message["content"]).filter(isMembers);
  if (parts.length === 0 || parts.some(({ type }) => type !== "text")) return message;
  return { ...message, content: parts.map(({ text }) => toText(text)).join("\n\n") };
}

/** The ids of the tool calls in a request. */
export const listCompletionIds = (body: Members): string[] =>
  toList(body["messages"])
    .flatMap((message) => (isMembers(message) ? toList(message["tool_calls"]) : []))
    .flatMap((call) => (isMembers(call) && typeof call["id"] === "string" ? [call["id"]] : []));
