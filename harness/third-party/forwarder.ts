import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createTextReader } from "../agent/dialects/text-deltas.ts";
import type { ModelRetry } from "../reporting/retry-reporter.ts";
import { formatError } from "../support/stop.ts";
import { type CommandOutput, OUTPUT_PATH, parseCommandOutput } from "./command-output.ts";
import { type CallModel, respondAsGemini } from "./gemini-api.ts";

export interface ForwarderOptions {
  /** Path of the Unix socket that it listens on; commands reach it there. */
  readonly socket: string;
  /** Address of the model gateway. */
  readonly modelUrl: string;
  /** The run's key, which commands must not see. */
  readonly key: string;
  /** Id of the model for every call, regardless of the model that the agent names. */
  readonly modelId: string;
  /** Called when a call has failed that the agent may repeat. */
  readonly onRetry: (retry: ModelRetry) => void;
  /** Receives the text of a response while it arrives. */
  readonly onText?: (text: string) => void;
  /** Receives output of the agent's commands while they run. */
  readonly onOutput?: (output: CommandOutput) => void;
}

/** Forwards the model calls of a third-party agent to the model gateway. */
export interface Forwarder extends AsyncDisposable {
  readonly socket: string;
}

const PATHS = ["/anthropic/v1/messages", "/openai/v1/chat/completions", "/openai/v1/responses"];

/** The headers that a call passes to its API. */
const PASSED_ON = ["anthropic-version", "anthropic-beta", "openai-beta"];
const GEMINI = "/gemini/";
/** The gateway refuses larger calls anyway. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Serves the paths of the model gateway, and one for the output of commands, on a Unix socket and adds the run's key. Every call uses the run's model: for
 * small tasks agents name smaller models of their provider, which a deployment may not have.
 */
export async function openForwarder(options: ForwarderOptions): Promise<Forwarder> {
  const { socket, modelUrl, key, modelId, onRetry, onText = () => {} } = options;
  const over = new AbortController();
  const base = modelUrl.replace(/(?<!\/)\/+$/, "");
  const watch = watchFailures(onRetry);
  const call: CallModel = async (path, body, headers = {}) => {
    const upstreamResponse = await watch(
      fetch(`${base}${path}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", "x-api-key": key },
        body: JSON.stringify(body),
        signal: over.signal,
      }),
    );
    return hasTools(body) ? readAlong(upstreamResponse, onText) : upstreamResponse;
  };
  const server = createServer((request, response) => {
    void serve(request, response, { call, modelId, onOutput: options.onOutput }).catch((error: unknown) => {
      // The agent detects a response that ends early.
      if (response.headersSent) response.destroy();
      else refuse(response, 502, `the model gateway could not be reached: ${String(error)}`);
    });
  });
  server.listen(socket);
  await once(server, "listening");
  return {
    socket,
    async [Symbol.asyncDispose]() {
      over.abort();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const isRepeatable = (status: number): boolean => [408, 409, 429].includes(status) || status >= 500;

/** Reports each failed call with the number of failures in a row. */
function watchFailures(
  onRetry: ForwarderOptions["onRetry"],
): (upstreamResponse: Promise<Response>) => Promise<Response> {
  let failures = 0;
  const report = (reason: string) => onRetry({ attempt: ++failures, reason });
  return async (upstreamResponse) => {
    try {
      const response = await upstreamResponse;
      if (isRepeatable(response.status)) report(`status ${response.status}`);
      else failures = 0;
      return response;
    } catch (error) {
      report(formatError(error));
      throw error;
    }
  };
}

/** Calls without tools are side tasks of an agent, such as titles and summaries. */
const hasTools = (body: unknown): boolean =>
  typeof body === "object" && body !== null && "tools" in body && Array.isArray(body.tools) && body.tools.length > 0;

/** Returns the same response, whose text is also reported while it is read. */
function readAlong(upstreamResponse: Response, onText: (text: string) => void): Response {
  const { body, headers, status } = upstreamResponse;
  if (body === null || !headers.get("content-type")?.startsWith("text/event-stream")) return upstreamResponse;
  const readPiece = createTextReader(onText);
  const decoder = new TextDecoder();
  const along = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      readPiece(decoder.decode(chunk, { stream: true }));
      controller.enqueue(chunk);
    },
  });
  return new Response(body.pipeThrough(along), { status, headers });
}

interface Service extends Pick<ForwarderOptions, "modelId"> {
  readonly call: CallModel;
  readonly onOutput: ForwarderOptions["onOutput"];
}

async function serve(request: IncomingMessage, response: ServerResponse, { call, modelId, onOutput }: Service) {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  const path = PATHS.find((known) => known === pathname);
  const isKnown = path !== undefined || pathname === OUTPUT_PATH || pathname.startsWith(GEMINI);
  if (request.method !== "POST" || !isKnown)
    return refuse(response, 404, `${request.method} ${pathname} is not supported`);
  const body = await readBody(request);
  if (body === undefined) return refuse(response, 400, "the body must be a JSON object of at most 8 MiB");
  if (pathname === OUTPUT_PATH) {
    const output = parseCommandOutput(body);
    if (output !== undefined) onOutput?.(output);
    return void response.writeHead(output === undefined ? 400 : 204).end();
  }
  if (path === undefined) return await send(await respondAsGemini(pathname, body, modelId, call), response);
  const headers = PASSED_ON.flatMap((name) => {
    const value = request.headers[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  await send(await call(path, { ...body, model: modelId }, Object.fromEntries(headers)), response);
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const piece = Buffer.from(chunk);
    bytes += piece.length;
    if (bytes <= MAX_BYTES) chunks.push(piece);
  }
  if (bytes > MAX_BYTES) return undefined;
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    return typeof body === "object" && body !== null && !Array.isArray(body) ? { ...body } : undefined;
  } catch {
    return undefined;
  }
}

/** The response headers that are passed to the agent; the body is already decoded. */
const SHOWN = /^(content-type|retry-after(-ms)?|x-should-retry|request-id|x-request-id|runyard-dropped)$/;

async function send(upstreamResponse: Response, response: ServerResponse): Promise<void> {
  response.writeHead(
    upstreamResponse.status,
    Object.fromEntries([...upstreamResponse.headers].filter(([name]) => SHOWN.test(name))),
  );
  if (upstreamResponse.body === null) response.end();
  else await pipeline(Readable.fromWeb(upstreamResponse.body), response);
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { type: "invalid_request_error", code: status, message } }));
}
