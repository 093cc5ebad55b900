import { memberOf, readText } from "./members.ts";

/** Members that say what a step is. */
const STEP_TEXTS = ["task", "content", "text", "description"];

/** A plan or to-do list as Markdown. Agents give it as a text or as a list of steps. */
export function planText(input: unknown): string {
  const steps = memberOf(input, "todos") ?? memberOf(input, "items");
  if (!Array.isArray(steps)) return readText(input, "content") ?? readText(input, "plan") ?? "";
  return steps
    .map((step) => {
      const text = STEP_TEXTS.map((member) => readText(step, member)).find(Boolean) ?? "";
      const state = readText(step, "state") ?? readText(step, "status") ?? "";
      const isDone = ["done", "completed"].includes(state) || memberOf(step, "completed") === true;
      return `- [${isDone ? "x" : " "}] ${text.replaceAll(/\s+/g, " ")}${state === "in_progress" ? " …" : ""}`;
    })
    .join("\n");
}
