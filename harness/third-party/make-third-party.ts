import type { AgentWork } from "../engine/agent-context.ts";
import type { AgentEngine } from "../engine/engine.ts";
import { describeNetwork } from "../network/describe-network.ts";
import { type ThirdPartyAgent, toMcpServers } from "./agent.ts";
import { describeMissingAgent } from "./agents.ts";
import { createThirdPartyEngine } from "./engine.ts";
import { createSessions } from "./sessions.ts";

/** Creates the engine of a run with a third-party agent. */
export function makeThirdParty(agent: ThirdPartyAgent, modelId: string, work: AgentWork): AgentEngine {
  const { context, sandbox } = work;
  const { programs: folder, node, paths: seen } = sandbox;
  if (folder === undefined) return createUnavailableEngine(`harness ${agent.type}`, agent);
  const { conversation_id: conversationId, mode, agent_config } = context;
  const values = { ...context.variables, ...work.secrets };
  const { servers: mcpServers, unavailable } = toMcpServers(context.mcp_servers, values, agent);
  for (const detail of unavailable) work.outbox.event("setup_mcp_servers", { is_error: true, detail });
  const systemPrompt = [
    writeBriefing(work, unavailable),
    ...(work.basePrompt === undefined ? [] : [work.basePrompt]),
  ].join("\n\n");
  const sessions = createSessions({ ...work, agent, conversationId, seen });
  const reasoningLevel = agent_config.harness?.reasoning_level ?? agent_config.reasoning_level;
  return createThirdPartyEngine({
    ...work,
    agent,
    folder,
    node,
    modelId,
    reasoningLevel,
    systemPrompt,
    mode,
    mcpServers,
    seen,
    sessions,
  });
}

/** Describes the environment to the agent. */
export function writeBriefing(work: AgentWork, unavailable: readonly string[]): string {
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

export const createUnavailableEngine = (name: string, agent: Pick<ThirdPartyAgent, "package">): AgentEngine => ({
  takeTurn: async () => ({
    success: false,
    summary: describeMissingAgent(name, agent),
    error_code: "operation_not_supported",
  }),
});
