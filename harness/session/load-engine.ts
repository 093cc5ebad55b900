import type { AgentWork } from "../engine/agent-context.ts";
import { type Engine, RUNBOOK_MODEL } from "../engine/engine.ts";
import type { ThirdPartyAgent } from "../third-party/agents.ts";

/** Creates the engine when the workspace is ready. */
export type MakeEngine = (work: AgentWork) => Promise<Engine>;

/**
 * Loads the engine for a model: the third-party agent that the run requests, or our own. The modules of each engine are loaded
 * only by runs that need them.
 */
export async function loadEngine(modelId: string | undefined, thirdParty?: ThirdPartyAgent): Promise<MakeEngine> {
  if (modelId !== undefined && thirdParty !== undefined) {
    const { loadThirdParty } = await import("../third-party/make-third-party.ts");
    const makeThirdParty = await loadThirdParty(thirdParty);
    return async (work) => ({ engine: makeThirdParty(modelId, work), tools: [], close: async () => {} });
  }
  if (modelId === undefined || modelId === RUNBOOK_MODEL) {
    const { createRunbook, plannedRunbook } = await import("../engine/runbook.ts");
    return async (work) => ({
      engine: work.context.mode === "plan" ? plannedRunbook : createRunbook(work),
      tools: [],
      close: async () => {},
    });
  }
  const { makeAgent } = await import("../agent/make-agent.ts");
  return (work) => makeAgent(modelId, work);
}
