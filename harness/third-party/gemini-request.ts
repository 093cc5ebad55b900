import * as v from "valibot";

/** A part of a message, independent of the provider. */
export type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "image"; readonly mimeType: string; readonly data: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly kind: "result"; readonly id: string; readonly text: string };

export interface Turn {
  readonly role: "user" | "assistant";
  readonly parts: readonly Part[];
}

/** A request to a model, independent of the provider. */
export interface Question {
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly { readonly name: string; readonly description: string; readonly schema: object }[];
  readonly mustCall: boolean;
  readonly maxTokens: number;
}

/** The default limit of tokens in a response. */
const MAX_TOKENS = 32_000;

const Content = v.looseObject({
  role: v.optional(v.string()),
  parts: v.optional(
    v.array(
      v.looseObject({
        text: v.optional(v.string()),
        thought: v.optional(v.boolean()),
        inlineData: v.optional(v.object({ mimeType: v.string(), data: v.string() })),
        functionCall: v.optional(
          v.looseObject({ id: v.optional(v.string()), name: v.string(), args: v.optional(v.unknown()) }),
        ),
        functionResponse: v.optional(
          v.looseObject({ id: v.optional(v.string()), name: v.string(), response: v.optional(v.unknown()) }),
        ),
      }),
    ),
    [],
  ),
});
type Content = v.InferOutput<typeof Content>;

const Declaration = v.looseObject({
  name: v.string(),
  description: v.optional(v.string(), ""),
  parametersJsonSchema: v.optional(v.unknown()),
  parameters: v.optional(v.unknown()),
});

const GeminiRequest = v.looseObject({
  contents: v.union([
    v.array(Content),
    v.pipe(
      Content,
      v.transform((content) => [content]),
    ),
  ]),
  systemInstruction: v.optional(v.union([v.string(), Content])),
  tools: v.optional(v.array(v.looseObject({ functionDeclarations: v.optional(v.array(Declaration), []) })), []),
  toolConfig: v.optional(
    v.looseObject({ functionCallingConfig: v.optional(v.looseObject({ mode: v.optional(v.string()) })) }),
  ),
  generationConfig: v.optional(
    v.looseObject({
      maxOutputTokens: v.optional(v.number()),
      responseMimeType: v.optional(v.string()),
      responseJsonSchema: v.optional(v.unknown()),
      responseSchema: v.optional(v.unknown()),
    }),
    {},
  ),
});

/** Finds a tool of a request that only Google's servers can execute; undefined if there is none. */
export function findGoogleTool(body: unknown): string | undefined {
  const parsed = v.safeParse(GeminiRequest, body);
  const names = parsed.success ? parsed.output.tools.flatMap((tool) => Object.keys(tool)) : [];
  return names.find((name) => name !== "functionDeclarations");
}

/** Parses a generateContent request; undefined if it is invalid. Options of Google's models (thinking, sampling) are omitted. */
export function parseQuestion(body: unknown): Question | undefined {
  const parsed = v.safeParse(GeminiRequest, body);
  if (!parsed.success) return undefined;
  const { contents, systemInstruction = "", tools, toolConfig, generationConfig } = parsed.output;
  const system = typeof systemInstruction === "string" ? systemInstruction : joinText(systemInstruction);
  return {
    system: [system, describeFormat(generationConfig)].filter((text) => text !== "").join("\n\n"),
    turns: mergeTurns(pairTurns(contents)),
    tools: tools
      .flatMap(({ functionDeclarations }) => functionDeclarations)
      .map(({ name, description, parametersJsonSchema, parameters }) => ({
        name,
        description,
        schema: normalizeSchema(parametersJsonSchema ?? parameters),
      })),
    mustCall: toolConfig?.functionCallingConfig?.mode === "ANY",
    maxTokens: generationConfig.maxOutputTokens ?? MAX_TOKENS,
  };
}

const joinText = ({ parts }: Content): string => parts.flatMap(({ text }) => text ?? []).join("\n");

/** Describes the JSON format of the response as an instruction, because not every model supports schemas. */
function describeFormat(config: v.InferOutput<typeof GeminiRequest>["generationConfig"]): string {
  if (config.responseMimeType !== "application/json") return "";
  const schema = config.responseJsonSchema ?? config.responseSchema;
  const form = schema === undefined ? "" : ` It must match this schema: ${JSON.stringify(lowerTypes(schema))}`;
  return `Answer with one JSON value and nothing else: no explanation, no code fence.${form}`;
}

function normalizeSchema(schema: unknown): object {
  const lowered = lowerTypes(schema);
  return typeof lowered === "object" && lowered !== null
    ? { type: "object", ...lowered }
    : { type: "object", properties: {} };
}

/** Converts the upper-case types of Google's schemas to JSON Schema. */
function lowerTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowerTypes);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === "type" && typeof value === "string" ? value.toLowerCase() : lowerTypes(value),
    ]),
  );
}

