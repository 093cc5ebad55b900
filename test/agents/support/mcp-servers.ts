/** An MCP server over standard streams, whose description of its tool has the value of a variable. */
const SERVER = `
  process.stdin.setEncoding("utf8").on("data", (text) => text.split("\\n").filter(Boolean).forEach((line) => {
    const { id, method, params } = JSON.parse(line);
    const answer = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "box", version: "1" } },
      "tools/list": { tools: [{ name: "weigh", description: "weighs " + process.env.BOX, inputSchema: { type: "object" } }] },
    }[method] ?? {};
    if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: answer }) + "\\n");
  }));`;

/** The MCP servers of a run: one, with the tool `weigh`. */
export const mcp_servers = { box: { command: "node", args: ["-e", SERVER], env: { BOX: "the-one-box" } } };
