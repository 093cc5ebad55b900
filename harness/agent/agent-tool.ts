import { Tool as StrandsTool, TextBlock, type ToolContext, ToolResultBlock, type ToolSpec } from "@strands-agents/sdk";
import type { AgentTools, ToolUse } from "../engine/engine.ts";
import type { Tool, ToolResult } from "../engine/tool.ts";
import { findInputFault } from "./dialects/tool-input.ts";
import { formatResult } from "./result-text.ts";
import type { ImageViewer } from "./shown-images.ts";

/** Connects tool calls with the state of the turn. */
export interface Stage {
  readonly tools: AgentTools;
  readonly images: ImageViewer;
  /** Notes that a call begins. Returns the model's text from the response with it; only the first call gets it. */
  begin(id: string): string | undefined;
  ended(name: string, result: ToolResult, use: ToolUse): void;
  /** Ends the turn with this error. */
  broke(error: unknown): void;
}

/** Adapts a tool to the agent loop of the Strands SDK. */
export class AgentTool extends StrandsTool {
  readonly name: string;
  readonly description: string;
  readonly toolSpec: ToolSpec;
  readonly #tool: Tool;
  readonly #stage: Stage;

  constructor(tool: Tool, stage: Stage) {
    super();
    this.name = tool.name;
    this.description = tool.description;
    this.toolSpec = { name: tool.name, description: tool.description, inputSchema: { ...tool.inputSchema } };
    this.#tool = tool;
    this.#stage = stage;
  }

  // biome-ignore lint/correctness/useYield: There are no partial results.
  async *stream({ toolUse }: ToolContext) {
    const { tools, images, begin, ended, broke } = this.#stage;
    const { toolUseId: id } = toolUse;
    const fault = findInputFault(toolUse.input);
    const { via } = this.#tool;
    const [carrier, input] =
      via === undefined || fault !== undefined ? [this.#tool, toolUse.input] : [via.tool, via.toInput(toolUse.input)];
    const tool = fault === undefined ? carrier : createRefusingTool(carrier, fault);
    const reply = begin(id);
    try {
      const use = { id, input, ...(reply === undefined ? {} : { said: reply }) };
      const result = await tools.use(tool, use);
      ended(tool.name, result, use);
      return toResultBlock(id, result, images.show(result.images ?? []));
    } catch (error) {
      broke(error);
      return toResultBlock(id, { isError: true, output: { error: "the turn has ended" } });
    }
  }
}

/** Creates the substitute for a tool that does not exist. */
export const createMissingTool = (name: string, names: readonly string[]): Tool => ({
  ...createRefusingTool(
    { name, description: "", inputSchema: {}, category: "integration", readsOnly: true },
    `there is no tool ${JSON.stringify(name.slice(0, 100))}; ${describeMcpCall(name, names)}available tools: ${names.join(", ")}`,
  ),
});

/** Models use names of the form `mcp__server__tool`, also where tools of MCP servers are only called through `call_mcp_tool`. */
function describeMcpCall(name: string, names: readonly string[]): string {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name.slice(0, 200)) ?? [];
  return server === undefined || !names.includes("call_mcp_tool")
    ? ""
    : `if an MCP server has it, use call_mcp_tool with ${JSON.stringify({ server, tool })}; `;
}

const createRefusingTool = (tool: Omit<Tool, "run">, error: string): Tool => ({
  ...tool,
  run: async () => ({ isError: true, output: { error } }),
});

const toResultBlock = (
  toolUseId: string,
  { output, isError }: ToolResult,
  shown: ReturnType<ImageViewer["show"]> = [],
) =>
  new ToolResultBlock({
    toolUseId,
    status: isError === true ? "error" : "success",
    content: [new TextBlock(formatResult(output)), ...shown],
  });
