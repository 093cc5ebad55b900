import type { AgentWork } from "../engine/agent-context.ts";
import type { AgentEngine } from "../engine/engine.ts";
import { describeNetwork } from "../network/describe-network.ts";
import { ACP_TOOL_LIMITS } from "./acp/agents.ts";
import type { ThirdPartyRun } from "./acp/engine.ts";
import { type CommandLineAgent, toMcpServers } from "./agent.ts";
import { describeMissingAgent, type ThirdPartyAgent } from "./agents.ts";
import { createThirdPartyEngine } from "./engine.ts";
import { createSessions } from "./sessions.ts";

/**
 * Loads what creates the engine of a run with a third-party agent: what every agent gets is the same, and its protocol chooses the engine.
 */
export async function loadThirdParty(
  agent: ThirdPartyAgent,
): Promise<(modelId: string, work: AgentWork) => AgentEngine> {
  const createEngine = await loadProtocol(agent);
  return (modelId, work) => {
    const { context, sandbox, secrets, outbox, basePrompt } = work;
    if (typeof agent !== "string" && sandbox.programs === undefined)
      return createUnavailableEngine(describeMissingAgent(agent));
    const { servers, unavailable } = toMcpServers(
      context.mcp_servers,
      { ...context.variables, ...secrets },
      typeof agent === "string" ? ACP_TOOL_LIMITS : agent.toolLimits,
    );
    for (const detail of unavailable) outbox.event("setup_mcp_servers", { is_error: true, detail });
    const briefing = [writeBriefing(work, unavailable), ...(basePrompt === undefined ? [] : [basePrompt])];
    return createEngine({ modelId, work, servers, briefing });
  };
}

/** The engine of the Agent Client Protocol takes long to load, and command-line agents do not need it. */
async function loadProtocol(agent: ThirdPartyAgent): Promise<(run: ThirdPartyRun) => AgentEngine> {
  if (typeof agent !== "string" && agent.protocol === "command line")
    return (run) => createCommandLineEngine(agent, run);
  const { createAcpEngine } = await import("./acp/engine.ts");
  return (run) => createAcpEngine(agent, run);
}

function createCommandLineEngine(agent: CommandLineAgent, { modelId, work, servers, briefing }: ThirdPartyRun) {
  const { context, sandbox } = work;
  const { conversation_id: conversationId, mode, agent_config } = context;
  return createThirdPartyEngine({
    ...work,
    agent,
    folder: sandbox.programs ?? "",
    node: sandbox.node,
    modelId,
    reasoningLevel: agent_config.harness?.reasoning_level ?? agent_config.reasoning_level,
    systemPrompt: briefing.join("\n\n"),
    mode,
    mcpServers: servers,
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
