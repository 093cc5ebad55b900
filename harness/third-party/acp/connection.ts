import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { ProcessTransport } from "../../tools/remote/mcp-process.ts";

/** The codes of JSON-RPC. */
const METHOD_NOT_FOUND = -32_601;
const INTERNAL_ERROR = -32_603;

export interface Handlers {
  /** Returns the result of a request of the agent; undefined for a method that is not supported. */
  request(method: string, params: unknown): object | undefined;
  notification(method: string, params: unknown): void;
}

/** A connection to an agent that speaks the Agent Client Protocol over its standard input and output. */
export interface Connection {
  /** @throws what the agent responds as an error, that it has ended, or the signal's reason */
  request(method: string, params: object, signal: AbortSignal): Promise<unknown>;
  notify(method: string, params: object): Promise<void>;
}

/** Starts the agent. Its requests for unknown methods are refused, so that it does without. */
export async function connectAgent(transport: ProcessTransport, handlers: Handlers): Promise<Connection> {
  const pending = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  let count = 0;
  let hasEnded = false;
  const toEnd = () => {
    const output = transport.lastOutput();
    return new Error(output === "" ? "the agent has ended" : `the agent has ended: ${output}`);
  };
  transport.onclose = () => {
    hasEnded = true;
    for (const { reject } of pending.values()) reject(toEnd());
    pending.clear();
  };
  transport.onmessage = (message) => {
    if ("method" in message) {
      if ("id" in message) void transport.send(respond(message, handlers)).catch(() => {});
      else handlers.notification(message.method, message.params);
      return;
    }
    const call = pending.get(Number(message.id));
    pending.delete(Number(message.id));
    if ("result" in message) call?.resolve(message.result);
    else call?.reject(new Error(`the agent refused: ${message.error.message}`));
  };
  await transport.start();
  return {
    async request(method, params, signal) {
      signal.throwIfAborted();
      if (hasEnded) throw toEnd();
      const id = ++count;
      const response = new Promise<unknown>((resolve, reject) => {
        pending.set(id, { resolve, reject });
        signal.addEventListener("abort", () => reject(toError(signal.reason)), { once: true });
      });
      // The agent may end before it has read the request, or never read it; the response says so.
      void transport.send({ jsonrpc: "2.0", id, method, params: { ...params } }).catch(() => {});
      return await response.finally(() => pending.delete(id));
    },
    notify: (method, params) => transport.send({ jsonrpc: "2.0", method, params: { ...params } }),
  };
}

type Request = Extract<JSONRPCMessage, { readonly id: string | number; readonly method: string }>;

function respond({ id, method, params }: Request, handlers: Handlers): JSONRPCMessage {
  try {
    const result = handlers.request(method, params);
    if (result !== undefined) return { jsonrpc: "2.0", id, result: { ...result } };
    return { jsonrpc: "2.0", id, error: { code: METHOD_NOT_FOUND, message: `${method} is not supported` } };
  } catch (error) {
    return { jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message: toError(error).message } };
  }
}

const toError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));
