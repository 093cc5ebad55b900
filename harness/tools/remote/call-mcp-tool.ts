import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import * as v from "valibot";
import { defineTool, type Tool, type ToolImage, type ToolResult } from "../../engine/tool.ts";
import type { Redactor } from "../../redaction/redactor.ts";
import { formatError } from "../../support/stop.ts";
import { cutBytes } from "../../support/text-limits.ts";
import { findStepEnd, type StepTimes } from "../../support/time-slice.ts";
import { createSignalAt } from "../../support/timers.ts";
import { truncateText } from "../../support/truncate.ts";
import { readImage } from "../images.ts";
import type { McpConnection, McpTool } from "./mcp-connection.ts";
import type { McpServer } from "./mcp-servers.ts";

export interface McpToolOptions {
  readonly redactor: Redactor;
  /** Whether only tools that their servers mark as read-only may be used. */
  readonly readsOnly: boolean;
  readonly slice: StepTimes;
  /** The keys of tools that are offered as tools of their own. @default none are */
  readonly own?: ReadonlySet<string>;
}

/** The total size of the descriptions of all tools; further tools are listed by name only. */
const DESCRIPTION_BYTES = 24 * 1024;
/** The largest description of one tool, including the schema of its arguments. */
const TOOL_BYTES = 4 * 1024;
/** The text of one result. */
export const TEXT_BYTES = 48 * 1024;
const OUT_OF_TIME = "the call was ended, because its sandbox had no time left";

/** Tells a tool from those of other servers. */
export const toKey = (server: string, tool: string): string => `${server}\n${tool}`;

/** The most tools that a search returns. */
const MAX_FOUND = 10;

/** Creates the tool that calls all tools of the run's MCP servers; design/decisions says what it is for. */
export function createCallMcpTool(servers: readonly McpServer[], options: McpToolOptions): Tool {
  const { redactor, readsOnly, slice, own = new Set() } = options;
  const usable = (tool: McpTool) => !readsOnly || tool.annotations?.readOnlyHint === true;
  const isUsable = (name: string, tools: readonly McpTool[]) =>
    !readsOnly || tools.some((tool) => tool.name === name && usable(tool));
  return defineTool({
    name: "call_mcp_tool",
    description: redactor.text(describeServers(servers, usable, own)),
    category: "integration",
    readsOnly,
    input: v.object({
      server: v.pipe(v.string(), v.description("The server's name.")),
      tool: v.optional(v.pipe(v.string(), v.description("The tool's name. Omit it to list the server's tools."))),
      query: v.optional(
        v.pipe(
          v.string(),
          v.description("Instead of a tool: words to find in the names and descriptions of the server's tools."),
        ),
      ),
      arguments: v.optional(v.pipe(v.record(v.string(), v.unknown()), v.description("Must match the tool's schema."))),
    }),
    async run({ server: name, tool, query, arguments: input = {} }, call) {
      const connection = findConnection(name, servers);
      const over = createSignalAt(findStepEnd(slice));
      const signal = AbortSignal.any([call.signal, over]);
      if (tool !== undefined && !isUsable(tool, connection.tools))
        throw new Error(`${tool} may change something, which this run's mode does not allow`);
      try {
        if (tool !== undefined) return toToolResult(await connection.call(tool, input, signal));
        const tools = findTools((await connection.listTools(signal)).filter(usable), query);
        return {
          output: { tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })) },
        };
      } catch (error) {
        call.signal.throwIfAborted();
        throw new Error(`${name}: ${over.aborted ? OUT_OF_TIME : formatError(error)}`);
      }
    },
  });
}

function findConnection(name: string, servers: readonly McpServer[]): McpConnection {
  const server = servers.find((one) => one.name === name);
  if (server === undefined)
    throw new Error(`there is no server ${name}; available servers: ${servers.map((one) => one.name).join(", ")}`);
  if ("unavailable" in server) throw new Error(`the server ${name} is not available: ${server.unavailable}`);
  return server.connection;
}

/** The tools whose names and descriptions have most of the words, best first. */
function findTools(tools: readonly McpTool[], query: string | undefined): readonly McpTool[] {
  const words = (query ?? "").toLowerCase().match(/[\p{L}\p{N}]{3,}|\p{N}+/gu) ?? [];
  if (words.length === 0) return tools;
  const found = tools.map((tool) => {
    const [name, text] = [tool.name.toLowerCase(), (tool.description ?? "").toLowerCase()];
    const score =
      words.filter((word) => name.includes(word)).length * 2 + words.filter((word) => text.includes(word)).length;
    return { tool, score };
  });
  return found
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, MAX_FOUND)
    .map(({ tool }) => tool);
}

function describeServers(
  servers: readonly McpServer[],
  usable: (tool: McpTool) => boolean,
  own: ReadonlySet<string>,
): string {
  const head = `Calls a tool of one of this run's MCP servers and returns its result. Pass only the server to list its tools with their schemas, \
with a query to search them.${own.size === 0 ? "" : " Tools whose names begin with mcp__ are called directly instead."} `;
  let room = DESCRIPTION_BYTES;
  const parts = servers.map((server) => {
    if ("unavailable" in server) return `Server ${server.name} is not available: ${server.unavailable}`;
    const others = server.connection.tools.filter((tool) => usable(tool) && !own.has(toKey(server.name, tool.name)));
    if (others.length === 0 && server.connection.tools.some(usable))
      return `Server ${server.name}: all tools begin with mcp__${server.name}__`;
    const lines = others.map((tool) => {
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
    : `${cutBytes(line, TOOL_BYTES)} [... truncated: list the server's tools]`;
}

/** Converts the result for the model: texts, and a description of images and audio. */
function toToolResult({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text] : []));
  const read = content.flatMap((part) => (part.type === "text" ? [] : [readPart(part)]));
  const others = read.map(({ described }) => described);
  const images = read.flatMap(({ image }) => image ?? []);
  const text = texts.join("\n");
  return {
    isError: isError === true,
    ...(images.length === 0 ? {} : { images }),
    output: {
      ...(texts.length === 0 ? {} : { text: truncateText(text, TEXT_BYTES) }),
      ...(others.length === 0 ? {} : { others }),
      // Servers repeat structured content as text.
      ...(structuredContent === undefined || texts.length > 0 ? {} : { data: structuredContent }),
    },
  };
}

type Part = Exclude<CallToolResult["content"][number], { type: "text" }>;

/** An image for the model, and what else there is for the conversation. */
function readPart(part: Part): { readonly described: Record<string, unknown>; readonly image?: ToolImage | undefined } {
  const read = part.type === "image" ? readImage(part.data) : undefined;
  return read === undefined ? { described: describePart(part) } : { described: { ...read.facts }, image: read.image };
}

export function describePart(part: Part): Record<string, unknown> {
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
