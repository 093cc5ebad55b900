import { Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import * as v from "valibot";
import { APIUserAbortError, type Runyard } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { explain } from "../problem.ts";
import { withExamples } from "./examples.ts";
import { mcpLoginCommand, mcpRefreshCommand } from "./mcp-login.ts";

const Id = v.union([v.string(), v.number()]);
const Message = v.looseObject({
  jsonrpc: v.literal("2.0"),
  id: v.exactOptional(Id),
  method: v.exactOptional(v.string()),
  params: v.exactOptional(v.record(v.string(), v.unknown())),
});
type Message = v.InferOutput<typeof Message>;
const Cancelled = v.object({ method: v.literal("notifications/cancelled"), params: v.object({ requestId: Id }) });

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INTERNAL_ERROR = -32603;

/** `runyard mcp`: the MCP server of the service, for clients that start a program. */
export function mcpCommand(context: Context): CommandUnknownOpts {
  const command = new Command("mcp")
    .description("serve the service's MCP tools on standard input and output, for clients that start a program")
    .action(async () => {
      const client = await context.client();
      const forwarder = createForwarder(client, context);
      const pending = new Set<Promise<void>>();
      for await (const line of context.shell.inputLines()) {
        // Calls that wait for a run must not delay the others.
        const work = forwarder(line).finally(() => pending.delete(work));
        pending.add(work);
      }
      await Promise.all(pending);
    });
  command.addCommand(mcpLoginCommand(context)).addCommand(mcpRefreshCommand(context));
  return withExamples(command, "runyard mcp");
}

/** Sends messages to the service, and prints its responses. */
function createForwarder(client: Runyard, context: Context): (line: string) => Promise<void> {
  const open = new Map<string | number, AbortController>();
  const reply = (id: string | number | null, outcome: object) =>
    context.printJsonLine({ jsonrpc: "2.0", id, ...outcome });
  const fail = (id: string | number | null, code: number, message: string) => reply(id, { error: { code, message } });

  const forward = async (message: Message): Promise<void> => {
    const { id } = message;
    const controller = new AbortController();
    if (id !== undefined) open.set(id, controller);
    try {
      const response = await client.mcp.send(message, { signal: controller.signal });
      // A notification has none.
      if (response !== undefined) context.printJsonLine(response);
    } catch (error) {
      // A request that its client has cancelled has no response.
      if (error instanceof APIUserAbortError) return;
      const text = explain(error, await context.connection()).lines.join("\n");
      if (id === undefined) context.note(text);
      else fail(id, INTERNAL_ERROR, text);
    } finally {
      if (id !== undefined) open.delete(id);
    }
  };

  return async (line) => {
    if (line.trim() === "") return;
    const json = parseJson(line);
    if (json === undefined) return fail(null, PARSE_ERROR, "The line is not JSON.");
    if (!v.is(Message, json)) return fail(null, INVALID_REQUEST, "The line is not a JSON-RPC 2.0 message.");
    if (v.is(Cancelled, json)) return open.get(json.params.requestId)?.abort();
    await forward(json);
  };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
