/** What the model says in one turn, or how the provider fails. By default, the response says hello. */
export interface Turn {
  readonly text?: string;
  /** Tool calls, after the text. */
  readonly tools?: readonly {
    readonly name: string;
    readonly input: unknown;
    readonly id?: string;
    /** Sent as the input, instead of its JSON, where the API sends text. */
    readonly sent?: string;
  }[];
  /** The stop reason, in the API's own term; not for Responses. */
  readonly stop?: string;
  /** Tokens; output is never more than the request allows. */
  readonly usage?: {
    readonly input?: number;
    readonly output?: number;
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  };
  /** Another status than 200: an error in the API's own shape. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is, instead of a response in the API's shape. */
  readonly raw?: string;
  /** Events of a stream after which the connection is cut. */
  readonly cutAfter?: number;
  /** Milliseconds between events of a stream, or before a response that is not streamed. */
  readonly pauseMs?: number;
  /** A stream pauses after its text until this is resolved. */
  readonly textHeldUntil?: Promise<unknown>;
  /** The response begins when this is resolved. */
  readonly after?: Promise<unknown>;
  /** True if the connection is cut before any response. */
  readonly dead?: boolean;
}

/** The APIs that the stand-in speaks; Bedrock's content is that of the Messages API. */
export type Shape = "messages" | "chat" | "responses" | "bedrock";

interface ModelEvent {
  readonly event?: string;
  readonly data: unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: requests come in every shape.
type Body = any;

/** A response that is not streamed. */
export function createModelResponse(shape: Shape, body: Body, turn: Turn): unknown {
  const used = toUsage(body, turn);
  const tools = toTools(turn);
  if (shape === "chat") {
    return {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: body.model,
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: turn.text ?? (tools.length > 0 ? null : "hello"),
            ...(tools.length === 0 ? {} : { tool_calls: tools.map(chatTool) }),
          },
          finish_reason: turn.stop ?? (tools.length > 0 ? "tool_calls" : "stop"),
        },
      ],
      usage: { prompt_tokens: used.input, completion_tokens: used.output, total_tokens: used.input + used.output },
    };
  }
  if (shape === "responses") return createResponse(body, turn, "completed");
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: body.model ?? "model",
    content: [
      ...(turn.text === undefined && tools.length > 0 ? [] : [{ type: "text", text: turn.text ?? "hello" }]),
      ...tools.map(({ id, name, input }) => ({ type: "tool_use", id, name, input })),
    ],
    stop_reason: turn.stop ?? (tools.length > 0 ? "tool_use" : "end_turn"),
    stop_sequence: null,
    usage: messagesUsage(used),
  };
}

/** The events of a streamed response, in order. */
export function createEvents(shape: Shape, body: Body, turn: Turn): ModelEvent[] {
  if (shape === "chat") return chatEvents(body, turn);
  if (shape === "responses") return responsesEvents(body, turn);
  return messagesEvents(body, turn);
}

interface Used {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** Limits the output tokens to what the request allows. */
function toUsage(body: Body, { usage }: Turn): Used {
  const limit = body?.max_tokens ?? body?.max_completion_tokens ?? body?.max_output_tokens ?? Number.MAX_SAFE_INTEGER;
  const { input = 100, output = 20, cacheRead = 0, cacheWrite = 0 } = usage ?? {};
  return { input, output: Math.min(output, limit), cacheRead, cacheWrite };
}

const messagesUsage = ({ input, output, cacheRead, cacheWrite }: Used) => ({
  input_tokens: input,
  cache_creation_input_tokens: cacheWrite,
  cache_read_input_tokens: cacheRead,
  output_tokens: output,
});

const toTools = ({ tools = [] }: Turn) => tools.map((tool, index) => ({ id: `toolu_${index + 1}`, ...tool }));

const chatTool = ({ id, name, ...tool }: { id: string; name: string; input: unknown; sent?: string }) => ({
  id,
  type: "function",
  function: { name, arguments: toSent(tool) },
});

const toSent = ({ input, sent }: { readonly input: unknown; readonly sent?: string }) => sent ?? JSON.stringify(input);

/** A text in two halves, as a stream sends it. */
function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}