/**
 * Pairs each call with exactly one result: other providers refuse calls without a result and results without a call, and a resumed session
 * may have both.
 */
function pairTurns(contents: readonly Content[]): Turn[] {
  const turns: Turn[] = [];
  let open: { id: string; name: string }[] = [];
  let count = 0;
  const close = () => {
    const parts = open.map(({ id }): Part => ({ kind: "result", id, text: "There is no result of this call." }));
    if (parts.length > 0) turns.push({ role: "user", parts });
    open = [];
  };
  for (const { role, parts } of contents) {
    const isModel = role === "model";
    if (isModel) close();
    const result: Part[] = [];
    for (const part of parts) {
      if (part.thought === true) continue;
      if (part.text !== undefined && part.text !== "") result.push({ kind: "text", text: part.text });
      if (part.inlineData !== undefined) result.push({ kind: "image", ...part.inlineData });
      if (part.functionCall !== undefined && isModel) {
        const { name, args = {} } = part.functionCall;
        const id = toIdentifier(part.functionCall.id ?? `call_${count++}`);
        open.push({ id, name });
        result.push({ kind: "call", id, name, input: args });
      }
      if (part.functionResponse !== undefined && !isModel) {
        const { id, name, response } = part.functionResponse;
        const index = open.findIndex((call) => (id === undefined ? call.name === name : call.id === toIdentifier(id)));
        const [call] = index < 0 ? [] : open.splice(index, 1);
        if (call !== undefined) result.push({ kind: "result", id: call.id, text: formatOutput(response) });
      }
    }
    // A call without a result at this point will not get one.
    if (!isModel && open.length > 0 && result.some(({ kind }) => kind === "text")) {
      result.push(...open.map(({ id }): Part => ({ kind: "result", id, text: "There is no result of this call." })));
      open = [];
    }
    if (result.length > 0) turns.push({ role: isModel ? "assistant" : "user", parts: result });
  }
  close();
  return turns;
}

/** Other providers allow fewer characters in an id. */
const toIdentifier = (id: string): string => id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64);

const Output = v.looseObject({ output: v.string() });

function formatOutput(response: unknown): string {
  const parsed = v.safeParse(Output, response);
  return parsed.success ? parsed.output.output : JSON.stringify(response ?? {});
}

/** Merges consecutive turns of the same role, and puts results first. */
function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: { role: Turn["role"]; parts: Part[] }[] = [];
  for (const { role, parts } of turns) {
    const last = merged.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else merged.push({ role, parts: [...parts] });
  }
  for (const { parts } of merged) parts.sort((a, b) => Number(b.kind === "result") - Number(a.kind === "result"));
  return merged;
}

/** Converts the question to a request of Anthropic's Messages API. */
export function toMessagesRequest({ system, turns, tools, mustCall, maxTokens }: Question, model: string) {
  return {
    model,
    max_tokens: maxTokens,
    stream: true,
    ...(system === "" ? {} : { system }),
    messages: turns.map(({ role, parts }) => ({ role, content: parts.map(toMessagesBlock) })),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
          ...(mustCall ? { tool_choice: { type: "any" } } : {}),
        }),
  };
}

function toMessagesBlock(part: Part) {
  switch (part.kind) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
      return { type: "image", source: { type: "base64", media_type: part.mimeType, data: part.data } };
    case "call":
      return { type: "tool_use", id: part.id, name: part.name, input: part.input };
    case "result":
      return { type: "tool_result", tool_use_id: part.id, content: part.text };
  }
}

/** Converts the question to a request of OpenAI's Chat Completions API. */
export function toChatRequest({ system, turns, tools, mustCall, maxTokens }: Question, model: string) {
  return {
    model,
    max_completion_tokens: maxTokens,
    stream: true,
    stream_options: { include_usage: true },
    messages: [...(system === "" ? [] : [{ role: "system", content: system }]), ...turns.flatMap(toChatMessages)],
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, schema }) => ({
            type: "function",
            function: { name, description, parameters: schema },
          })),
          ...(mustCall ? { tool_choice: "required" } : {}),
        }),
  };
}

function toChatMessages({ role, parts }: Turn): object[] {
  const text = parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
  if (role === "assistant") {
    const calls = parts.flatMap((part) =>
      part.kind === "call"
        ? [{ id: part.id, type: "function", function: { name: part.name, arguments: JSON.stringify(part.input) } }]
        : [],
    );
    return [{ role, content: text === "" ? null : text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }];
  }
  const images = parts.flatMap((part) =>
    part.kind === "image"
      ? [{ type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } }]
      : [],
  );
  const content = [...(text === "" ? [] : [{ type: "text", text }]), ...images];
  return [
    ...parts.flatMap((part) =>
      part.kind === "result" ? [{ role: "tool", tool_call_id: part.id, content: part.text }] : [],
    ),
    ...(content.length === 0 ? [] : [{ role, content: images.length === 0 ? text : content }]),
  ];
}
