import { repairInput } from "../../engine/repair-input.ts";
import type { Tool } from "../../engine/tool.ts";
import { createRoom } from "../../support/text-limits.ts";
import { createCallMcpTool, type McpToolOptions, toKey } from "./call-mcp-tool.ts";
import type { McpTool } from "./mcp-connection.ts";
import { createMcpReaders } from "./mcp-readers.ts";
import type { McpServer } from "./mcp-servers.ts";

/** The most tools of all servers that are offered as tools of their own; more are searched. */
const MAX_OWN_TOOLS = 40;
/** The largest definition of such a tool, and the most of all definitions: each request to a model has them. */
const DEFINITION_BYTES = 16 * 1024;
const DEFINITIONS_BYTES = 128 * 1024;
/** What all providers accept as the name of a tool, and of a member of its input. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const COMBINED = ["anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const"];

/** Creates the tools of a run's MCP servers: each tool of its own if there are few, the one that calls all of them, and readers. */
export function createMcpTools(servers: readonly McpServer[], options: McpToolOptions): Tool[] {
  const listed = servers.flatMap((server) =>
    "connection" in server ? toOffers(server.name, server.connection.tools) : [],
  );
  const usable = listed.filter(({ tool }) => !options.readsOnly || tool.annotations?.readOnlyHint === true);
  const fits = createRoom(DEFINITIONS_BYTES);
  const own =
    usable.length > MAX_OWN_TOOLS ? [] : usable.filter((offer) => isOfferable(offer, usable) && fits(offer.tool));
  const call = createCallMcpTool(servers, { ...options, own: new Set(own.map(({ key }) => key)) });
  return [call, ...own.map((offer) => createOwnTool(offer, call, options)), ...createMcpReaders(servers, options)];
}

interface Offer {
  readonly name: string;
  readonly server: string;
  readonly tool: McpTool;
  /** Tells it from the tools of other servers. */
  readonly key: string;
}

const toOffers = (server: string, tools: readonly McpTool[]): Offer[] =>
  tools.map((tool) => ({ name: `mcp__${server}__${tool.name}`, server, tool, key: toKey(server, tool.name) }));

/** One definition that a provider refuses would fail each request of the run. */
function isOfferable({ name, tool }: Offer, all: readonly Offer[]): boolean {
  const members = Object.keys(tool.inputSchema.properties ?? {});
  return (
    NAME.test(name) &&
    all.filter((other) => other.name === name).length === 1 &&
    members.every((member) => NAME.test(member)) &&
    Buffer.byteLength(JSON.stringify(tool)) <= DEFINITION_BYTES
  );
}

/** Its calls are calls of `call_mcp_tool`, which clients know, and which a conversation can show without the server. */
function createOwnTool({ name, server, tool }: Offer, call: Tool, { redactor }: McpToolOptions): Tool {
  const inputSchema = redactor.json(toPlainSchema(tool.inputSchema));
  const isReader = tool.annotations?.readOnlyHint === true;
  const toInput = (input: unknown) => ({ server, tool: tool.name, arguments: repairInput(input, inputSchema) });
  return {
    name,
    description: redactor.text(tool.description?.trim() || `Calls ${tool.name} of the MCP server ${server}.`),
    inputSchema,
    category: "integration",
    readsOnly: isReader,
    parallel: isReader,
    via: { tool: call, toInput },
    run: (input, context) => call.run(toInput(input), context),
  };
}

/** Providers accept no combination of schemas at the top. The server checks the arguments in any case. */
const toPlainSchema = (schema: McpTool["inputSchema"]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries({ properties: {}, ...schema }).filter(([name]) => !COMBINED.includes(name) && name !== "$schema"),
  );