function messagesEvents(body: Body, turn: Turn): ModelEvent[] {
  const used = toUsage(body, turn);
  const tools = toTools(turn);
  const text = turn.text ?? (tools.length > 0 ? undefined : "hello");
  const named = (data: { type: string; [member: string]: unknown }): ModelEvent => ({ event: data.type, data });
  const blocks = [
    ...(text === undefined
      ? []
      : [
          {
            start: { type: "text", text: "" },
            deltas: halves(text).map((part) => ({ type: "text_delta", text: part })),
          },
        ]),
    ...tools.map(({ id, name, ...tool }) => ({
      start: { type: "tool_use", id, name, input: {} },
      deltas: halves(toSent(tool)).map((part) => ({ type: "input_json_delta", partial_json: part })),
    })),
  ];
  return [
    named({
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: body.model ?? "model",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: messagesUsage({ ...used, output: 1 }),
      },
    }),
    named({ type: "ping" }),
    ...blocks.flatMap(({ start, deltas }, index) => [
      named({ type: "content_block_start", index, content_block: start }),
      ...deltas.map((delta) => named({ type: "content_block_delta", index, delta })),
      named({ type: "content_block_stop", index }),
    ]),
    named({
      type: "message_delta",
      delta: { stop_reason: turn.stop ?? (tools.length > 0 ? "tool_use" : "end_turn"), stop_sequence: null },
      usage: { output_tokens: used.output },
    }),
    named({ type: "message_stop" }),
  ];
}

function chatEvents(body: Body, turn: Turn): ModelEvent[] {
  const used = toUsage(body, turn);
  const tools = toTools(turn);
  const text = turn.text ?? (tools.length > 0 ? undefined : "hello");
  const chunk = (choices: unknown[], rest: object = {}): ModelEvent => ({
    data: { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: body.model, choices, ...rest },
  });
  const delta = (delta: object, finish: string | null = null) => chunk([{ index: 0, delta, finish_reason: finish }]);
  const usage = { prompt_tokens: used.input, completion_tokens: used.output, total_tokens: used.input + used.output };
  return [
    delta({ role: "assistant", content: "" }),
    ...halves(text ?? "").map((content) => delta({ content })),
    ...tools.map((tool, index) => delta({ tool_calls: [{ index, ...chatTool(tool) }] })),
    delta({}, turn.stop ?? (tools.length > 0 ? "tool_calls" : "stop")),
    ...(body.stream_options?.include_usage === true ? [chunk([], { usage })] : []),
    { data: "[DONE]" },
  ];
}

function createResponse(body: Body, turn: Turn, status: string) {
  const used = toUsage(body, turn);
  const tools = toTools(turn);
  const done = status === "completed";
  return {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status,
    model: body.model,
    output: done
      ? [
          ...(turn.text === undefined && tools.length > 0
            ? []
            : [
                {
                  id: "msg_1",
                  type: "message",
                  role: "assistant",
                  status,
                  content: [{ type: "output_text", text: turn.text ?? "hello", annotations: [] }],
                },
              ]),
          ...tools.map(({ id, name, ...tool }) => ({
            id: `fc_${id}`,
            type: "function_call",
            call_id: id,
            name,
            arguments: toSent(tool),
            status,
          })),
        ]
      : [],
    usage: done
      ? { input_tokens: used.input, output_tokens: used.output, total_tokens: used.input + used.output }
      : null,
  };
}

function responsesEvents(body: Body, turn: Turn): ModelEvent[] {
  let sequence = 0;
  const named = (data: { type: string; [member: string]: unknown }): ModelEvent => ({
    event: data.type,
    data: { ...data, sequence_number: sequence++ },
  });
  const text = turn.text ?? (turn.tools === undefined ? "hello" : "");
  const response = createResponse(body, turn, "completed");
  return [
    named({ type: "response.created", response: createResponse(body, turn, "in_progress") }),
    ...response.output.map((item, index) => named({ type: "response.output_item.added", output_index: index, item })),
    ...halves(text).map((delta) =>
      named({ type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta }),
    ),
    ...response.output.map((item, index) => named({ type: "response.output_item.done", output_index: index, item })),
    named({ type: "response.completed", response }),
  ];
}
