import type { AgentWork } from "../engine/agent-context.ts";
import type { AgentEngine } from "../engine/engine.ts";
import { describeNetwork } from "../network/describe-network.ts";
import { ACP_TOOL_LIMITS } from "./acp/agents.ts";
import { createAcpEngine } from "./acp/engine.ts";
import { toMcpServers } from "./agent.ts";
import { describeMissingAgent, type ThirdPartyAgent } from "./agents.ts";
import { createThirdPartyEngine } from "./engine.ts";
import { createSessions } from "./sessions.ts";

/** Creates the engine of a run with a third-party agent: what every agent gets is the same, and its protocol chooses the engine. */
export function makeThirdParty(agent: ThirdPartyAgent, modelId: string, work: AgentWork): AgentEngine {
  const { context, sandbox, secrets, outbox, basePrompt } = work;
  const folder = sandbox.programs;
  if (typeof agent !== "string" && folder === undefined) return createUnavailableEngine(describeMissingAgent(agent));
  const { servers: mcpServers, unavailable } = toMcpServers(
    context.mcp_servers,
    { ...context.variables, ...secrets },
    typeof agent === "string" ? ACP_TOOL_LIMITS : agent.toolLimits,
  );
  for (const detail of unavailable) outbox.event("setup_mcp_servers", { is_error: true, detail });
  const briefing = [writeBriefing(work, unavailable), ...(basePrompt === undefined ? [] : [basePrompt])];
  if (typeof agent === "string" || agent.protocol === "acp")
    return createAcpEngine(agent, { modelId, work, servers: mcpServers, briefing });
  const { conversation_id: conversationId, mode, agent_config } = context;
  return createThirdPartyEngine({
    ...work,
    agent,
    folder: folder ?? "",
    node: sandbox.node,
    modelId,
    reasoningLevel: agent_config.harness?.reasoning_level ?? agent_config.reasoning_level,
    systemPrompt: briefing.join("\n\n"),
    mode,
    mcpServers,
    seen: sandbox.paths,
    sessions: createSessions({ ...work, agent, conversationId, seen: sandbox.paths }),
  });
}

/** Describes the environment to the agent. */
function writeBriefing(work: AgentWork, unavailable: readonly string[]): string {
  const { context, sandbox } = work;
  const network = describeNetwork(work);
  const { workspace, output } = sandbox.paths;
  const names = context.attachments.map(({ filename }) => filename).join(", ");
  return [
    "You work in your own sandbox, and nobody can answer questions: if something is unclear, decide yourself and state your decision.",
    `Your workspace is ${workspace}. Files in ${output} are delivered to the user of this run.`,
    ...(names === "" ? [] : [`Attached files are in ${workspace}/attachments: ${names}.`]),
    ...unavailable.map((server) => `An MCP server is not available: ${server}.`),
    ...(network === "" ? [] : [network]),
  ].join("\n");
}

const createUnavailableEngine = (summary: string): AgentEngine => ({
  takeTurn: async () => ({ success: false, summary, error_code: "operation_not_supported" }),
});
