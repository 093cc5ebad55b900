import * as v from "valibot";
import type { AssignId } from "./call-ids.ts";
import { BrokenResponse, type CarriedResponse, FailedResponse, type ReplayedResponse } from "./events.ts";
import { isMembers, type Members, toList, toText } from "./members.ts";
import { parseToolInput } from "./tool-input.ts";

const Item = v.looseObject({ type: v.string() });
type Item = v.InferOutput<typeof Item>;

const Failure = v.object({ message: v.nullish(v.string(), "no reason was given"), code: v.nullish(v.string(), "") });

/** An unstreamed response of OpenAI's Responses API. */
const ModelResponse = v.object({
  status: v.optional(v.string(), "completed"),
  output: v.array(v.unknown()),
  incomplete_details: v.nullish(v.object({ reason: v.nullish(v.string()) })),
  error: v.nullish(Failure),
  usage: v.nullish(v.record(v.string(), v.unknown())),
});

const Ended = v.object({
  type: v.picklist(["response.completed", "response.incomplete", "response.failed", "response.done"]),
  response: v.looseObject({ output: v.nullish(v.array(v.unknown()), []) }),
});
const ItemDone = v.object({ type: v.literal("response.output_item.done"), item: v.unknown() });
const ErrorEvent = v.object({
  type: v.literal("error"),
  message: v.string(),
  code: v.nullish(v.string(), ""),
});

/** Returns the response at the end of a stream. @throws BrokenResponse when the end is missing; FailedResponse */
export function assembleResponse(events: readonly unknown[]): unknown {
  const items: unknown[] = [];
  for (const data of events) {
    // A response that was not streamed is the only event of a stream that was kept open until it came.
    if (isMembers(data) && data["object"] === "response" && data["type"] === undefined) return data;
    const error = v.safeParse(ErrorEvent, data);
    if (error.success) throw new FailedResponse(error.output.code, error.output.message);
    const item = v.safeParse(ItemDone, data);
    if (item.success) items.push(item.output.item);
    const ended = v.safeParse(Ended, data);
    if (!ended.success) continue;
    const { response } = ended.output;
    // Not every server repeats the items in the last event.
    return response.output.length > 0 ? response : { ...response, output: items };
  }
  throw new BrokenResponse("the response is incomplete");
}

/** Converts a response into the events of a stream, with an id for each call. @throws BrokenResponse; FailedResponse */
export function replayResponse(whole: unknown, assignId: AssignId): ReplayedResponse {
  const response = v.safeParse(ModelResponse, whole);
  if (!response.success) throw new BrokenResponse("the response does not match the Responses API");
  const { status, incomplete_details, error, usage } = response.output;
  if (status === "failed") throw new FailedResponse(error?.code ?? "", error?.message ?? "no reason was given");
  const items = response.output.output.flatMap((item) => {
    const parsed = v.safeParse(Item, item);
    return parsed.success ? [toKnownItem(parsed.output, assignId)] : [];
  });
  const ids = items.flatMap((item) => (item.type === "function_call" ? [toText(item["call_id"])] : []));
  const isCut = status === "incomplete" && incomplete_details?.reason !== "content_filter";
  const end = { id: "response", status, output: [], usage: usage ?? undefined };
  return {
    reasoning: items.flatMap((item) => (item.type === "reasoning" ? [readReasoning(item)] : [])).join("\n\n"),
    carried: ids.length === 0 ? undefined : { ids, value: items.map(toSentItem) },
    events: [
      { type: "response.created", response: { id: "response", output: [] } },
      ...items.flatMap(toItemEvents),
      isCut
        ? { type: "response.incomplete", response: { ...end, incomplete_details: { reason: "max_output_tokens" } } }
        : { type: "response.completed", response: end },
    ],
  };
}

/** A call gets its id and an input that is valid; other items stay as they are. */
function toKnownItem(item: Item, assignId: AssignId): Item {
  if (item.type !== "function_call") return item;
  const call_id = assignId(item["call_id"]);
  return { ...item, call_id, name: toText(item["name"]), arguments: JSON.stringify(parseToolInput(item["arguments"])) };
}

/** Ids refer to what the provider has stored, and nothing is stored. */
function toSentItem({ id: _, status: __, ...item }: Item): Members {
  return item;
}

const readReasoning = (item: Item): string =>
  [...toList(item["summary"]), ...toList(item["content"])]
    .flatMap((part) => (isMembers(part) ? [toText(part["text"])] : []))
    .join("\n\n");

function toItemEvents(item: Item, index: number): object[] {
  const id = `item_${index}`;
  if (item.type === "message") {
    return toList(item["content"]).flatMap((part) => {
      if (!isMembers(part)) return [];
      const delta = part["type"] === "refusal" ? toText(part["refusal"]) : toText(part["text"]);
      return delta === "" ? [] : [{ type: "response.output_text.delta", item_id: id, delta }];
    });
  }
  if (item.type !== "function_call") return [];
  const { call_id, name, arguments: input } = item;
  return [
    { type: "response.output_item.added", item: { type: "function_call", id, call_id, name, arguments: "" } },
    { type: "response.function_call_arguments.done", item_id: id, arguments: input },
  ];
}

/** Sends back what the provider returned with its tool calls, and requests the reasoning that can be sent back. */
export function restoreResponse(body: Members, carried: CarriedResponse): Members {
  const input: unknown[] = [];
  const done = new Set<unknown>();
  for (const item of toList(body["input"])) {
    const value = isMembers(item) && item["type"] === "function_call" ? carried(item["call_id"]) : undefined;
    if (value === undefined) input.push(item);
    else if (!done.has(value)) {
      done.add(value);
      // The items of the response include the text before its calls.
      const last = input.at(-1);
      if (isMembers(last) && last["role"] === "assistant" && value.some(isMessage)) input.pop();
      input.push(...value);
    }
  }
  const reasons = REASONING_MODELS.test(toText(body["model"]));
  return { ...body, input, ...(reasons ? { include: ["reasoning.encrypted_content"] } : {}) };
}

/** OpenAI refuses to return encrypted reasoning of models that do not reason. */
const REASONING_MODELS = /(?:^|\/)(?:gpt-[5-9]|o[1-9]|codex)/;

const isMessage = (item: unknown): boolean => isMembers(item) && item["type"] === "message";

/** The ids of the tool calls in a request. */
export const listResponseIds = (body: Members): string[] =>
  toList(body["input"]).flatMap((item) =>
    isMembers(item) && item["type"] === "function_call" ? [toText(item["call_id"])] : [],
  );
