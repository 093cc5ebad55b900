import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import * as v from "valibot";
import { defineTool, type Tool, type ToolResult } from "../../engine/tool.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { messageOf } from "../../support/stop.ts";
import { cutBytes } from "../../support/text-limits.ts";
import type { McpConnection, McpTool } from "./mcp-connection.ts";
import type { McpServer } from "./mcp-servers.ts";

export interface McpToolOptions {
  readonly redactor: Redactor;
  /** Whether only tools may be used that their servers say change nothing. */
  readonly readsOnly: boolean;
}

/** Bytes that the descriptions of all tools have; of those beyond only the names are told. */
const DESCRIPTION_BYTES = 24 * 1024;
/** Bytes of the description of one tool, with the schema of its arguments. */
const TOOL_BYTES = 4 * 1024;
const TEXT_BYTES = 48 * 1024;

/** Uses the tools of the run's MCP servers. One tool for all of them: see docs/decisions. */
export function createCallMcpTool(servers: readonly McpServer[], { redactor, readsOnly }: McpToolOptions): Tool {
  const usable = (tool: McpTool) => !readsOnly || tool.annotations?.readOnlyHint === true;
  const isUsable = (name: string, tools: readonly McpTool[]) =>
    !readsOnly || tools.some((tool) => tool.name === name && usable(tool));
  return defineTool({
    name: "call_mcp_tool",
    description: redactor.text(describeServers(servers, usable)),
    category: "integration",
    readsOnly,
    input: v.object({
      server: v.pipe(v.string(), v.description("The server's name.")),
      tool: v.optional(v.pipe(v.string(), v.description("The tool's name. Without it the server's tools are listed."))),
      arguments: v.optional(v.pipe(v.record(v.string(), v.unknown()), v.description("As the tool's schema says."))),
    }),
    async run({ server: name, tool, arguments: input = {} }, { signal }) {
      const connection = findConnection(name, servers);
      if (tool === undefined) {
        const tools = (await connection.listTools(signal)).filter(usable);
        return {
          output: { tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })) },
        };
      }
      if (!isUsable(tool, connection.tools))
        throw new Error(`${tool} may change something, which this run's mode does not allow`);
      try {
        return toToolResult(await connection.call(tool, input, signal));
      } catch (error) {
        signal.throwIfAborted();
        throw new Error(`${name}: ${messageOf(error)}`);
      }
    },
  });
}

function findConnection(name: string, servers: readonly McpServer[]): McpConnection {
  const server = servers.find((one) => one.name === name);
  if (server === undefined)
    throw new Error(`there is no server ${name}; there are ${servers.map((one) => one.name).join(", ")}`);
  if ("unavailable" in server) throw new Error(`the server ${name} is not available: ${server.unavailable}`);
  return server.connection;
}

function describeServers(servers: readonly McpServer[], usable: (tool: McpTool) => boolean): string {
  const head =
    "Calls a tool of one of this run's MCP servers and answers its result. Name the server alone to have its tools listed with their schemas. ";
  let room = DESCRIPTION_BYTES;
  const parts = servers.map((server) => {
    if ("unavailable" in server) return `Server ${server.name} is not available: ${server.unavailable}`;
    const lines = server.connection.tools.filter(usable).map((tool) => {
      const line = formatToolLine(tool);
      room -= Buffer.byteLength(line);
      return room < 0 ? `- ${tool.name}` : line;
    });
    return [`Server ${server.name}:`, ...(lines.length === 0 ? ["(no tools)"] : lines)].join("\n");
  });
  return [head, ...parts].join("\n\n");
}

function formatToolLine({ name, description = "", inputSchema }: McpTool): string {
  const { properties = {}, required = [] } = inputSchema;
  const schema = JSON.stringify({ properties, required });
  const line = `- ${name}: ${description.replace(/\s+/g, " ").trim()} Arguments: ${schema}`;
  return Buffer.byteLength(line) <= TOOL_BYTES
    ? line
    : `${cutBytes(line, TOOL_BYTES)} [... cut: list the server's tools]`;
}

/** What a model reads of it: texts whole, of pictures and sounds that they were there. */
function toToolResult({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const others = content.flatMap((part) => (part.type === "text" ? [] : [describePart(part)]));
  const text = texts.join("\n");
  const cut = cutBytes(text, TEXT_BYTES);
  return {
    isError: isError === true,
    output: {
      ...(texts.length === 0 ? {} : { text: cut.length < text.length ? `${cut}\n[... cut ...]` : text }),
      ...(others.length === 0 ? {} : { others }),
      // Servers repeat as a text what they answer as data.
      ...(structuredContent === undefined || texts.length > 0 ? {} : { data: structuredContent }),
    },
  };
}

type Part = Exclude<CallToolResult["content"][number], { type: "text" }>;

function describePart(part: Part): Record<string, unknown> {
  if (part.type === "resource_link") return { type: part.type, uri: part.uri, name: part.name };
  if (part.type === "resource") {
    const { uri } = part.resource;
    return { type: part.type, uri, ...("text" in part.resource ? { text: part.resource.text } : {}) };
  }
  return {
    type: part.type,
    mime_type: part.mimeType,
    size_bytes: Math.floor((part.data.length * 3) / 4),
    left_out: true,
  };
}
