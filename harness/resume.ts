import type { Message } from "#shared/wire/conversation.ts";
import type { TurnOutcome } from "./engine.ts";
import type { RunContext } from "./setup.ts";

/** Where an execution takes up its run. */
export type Start =
  /** The prompt has not been answered: nobody began, or an execution was lost before its turn had ended. */
  | { readonly from: "prompt" }
  /** A follow-up was taken up by an execution that was lost before it had answered. */
  | { readonly from: "followup"; readonly message: string }
  /** Everything so far was answered; `last` is how the turn before ended. */
  | { readonly from: "answer"; readonly last: TurnOutcome };

/**
 * Every turn ends with a text of the agent, and every follow-up begins one with a text of the user: so the conversation
 * itself tells what is still to be answered. Messages of earlier runs come before this run's own.
 */
export function startOf({ messages, next_sequence }: Pick<RunContext, "messages" | "next_sequence">): Start {
  const own = next_sequence > 1 ? messages.slice(-(next_sequence - 1)) : [];
  const isText = (message: Message, role: Message["role"]) =>
    message.role === role && message.content.some((block) => block.type === "text");
  const asked = own.findLastIndex((message) => isText(message, "user"));
  const answered = own.findLastIndex((message) => isText(message, "assistant"));
  if (answered > asked) return { from: "answer", last: { success: hasSucceeded(own), summary: textOf(own[answered]) } };
  return asked < 0 ? { from: "prompt" } : { from: "followup", message: textOf(own[asked]) };
}

function hasSucceeded(own: readonly Message[]): boolean {
  const results = own.flatMap((message) => message.content).filter((block) => block.type === "action_result");
  return results.at(-1)?.state === "completed";
}

const textOf = (message: Message | undefined): string =>
  (message?.content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
