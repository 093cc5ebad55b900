import * as v from "valibot";
import { defineTool, type Tool } from "../engine/tool.ts";

const MAX_ITEMS = 100;
const TASK_CHARACTERS = 500;

/** Creates the tool with which the agent keeps its to-do list. The list is part of the conversation, and summaries keep it. */
export const todoTool: Tool = defineTool({
  name: "todo",
  description:
    "Replaces your to-do list, which people see. Use it for work of three or more steps: write the list when you know the steps, and send " +
    "it whole again when a step begins or is done. One item at a time is in_progress.",
  category: "documents",
  readsOnly: true,
  input: v.object({
    items: v.pipe(
      v.array(
        v.object({
          task: v.pipe(v.string(), v.nonEmpty(), v.maxLength(TASK_CHARACTERS)),
          state: v.picklist(["pending", "in_progress", "done"]),
        }),
      ),
      v.maxLength(MAX_ITEMS),
    ),
  }),
  async run({ items }) {
    const done = items.filter(({ state }) => state === "done").length;
    return { output: { done, open: items.length - done } };
  },
});
