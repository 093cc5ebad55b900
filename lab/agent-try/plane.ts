import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import * as v from "valibot";
import { Message } from "../../shared/wire/conversation.ts";
import { type Envelope, FinishTaskRequest, type ResolvePromptResponse } from "../../shared/wire/harness.ts";
import type { Provider } from "./providers.ts";

export interface PlaneOptions {
  readonly prompt: string;
  readonly model: string;
  readonly repository: string;
  readonly provider: Provider;
  readonly onMessage: (message: Message) => void;
}

const Messages = v.object({ first_sequence: v.number(), messages: v.array(Message) });
const Artifact = v.object({ data: v.object({ filepath: v.string() }) });

/**
 * The parts of a control plane that one execution needs, with direct access to the model's provider instead of the
 * gateway.
 */
export async function startPlane(options: PlaneOptions) {
  const { onMessage, provider } = options;
  const files = new Map<string, string>();
  const envelope = { run_id: randomUUID(), execution_id: randomUUID(), key: `ryr_${randomUUID().replaceAll("-", "")}` };
  let outcome: FinishTaskRequest | undefined;
  let calls = 0;
  let origin = "";

  const respondTo = (path: string, body: string): unknown => {
    switch (path.split("/").at(-1)) {
      case "resolve-prompt":
        return resolved(options, envelope);
      case "messages": {
        const { first_sequence, messages } = v.parse(Messages, JSON.parse(body));
        messages.forEach(onMessage);
        return { next_sequence: first_sequence + messages.length };
      }
      case "heartbeat":
        return { followups: [], cancel: false, next_heartbeat_seconds: 10 };
      case "report-artifact": {
        const { filepath } = v.parse(Artifact, JSON.parse(body)).data;
        if (files.has(filepath)) return { artifact_uid: filepath };
        const url = `${origin}/upload/${encodeURIComponent(filepath)}`;
        return { artifact_uid: filepath, upload: { url, method: "PUT", headers: {} } };
      }
      case "finish-task":
        outcome = v.parse(FinishTaskRequest, JSON.parse(body));
        return {};
      case "client-events":
      case "report-shutdown":
        return {};
      default:
        return undefined;
    }
  };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const body = Buffer.concat(chunks).toString();
    const path = request.url ?? "/";
    if (path.startsWith("/upload/")) {
      files.set(decodeURIComponent(path.slice("/upload/".length)), body);
      response.end();
      return;
    }
    if (request.headers.authorization !== `Bearer ${envelope.key}`) return void response.writeHead(401).end();
    const [, model] = /^\/model\/(?:anthropic|openai)(\/v1\/.+)$/.exec(path) ?? [];
    if (model !== undefined) {
      calls++;
      return await passOn(provider, model, body, response);
    }
    const result = respondTo(path, body);
    // Without snapshots the workspace is not saved, and an execution that is not cut needs none.
    response.writeHead(result === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(result ?? {}));
  };
  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the control plane does not listen");
  origin = `http://127.0.0.1:${address.port}`;
  return {
    envelope: {
      version: 1,
      base_url: `${origin}/api/v1`,
      model_url: `${origin}/model`,
      ...envelope,
    } satisfies Envelope,
    files,
    outcome: () => outcome,
    calls: () => calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function resolved(
  { prompt, model, repository }: PlaneOptions,
  { run_id, execution_id }: { run_id: string; execution_id: string },
) {
  return {
    prompt,
    context: {
      run_id,
      execution_id,
      conversation_id: run_id,
      title: "A task to try an agent with",
      mode: "normal",
      agent_config: { model_id: model, repositories: [{ url: `file://${repository}` }] },
      attachments: [],
      messages: [],
      next_sequence: 1,
      followups: [],
      next_heartbeat_seconds: 10,
    },
  } satisfies ResolvePromptResponse;
}

/** The provider knows its model by the name behind the slash. */
async function passOn({ url, headers }: Provider, path: string, body: string, response: ServerResponse): Promise<void> {
  const request = v.parse(v.looseObject({ model: v.string() }), JSON.parse(body));
  const result = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", ...headers },
    body: JSON.stringify({ ...request, model: request.model.slice(request.model.indexOf("/") + 1) }),
  });
  const retryAfter = result.headers.get("retry-after");
  response.writeHead(result.status, {
    "content-type": result.headers.get("content-type") ?? "application/json",
    ...(retryAfter === null ? {} : { "retry-after": retryAfter }),
  });
  if (result.body === null) response.end();
  else Readable.fromWeb(result.body).pipe(response);
}
