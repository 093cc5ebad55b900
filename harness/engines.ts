import type { AgentEngine } from "./engine.ts";
import { RUNBOOK_MODEL, runbook } from "./runbook.ts";

/** The engine that works with this model. */
export function engineFor(modelId: string | undefined): AgentEngine {
  return modelId === undefined || modelId === RUNBOOK_MODEL ? runbook : withoutGateway(modelId);
}

const withoutGateway = (modelId: string): AgentEngine => ({
  async takeTurn() {
    const summary = `The model ${modelId} needs an agent that works with models, which this release does not have; ${RUNBOOK_MODEL} works.`;
    return { success: false, summary, error_code: "operation_not_supported" };
  },
});
