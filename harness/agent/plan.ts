import type { AgentTools, TurnOutcome } from "../engine/engine.ts";
import { randomUUID } from "../support/lazy-crypto.ts";

/** Submits the final response as the plan of a run in plan mode, if the agent did not submit one. */
export async function submitPlan(outcome: TurnOutcome, isPlanned: boolean, tools: AgentTools): Promise<TurnOutcome> {
  const tool = tools.all.find(({ name }) => name === "create_plan");
  if (isPlanned || !outcome.success || tool === undefined) return outcome;
  const input = { title: findTitle(outcome.summary), content: outcome.summary };
  const { isError, output } = await tools.use(tool, { id: randomUUID(), input });
  if (isError !== true) return outcome;
  return {
    success: false,
    summary: `The plan could not be submitted: ${JSON.stringify(output)}\n\n${outcome.summary}`,
  };
}

const TITLE_CHARACTERS = 120;

/** Finds the first heading, or else the first line. */
function findTitle(plan: string): string {
  const lines = plan.split("\n").map((line) => line.trim());
  const line = lines.find((it) => it.startsWith("#")) ?? lines.find((it) => it !== "") ?? "";
  return line.replace(/^#+\s*/, "").slice(0, TITLE_CHARACTERS) || "Plan";
}
