import * as v from "valibot";
import { defineTool, type Tool } from "../../engine/tool.ts";

const MAX_OPTIONS = 10;

/** Ends the turn with a question: the run is BLOCKED until a follow-up answers it. */
export const askUserTool: Tool = defineTool({
  name: "ask_user",
  description:
    "Asks the user of this run a question and ends your turn: the run stops, and goes on with this conversation when the user has answered, " +
    "which may take days. Ask only for what you cannot find out or decide yourself, and ask all of it at once.",
  category: "review",
  readsOnly: true,
  input: v.object({
    question: v.pipe(
      v.string(),
      v.nonEmpty(),
      v.maxLength(900),
      v.description("To be understood without the conversation. 900 characters at most."),
    ),
    options: v.optional(
      v.pipe(
        v.array(v.pipe(v.string(), v.nonEmpty(), v.maxLength(200))),
        v.maxLength(MAX_OPTIONS),
        v.description("Answers to choose from, if it is a choice; others are possible all the same."),
      ),
    ),
  }),
  async run({ question, options = [] }) {
    const choice = options.length === 0 ? "" : ` (${options.join(" / ")})`;
    return { output: { asked: true }, ends: { success: false, blocked: true, summary: question + choice } };
  },
});
