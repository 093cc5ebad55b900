import type { Turn } from "../../support/model-shapes.ts";
import type { ModelStandIn, SeenCall } from "../../support/model-stand-in.ts";

/** A task, and the turns of the model for it. */
export interface ScriptedTask {
  readonly prompt: string;
  readonly turns: readonly Turn[];
}

/** Has the model act by the script of the task that the conversation began with. */
export function playTasks(model: ModelStandIn, tasks: readonly ScriptedTask[]): void {
  const failed = new Set<Turn>();
  model.otherwise = (call) => {
    const messages = messagesOf(call);
    const asked = messages.filter(({ role }) => role === "user").map(({ text }) => text);
    const task = tasks.find(({ prompt }) => asked.some((text) => text.includes(JSON.stringify(prompt).slice(1, -1))));
    const done = messages.filter(({ role }) => role === "assistant").length;
    // A failed turn precedes its replacement, and does not count.
    const turns = task?.turns.filter((turn) => !failed.has(turn)) ?? [];
    const turn = turns[done] ?? { text: "Done." };
    if (turn.status !== undefined) failed.add(turn);
    return { pauseMs: 120, ...turn };
  };
}

/** The Responses API has a list of items, in which each tool call stands for one turn of the model. */
function messagesOf({ body }: SeenCall): { role: string; text: string }[] {
  // biome-ignore lint/suspicious/noExplicitAny: requests come in every shape.
  const messages: any[] = body?.messages ?? (Array.isArray(body?.input) ? body.input : []);
  return messages.flatMap(({ type, role, content }) => {
    if (type === "function_call" || type === "custom_tool_call") return [{ role: "assistant", text: "" }];
    if (body?.messages === undefined && role === "assistant") return [];
    return role === undefined ? [] : [{ role, text: JSON.stringify(content) }];
  });
}
