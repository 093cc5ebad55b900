import {
  type BaseModelConfig,
  Message,
  Model,
  type StreamOptions,
  SummarizingConversationManager,
  TextBlock,
} from "@strands-agents/sdk";

/** Of the model's context; from here on the older half of the conversation becomes a summary. */
const FULL = 0.75;
const SUMMARIZED = 0.5;
/** The latest messages stay as they are. */
const KEPT_MESSAGES = 6;

const HOW = `You are given the beginning of the work of a software agent on its task. Write down, for the agent itself, all that it needs to go on \
without it: what it was asked and what it decided, what it found out (paths, names, commands, results, errors, word for word where that matters), \
what it has done and changed, what failed and why, and what is left to do. Use short bullet points. Say nothing else.`;

/**
 * Keeps a conversation within what the model takes: the older part of it becomes a summary that the model writes itself, what
 * people asked stays as it is, and the record of the run has all of it anyway.
 */
export const createCompaction = (model: Model) =>
  new SummarizingConversationManager({
    model: new Reader(model),
    summaryRatio: SUMMARIZED,
    preserveRecentMessages: KEPT_MESSAGES,
    summarizationSystemPrompt: HOW,
    proactiveCompression: { compressionThreshold: FULL },
  });

/** Reads a conversation as one text: the uses of tools in it are nothing that could be gone on with, and some APIs refuse them without tools. */
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
