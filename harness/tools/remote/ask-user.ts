import * as v from "valibot";
import { defineTool, type Tool } from "../../engine/tool.ts";

const MAX_OPTIONS = 10;

/** Asks the user (ends the turn): the run is BLOCKED until a follow-up answers the question. */
export const askUserTool: Tool = defineTool({
  name: "ask_user",
  description:
    "Asks the user of this run a question and ends your turn: the run stops, and continues this conversation when the user answers, " +
    "which may take days. Ask only what you cannot find out or decide yourself, and ask everything at once.",
  category: "review",
  readsOnly: true,
  input: v.object({
    question: v.pipe(
      v.string(),
      v.nonEmpty(),
      v.maxLength(900),
      v.description("Must be understandable without the conversation. 900 characters at most."),
    ),
    options: v.optional(
      v.pipe(
        v.array(v.pipe(v.string(), v.nonEmpty(), v.maxLength(200))),
        v.maxLength(MAX_OPTIONS),
        v.description("Suggested answers, if it is a choice; the user may give another answer."),
      ),
    ),
  }),
  async run({ question, options = [] }) {
    const choice = options.length === 0 ? "" : ` (${options.join(" / ")})`;
    return { output: { asked: true }, ends: { success: false, blocked: true, summary: question + choice } };
  },
});
