import * as v from "valibot";
import type { Message } from "./conversation.ts";
import { Count } from "./primitives.ts";

/** The name of the event that summarizes earlier messages for the model. */
export const CONVERSATION_COMPACTED = "conversation_compacted";

/** The data of such an event. The messages that it summarizes stay in the conversation; the model gets those of the user whole. */
export const Compaction = v.object({
  summary: v.string(),
  /** How many messages before the event the summary does not cover: the latest ones. */
  kept_messages: Count,
  /** The files that the summarized steps changed. */
  files: v.array(v.string()),
  /** The latest to-do list of the summarized steps. */
  todo: v.exactOptional(v.string()),
  /** The ids of the skills that the agent read in the summarized steps. */
  skills: v.exactOptional(v.array(v.string())),
  /** The most that the model gets of each input and output of a tool among the kept messages. */
  tool_bytes: v.exactOptional(Count),
  /** The context window in tokens, as far as refusals of the provider show it. */
  window_tokens: v.exactOptional(Count),
});
export type Compaction = v.InferOutput<typeof Compaction>;

/** The latest summary of a conversation, and the positions of its event and of the first message that it does not cover. */
export function findCompaction(messages: readonly Message[]): (Compaction & { at: number; from: number }) | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const { role, content = [] } = messages[at] ?? {};
    if (role !== "system") continue;
    const block = content.find((one) => one.type === "event" && one.name === CONVERSATION_COMPACTED);
    const data = v.safeParse(Compaction, block?.type === "event" ? block.data : undefined);
    if (data.success) return { ...data.output, at, from: Math.max(0, at - data.output.kept_messages) };
  }
  return undefined;
}
