import {
  type BaseModelConfig,
  Message,
  Model,
  type StreamOptions,
  SummarizingConversationManager,
  TextBlock,
} from "@strands-agents/sdk";

/** Share of the model's context window at which the older half of the conversation is summarized. */
const FULL = 0.75;
const SUMMARIZED = 0.5;
/** The latest messages stay as they are. */
const KEPT_MESSAGES = 6;

const INSTRUCTIONS = `You are given the first part of a software agent's work on a task. Write a summary from which the agent can continue \
without it: its instructions and decisions, its findings (paths, names, commands, results, errors, verbatim where that matters), \
what it has done and changed, what failed and why, and what is left to do. Use short bullet points. Write nothing else.`;

/**
 * Keeps a conversation within the context window: the model summarizes the older part, except messages of people. The run's recorded
 * conversation stays complete.
 */
export const createCompaction = (model: Model) =>
  new SummarizingConversationManager({
    model: new Reader(model),
    summaryRatio: SUMMARIZED,
    preserveRecentMessages: KEPT_MESSAGES,
    summarizationSystemPrompt: INSTRUCTIONS,
    proactiveCompression: { compressionThreshold: FULL },
  });

/** Passes a conversation to the model as one text, because some APIs refuse tool calls in a request without tools. */
class Reader extends Model {
  readonly #model: Model;

  constructor(model: Model) {
    super();
    this.#model = model;
  }

  updateConfig(config: BaseModelConfig): void {
    this.#model.updateConfig(config);
  }

  getConfig(): BaseModelConfig {
    return this.#model.getConfig();
  }

  stream(messages: Message[], options?: StreamOptions) {
    const text = messages.map(({ role, content }) => `## ${role}\n${content.map(formatBlock).join("\n")}`).join("\n\n");
    return this.#model.stream([new Message({ role: "user", content: [new TextBlock(text)] })], options);
  }
}

function formatBlock(block: Message["content"][number]): string {
  if (block.type === "textBlock") return block.text;
  if (block.type === "toolUseBlock") return `[uses ${block.name}: ${JSON.stringify(block.input)}]`;
  if (block.type !== "toolResultBlock") return "";
  const parts = block.content.map((part) => (part.type === "textBlock" ? part.text : ""));
  return `[${block.status}: ${parts.join("\n")}]`;
}
