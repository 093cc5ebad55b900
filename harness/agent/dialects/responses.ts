import * as v from "valibot";
import { randomUUID } from "../../support/lazy-crypto.ts";
import { BrokenResponse, FailedResponse } from "./events.ts";
import { parseToolInput } from "./tool-input.ts";

const Part = v.union([
  v.object({ type: v.literal("output_text"), text: v.string() }),
  v.object({ type: v.literal("refusal"), refusal: v.string() }),
]);
const Item = v.variant("type", [
  v.object({ type: v.literal("message"), content: v.array(v.unknown()) }),
  v.object({ type: v.literal("function_call"), name: v.string(), arguments: v.unknown() }),
]);

const Failure = v.object({ message: v.nullish(v.string(), "no reason was given"), code: v.nullish(v.string(), "") });

/** An unstreamed response of OpenAI's Responses API. Items of other types, such as reasoning, are omitted. */
const ModelResponse = v.object({
  status: v.string(),
  output: v.array(v.unknown()),
  incomplete_details: v.nullish(v.object({ reason: v.nullish(v.string()) })),
  error: v.nullish(Failure),
  usage: v.nullish(v.record(v.string(), v.unknown())),
});

const Ended = v.object({
  type: v.picklist(["response.completed", "response.incomplete", "response.failed"]),
  response: v.looseObject({ output: v.optional(v.array(v.unknown()), []) }),
});
const ItemDone = v.object({ type: v.literal("response.output_item.done"), item: v.unknown() });
const ErrorEvent = v.object({ type: v.literal("error"), ...Failure.entries });

/** Returns the response at the end of a stream. @throws BrokenResponse when the end is missing; FailedResponse */
export function assembleResponse(events: readonly unknown[]): unknown {
  const items: unknown[] = [];
  for (const data of events) {
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

/**
 * Converts a response into the events of a stream, with a new id for each call. @throws BrokenResponse; FailedResponse
 */
export function toResponseEvents(whole: unknown): object[] {
  const response = v.safeParse(ModelResponse, whole);
  if (!response.success) throw new BrokenResponse("the response does not match the Responses API");
  const { status, output, incomplete_details, error, usage } = response.output;
  if (status === "failed") throw new FailedResponse(error?.code ?? "", error?.message ?? "no reason was given");
  const items = output.flatMap((item) => {
    const parsed = v.safeParse(Item, item);
    return parsed.success ? [parsed.output] : [];
  });
  const isCut = status === "incomplete" && incomplete_details?.reason !== "content_filter";
  const end = { id: "response", status, output: [], usage: usage ?? undefined };
  return [
    { type: "response.created", response: { id: "response", output: [] } },
    ...items.flatMap(toItemEvents),
    isCut
      ? { type: "response.incomplete", response: { ...end, incomplete_details: { reason: "max_output_tokens" } } }
      : { type: "response.completed", response: end },
  ];
}

function toItemEvents(item: v.InferOutput<typeof Item>): object[] {
  const id = randomUUID();
  if (item.type === "message") {
    return item.content.flatMap((part) => {
      const parsed = v.safeParse(Part, part);
      if (!parsed.success) return [];
      const delta = parsed.output.type === "refusal" ? parsed.output.refusal : parsed.output.text;
      return delta === "" ? [] : [{ type: "response.output_text.delta", item_id: id, delta }];
    });
  }
  const call = { type: "function_call", id, call_id: id, name: item.name, arguments: "" };
  const input = JSON.stringify(parseToolInput(item.arguments));
  return [
    { type: "response.output_item.added", item: call },
    { type: "response.function_call_arguments.done", item_id: id, arguments: input },
  ];
}
