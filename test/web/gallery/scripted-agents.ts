import type { Turn } from "../../support/model-shapes.ts";
import type { ModelStandIn, SeenCall } from "../../support/model-stand-in.ts";

/** A task, and what the model says turn by turn when it is given the task. */
export interface ScriptedTask {
  readonly prompt: string;
  readonly turns: readonly Turn[];
}

/** Has the model act by the script of the task that the conversation began with. */
export function playTasks(model: ModelStandIn, tasks: readonly ScriptedTask[]): void {
  const failed = new Set<Turn>();
  model.otherwise = (call) => {
    const messages = messagesOf(call);
    const asked = messages.find(({ role }) => role === "user")?.text ?? "";
    const task = tasks.find(({ prompt }) => asked.includes(JSON.stringify(prompt).slice(1, -1)));
    const done = messages.filter(({ role }) => role === "assistant").length;
    // A turn that fails comes before the one that takes its place, and does not count as said.
    const turns = task?.turns.filter((turn) => !failed.has(turn)) ?? [];
    const turn = turns[done] ?? { text: "Done." };
    if (turn.status !== undefined) failed.add(turn);
    return { pauseMs: 120, ...turn };
  };
}

const messagesOf = ({ body }: SeenCall): { role: string; text: string }[] =>
  // biome-ignore lint/suspicious/noExplicitAny: requests come in every shape.
  (body?.messages ?? []).map((message: any) => ({ role: message.role, text: JSON.stringify(message.content) }));
