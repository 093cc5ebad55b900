import { findGoogleTool, parseQuestion, type Question, toChatRequest, toMessagesRequest } from "./gemini-request.ts";
import {
  createChatTranslator,
  createMessagesTranslator,
  type GeminiChunk,
  mergeChunks,
  type Translator,
} from "./gemini-response.ts";

/** Calls the model gateway at one of its paths. */
export type CallModel = (path: string, body: unknown, headers?: Record<string, string>) => Promise<Response>;

/**
 * Serves a call of Google's Gemini API through the model gateway, which does not support it: with the Messages API for
 * Anthropic's models, and with the Chat Completions API for all others.
 */
export async function respondAsGemini(
  path: string,
  body: unknown,
  modelId: string,
  call: CallModel,
): Promise<Response> {
  const method = path.slice(path.lastIndexOf(":") + 1);
  if (method === "countTokens") return Response.json({ totalTokens: Math.ceil(JSON.stringify(body).length / 4) });
  const isStreamed = method === "streamGenerateContent";
  if (!isStreamed && method !== "generateContent")
    return toFailureResponse(404, `the method ${method} is not supported`);
  const question = parseQuestion(body);
  if (question === undefined) return toFailureResponse(400, "the body is not a valid generateContent request");
  // Without the tool, the model would make up a response.
  const tool = findGoogleTool(body);
  if (tool !== undefined) return toFailureResponse(400, `the tool ${tool} only works with Google's models`);
  const reply = await sendQuestion(question, modelId, call);
  if (!reply.ok || reply.body === null) return toFailureResponse(reply.status, readErrorText(await reply.text()));
  const chunks = translateStream(reply.body, isMessages(modelId) ? createMessagesTranslator() : createChatTranslator());
  if (isStreamed) return new Response(toStream(chunks), { headers: { "content-type": "text/event-stream" } });
  const all: GeminiChunk[] = [];
  try {
    for await (const chunk of chunks) all.push(chunk);
  } catch (error) {
    return toFailureResponse(502, String(error));
  }
  return Response.json(mergeChunks(all));
}

const isMessages = (modelId: string): boolean => /^(anthropic|bedrock)\//.test(modelId);

const sendQuestion = (question: Question, modelId: string, call: CallModel): Promise<Response> =>
  isMessages(modelId)
    ? call("/anthropic/v1/messages", toMessagesRequest(question, modelId), { "anthropic-version": "2023-06-01" })
    : call("/openai/v1/chat/completions", toChatRequest(question, modelId));

async function* translateStream(
  stream: ReadableStream<Uint8Array>,
  translator: Translator,
): AsyncGenerator<GeminiChunk> {
  for await (const data of readEvents(stream)) {
    if (data !== "[DONE]") yield* translator.translate(JSON.parse(data));
  }
  yield translator.end();
}

/** Reads the data of each event of a stream. */
async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const events = (rest + decoder.decode(bytes, { stream: true })).split(/\r?\n\r?\n/);
    rest = events.pop() ?? "";
    yield* events.flatMap(readDataLines);
  }
  yield* readDataLines(rest);
}

function readDataLines(event: string): string[] {
  const lines = event.split(/\r?\n/).filter((line) => line.startsWith("data:"));
  return lines.length === 0 ? [] : [lines.map((line) => line.slice("data:".length).trim()).join("\n")];
}

function toStream(chunks: AsyncGenerator<GeminiChunk>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const event = (data: unknown) => encoder.encode(`data: ${JSON.stringify(data)}\r\n\r\n`);
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(event(value));
      } catch (error) {
        controller.enqueue(event(toErrorBody(502, String(error))));
        controller.close();
      }
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}

const STATUS: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
};

const toErrorBody = (code: number, message: string) => ({
  error: { code, message, status: STATUS[code] ?? "INTERNAL" },
});

const toFailureResponse = (code: number, message: string): Response =>
  Response.json(toErrorBody(code, message), { status: code });

function readErrorText(text: string): string {
  try {
    const { error } = Object(JSON.parse(text));
    return String(Object(error).message ?? text);
  } catch {
    return text;
  }
}
