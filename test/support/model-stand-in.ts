import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { createEvents, createModelResponse, type Shape, type Turn } from "./model-shapes.ts";

/** A request as the provider saw it. */
export interface SeenCall {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: tests look into requests of every shape.
  readonly body: any;
}

/**
 * Stands in for the model providers: Anthropic's Messages API, OpenAI's Chat Completions and Responses, and Amazon Bedrock.
 * It supports streaming and tool calls in each API's format. A test scripts it turn by turn; by default, a turn says hello.
 */
export class ModelStandIn implements AsyncDisposable {
  readonly seen: SeenCall[] = [];
  /** The next turns, one for each request. A function returns the turn for its request. */
  readonly turns: (Turn | ((call: SeenCall) => Turn))[] = [];
  /** The turn of each request after the last of `turns`. */
  otherwise: Turn | ((call: SeenCall) => Turn) = {};
  /** Open requests, and the most there have been at a time. */
  open = 0;
  mostOpen = 0;
  /** Responses whose caller disconnected before their end. */
  hungUp = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => void this.#serve(request, response));
  }

  static async start(): Promise<ModelStandIn> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new ModelStandIn(server);
  }

  /** Address of each provider, in the place of `https://api.anthropic.com`, `https://api.openai.com/v1` and so on. */
  get anthropicUrl(): string {
    return this.#url;
  }
  get openaiUrl(): string {
    return `${this.#url}/v1`;
  }
  get bedrockUrl(): string {
    return this.#url;
  }

  get #url(): string {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("the stand-in does not listen");
    return `http://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    // Descriptions of a server's models, which a stand-in does not have.
    if (request.method === "GET" || request.url?.endsWith("/api/show") === true)
      return send(response, 404, {}, JSON.stringify({ error: { message: "no such path" } }));
    const call: SeenCall = { path: request.url ?? "/", headers: request.headers, body: JSON.parse(text || "null") };
    this.seen.push(call);
    this.open += 1;
    this.mostOpen = Math.max(this.mostOpen, this.open);
    response.on("close", () => {
      this.open -= 1;
      if (!response.writableFinished) this.hungUp += 1;
    });
    const scripted = this.turns.shift() ?? this.otherwise;
    await respond(call, typeof scripted === "function" ? scripted(call) : scripted, response);
  }
}

async function respond(call: SeenCall, turn: Turn, response: ServerResponse): Promise<void> {
  await turn.after;
  if (turn.dead) return void response.destroy();
  const shape = findShape(call.path);
  if (shape === undefined) return send(response, 404, {}, JSON.stringify({ error: { message: "no such path" } }));
  if (turn.status !== undefined && turn.status !== 200) {
    return send(response, turn.status, turn.headers ?? {}, turn.raw ?? JSON.stringify(createError(shape, turn.status)));
  }
  const streamed = call.body?.stream === true || call.path.endsWith("/invoke-with-response-stream");
  if (!streamed || (turn.raw !== undefined && turn.cutAfter === undefined)) {
    if (turn.pauseMs !== undefined) await sleep(turn.pauseMs);
    return send(
      response,
      200,
      turn.headers ?? {},
      turn.raw ?? JSON.stringify(createModelResponse(shape, call.body, turn)),
    );
  }
  const framed = shape === "bedrock";
  const type = framed ? "application/vnd.amazon.eventstream" : "text/event-stream; charset=utf-8";
  response.writeHead(200, { "content-type": type, ...turn.headers });
  const events = createEvents(shape, call.body, turn);
  const textEnd = 1 + events.findLastIndex(({ data }) => TEXT_DELTA.test(JSON.stringify(data)));
  for (const [index, event] of events.entries()) {
    if (index === textEnd) await turn.textHeldUntil;
    if (turn.pauseMs !== undefined) await sleep(turn.pauseMs);
    if (index === turn.cutAfter) return void response.destroy();
    response.write(framed ? frame(event) : text(event));
  }
  response.end();
}

const TEXT_DELTA = /"text_delta"|"response\.output_text\.delta"|"delta":\{"content"/;

function send(response: ServerResponse, status: number, headers: Readonly<Record<string, string>>, body: string): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}

function findShape(called: string): Shape | undefined {
  // The paths of the model gateway, for callers that use the stand-in in its place.
  const path = called.replace(/^\/(anthropic|openai)(?=\/v1\/)/, "");
  if (path === "/v1/messages") return "messages";
  if (path === "/v1/chat/completions") return "chat";
  if (path === "/v1/responses") return "responses";
  return /^\/model\/[^/]+\/invoke(-with-response-stream)?$/.test(path) ? "bedrock" : undefined;
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  429: "rate_limit_error",
  529: "overloaded_error",
};

function createError(shape: Shape, status: number): unknown {
  const type = ERROR_TYPES[status] ?? "api_error";
  const message = `the stand-in returns ${status}`;
  if (shape === "bedrock") return { message };
  return shape === "messages"
    ? { type: "error", error: { type, message }, request_id: "req_1" }
    : { error: { message, type, param: null, code: null } };
}

const text = ({ event, data }: { event?: string; data: unknown }): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/** Encodes an event in AWS's framing (`application/vnd.amazon.eventstream`): lengths, headers and payload with checksums. */
function frame({ data }: { data: unknown }): Uint8Array {
  const bytes = Buffer.from(JSON.stringify(data)).toString("base64");
  return encodeFrame({ ":message-type": "event", ":event-type": "chunk" }, { bytes });
}

/** Encodes an exception in the middle of a stream of AWS. */
export const frameException = (type: string, message: string): Uint8Array =>
  encodeFrame({ ":message-type": "exception", ":exception-type": type }, { message });

function encodeFrame(names: Readonly<Record<string, string>>, json: object): Uint8Array {
  const all = { ...names, ":content-type": "application/json" };
  const headers = Buffer.concat(Object.entries(all).map(([name, value]) => header(name, value)));
  const payload = Buffer.from(JSON.stringify(json));
  const lengths = Buffer.concat([uint32(16 + headers.length + payload.length), uint32(headers.length)]);
  const framed = Buffer.concat([lengths, uint32(crc32(lengths)), headers, payload]);
  return Buffer.concat([framed, uint32(crc32(framed))]);
}

const TEXT_HEADER = 7;

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(value.length);
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([TEXT_HEADER]),
    length,
    Buffer.from(value),
  ]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
