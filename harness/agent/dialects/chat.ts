import * as v from "valibot";
import { randomUUID } from "../../support/lazy-crypto.ts";
import { BrokenResponse, FailedResponse } from "./events.ts";
import { parseToolInput } from "./tool-input.ts";

const Call = v.object({ function: v.object({ name: v.string(), arguments: v.optional(v.unknown(), "") }) });

/** An unstreamed response of OpenAI's Chat Completions API. */
const ModelResponse = v.object({
  choices: v.tupleWithRest(
    [
      v.object({
        message: v.object({
          content: v.nullish(v.string(), ""),
          refusal: v.nullish(v.string(), ""),
          tool_calls: v.nullish(v.array(Call), []),
        }),
        finish_reason: v.string(),
      }),
    ],
    v.unknown(),
  ),
  usage: v.nullish(v.record(v.string(), v.unknown())),
});

const CallPart = v.object({
  index: v.optional(v.number(), 0),
  function: v.nullish(v.object({ name: v.nullish(v.string()), arguments: v.nullish(v.string()) })),
});
const Chunk = v.object({
  choices: v.nullish(
    v.array(
      v.object({
        delta: v.nullish(
          v.object({
            content: v.nullish(v.string()),
            refusal: v.nullish(v.string()),
            tool_calls: v.nullish(v.array(CallPart)),
          }),
        ),
        finish_reason: v.nullish(v.string()),
      }),
    ),
    [],
  ),
  usage: v.nullish(v.record(v.string(), v.unknown())),
});
const Failure = v.object({
  error: v.object({ message: v.optional(v.string(), "no reason was given"), type: v.nullish(v.string()) }),
});

/** Assembles the events of a stream. @throws BrokenResponse when its end is missing; FailedResponse */
export function assembleCompletion(events: readonly unknown[]): unknown {
  const calls: { name: string; arguments: string }[] = [];
  let content = "";
  let refusal = "";
  let usage: Record<string, unknown> | undefined;
  let finish: string | undefined;
  for (const data of events) {
    const failure = v.safeParse(Failure, data);
    if (failure.success) throw new FailedResponse(failure.output.error.type ?? "", failure.output.error.message);
    const chunk = v.safeParse(Chunk, data);
    if (!chunk.success) throw new BrokenResponse("an event of the response does not match the Chat Completions API");
    usage = chunk.output.usage ?? usage;
    const [choice] = chunk.output.choices;
    content += choice?.delta?.content ?? "";
    refusal += choice?.delta?.refusal ?? "";
    finish = choice?.finish_reason ?? finish;
    for (const part of choice?.delta?.tool_calls ?? []) {
      const call = calls[part.index] ?? { name: "", arguments: "" };
      calls[part.index] = call;
      call.name += part.function?.name ?? "";
      call.arguments += part.function?.arguments ?? "";
    }
  }
  if (finish === undefined) throw new BrokenResponse("the response is incomplete");
  const message = {
    content,
    refusal,
    // Omits the indexes that no part had.
    tool_calls: calls.flatMap((call) => [{ function: call }]),
  };
  return { choices: [{ message, finish_reason: finish }], usage };
}

/**
 * Converts a response into the events of a stream, with a new id for each call. The text and each call end with a finish reason,
 * because the Strands SDK ends blocks only there and would otherwise merge them. @throws BrokenResponse
 */
export function toCompletionEvents(whole: unknown): object[] {
  const response = v.safeParse(ModelResponse, whole);
  if (!response.success) throw new BrokenResponse("the response does not match the Chat Completions API");
  const [{ message, finish_reason }] = response.output.choices;
  const { refusal } = message;
  const text = message.content === "" ? refusal : message.content;
  const reason = correctStopReason(refusal === "" ? finish_reason : "content_filter", message.tool_calls.length > 0);
  const chunk = (delta: object, finish: string | null = null) => ({
    id: "completion",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  return [
    chunk({ role: "assistant", content: "" }),
    ...(text === "" ? [] : [chunk({ content: text }), chunk({}, reason)]),
    ...message.tool_calls.flatMap((call, index) => [
      chunk({
        tool_calls: [
          {
            index,
            id: randomUUID(),
            type: "function",
            function: { name: call.function.name, arguments: JSON.stringify(parseToolInput(call.function.arguments)) },
          },
        ],
      }),
      chunk({}, reason),
    ]),
    ...(text === "" && message.tool_calls.length === 0 ? [chunk({}, reason)] : []),
    ...(response.output.usage ? [{ id: "completion", choices: [], usage: response.output.usage }] : []),
  ];
}

/** Corrects the reason of servers that send `stop` with tool calls. */
function correctStopReason(reason: string, hasCalls: boolean): string {
  if (hasCalls && reason !== "length") return "tool_calls";
  return reason === "tool_calls" ? "stop" : reason;
}
