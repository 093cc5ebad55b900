import type { AgentWork } from "../engine/agent-context.ts";
import { type Engine, RUNBOOK_MODEL } from "../engine/engine.ts";
import { plannedRunbook, runbook } from "../engine/runbook.ts";
import type { ThirdPartyAgent } from "../third-party/agent.ts";

/** Makes the engine, once it is known what there is to work with. */
export type MakeEngine = (work: AgentWork) => Promise<Engine>;

/**
 * The engine that works with this model: the agent of others that the run asks for, or ours. What an agent with a language model takes
 * to load, no other run waits for.
 */
export async function loadEngine(modelId: string | undefined, thirdParty?: ThirdPartyAgent): Promise<MakeEngine> {
  if (modelId !== undefined && thirdParty !== undefined) {
    const { makeThirdParty } = await import("../third-party/make-third-party.ts");
    return async (work) => ({ engine: makeThirdParty(thirdParty, modelId, work), tools: [], close: async () => {} });
  }
  if (modelId === undefined || modelId === RUNBOOK_MODEL)
    return async ({ context }) => ({
      engine: context.mode === "plan" ? plannedRunbook : runbook,
      tools: [],
      close: async () => {},
    });
  const { makeAgent } = await import("../agent/make-agent.ts");
  return (work) => makeAgent(modelId, work);
}
