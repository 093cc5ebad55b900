import { randomUUID } from "node:crypto";
import type { AgentTools, TurnOutcome } from "../engine/engine.ts";

/** A run that only plans ends with a plan: where the agent handed in none, its last answer is it. */
export async function submitPlan(outcome: TurnOutcome, isPlanned: boolean, tools: AgentTools): Promise<TurnOutcome> {
  const tool = tools.all.find(({ name }) => name === "create_plan");
  if (isPlanned || !outcome.success || tool === undefined) return outcome;
  const input = { title: findTitle(outcome.summary), content: outcome.summary };
  const { isError, output } = await tools.use(tool, { id: randomUUID(), input });
  if (isError !== true) return outcome;
  return {
    success: false,
    summary: `The plan could not be handed in: ${JSON.stringify(output)}\n\n${outcome.summary}`,
  };
}

const TITLE_CHARACTERS = 120;

/** Its first heading, or else its first line. */
function findTitle(plan: string): string {
  const lines = plan.split("\n").map((line) => line.trim());
  const line = lines.find((it) => it.startsWith("#")) ?? lines.find((it) => it !== "") ?? "";
  return line.replace(/^#+\s*/, "").slice(0, TITLE_CHARACTERS) || "Plan";
}
