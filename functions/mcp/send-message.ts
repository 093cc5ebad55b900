import { admitKeysOnly } from "#shared/http/admit-keys-only.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { NO_CONTENT } from "#shared/http/response.ts";
import { handleMessage, refuseVersion } from "#shared/mcp/handle-message.ts";
import type { McpPorts } from "#shared/mcp/tool.ts";
import { McpMessage, McpResponse } from "#shared/wire/mcp/message.ts";

/**
 * POST /mcp: sends a message to the MCP server and returns its response. The transport is Streamable HTTP without
 * sessions. Agents and editors start, read and steer runs with the tools of this server. A tool needs the scope of the
 * endpoint that it stands for; without it, the tool returns an error. A notification returns 202. Only API keys are
 * accepted, no web session.
 */
export const sendMessage = endpoint({
  request: { body: McpMessage },
  reply: { 200: McpResponse, 202: NO_CONTENT },
  admit: admitKeysOnly,
  async run({ body, header, principal, authenticateAgain, recordAs }, ports: McpPorts) {
    refuseVersion(header("mcp-protocol-version"));
    const response = await handleMessage(body, { principal, header, authenticateAgain, recordAs }, ports);
    return response === undefined ? { status: 202 } : { status: 200, body: response };
  },
});
