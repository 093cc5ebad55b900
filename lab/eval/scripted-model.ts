import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import * as v from "valibot";
import type { Task } from "./tasks.ts";

const Request = v.looseObject({
  model: v.string(),
  messages: v.array(v.looseObject({ role: v.string() })),
});

export interface ScriptedModel extends AsyncDisposable {
  /** The address of the API, before `/chat/completions`. */
  readonly url: string;
}

/**
 * A server with OpenAI's Chat Completions whose models are tasks: the model with a task's name returns the scripted response that
 * follows the responses in the request, so that a repeated request gets the same one.
 */
export async function startScriptedModel(tasks: readonly Task[]): Promise<ScriptedModel> {
  const scripts = new Map(tasks.map((task) => [task.name, task]));
  const server = createServer((request, response) => {
    void serve(request, response, scripts).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the scripted model does not listen");
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, scripts: ReadonlyMap<string, Task>) {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  const respond = (status: number, body: unknown) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  if (request.url !== "/v1/chat/completions") return respond(404, { error: { message: "no such path" } });
  const { model, messages } = v.parse(Request, JSON.parse(text));
  const task = scripts.get(model);
  if (task === undefined) return respond(404, { error: { message: `no script for the model ${model}` } });
  return respond(200, { ...createResponse(task, messages.filter(({ role }) => role === "assistant").length), model });
}

function createResponse({ name, steps, report }: Task, number: number) {
  const calls = (steps[number] ?? []).map(({ tool, input }, index) => ({
    id: `call_${number}_${index}`,
    type: "function",
    function: { name: tool, arguments: JSON.stringify(input) },
  }));
  const message = calls.length === 0 ? { content: report } : { content: null, tool_calls: calls };
  return {
    id: `chatcmpl-${name}-${number}`,
    object: "chat.completion",
    created: 1,
    choices: [
      {
        index: 0,
        message: { role: "assistant", ...message },
        finish_reason: calls.length === 0 ? "stop" : "tool_calls",
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  };
}
