import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { McpPorts } from "#shared/mcp/tool.ts";
import { createRunNowPorts } from "./schedules.ts";

/** The ports of the MCP server, whose tools do what the endpoints of runs and of schedules do. */
export const createMcpPorts = (): McpPorts & HttpPorts => createRunNowPorts();
