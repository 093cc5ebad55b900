import { MaxTokensError, Message, type Model, TextBlock } from "@strands-agents/sdk";
import type { Block, Message as Recorded } from "#shared/wire/conversation.ts";
import { type CompactionPlan, shortenPlan } from "./compaction-plan.ts";

/** The oldest share of the tools' results that is left out of a request for a summary, if it would be too long. */
const DROPPED_SHARES = [0, 0.2, 0.5, 1];
/** A request for fewer characters than this is not sent. */
const MIN_CHARACTERS = 2_000;
/** How much shorter a request is made after a refusal. */
const SHORTER = 0.6;
/** The most of the input of one tool use that a request shows. */
const INPUT_CHARACTERS = 4_000;
/** The most of a summary that is kept. */
const SUMMARY_CHARACTERS = 16_000;

const INSTRUCTIONS = `You are given the first part of a software agent's work on a task. Write a summary from which the agent can continue \
without it. Use these headings: "Decisions", "Findings" (paths, names, commands, results, errors, verbatim where that matters), "Done", \
"Open problems" and "Next steps". Repeat the plan and every open problem of an earlier summary word for word until it is solved. Use short \
bullet points. Write nothing else.`;

export interface SummaryOptions {
  readonly model: Model;
  /** The most characters of a request. */
  readonly characters: number;
  /** Calls the model, again after a passing failure. */
  readonly call: <T>(attempt: () => Promise<T>) => Promise<T>;
  readonly isOverflow: (error: unknown) => boolean;
}

export interface Summary {
  readonly text: string;
  /** The part of the plan that it covers. */
  readonly plan: CompactionPlan;
}

/**
 * Summarizes the messages of a plan with the summary before them. If the request is too long, it leaves out results of tools, the oldest
 * first, then covers fewer messages, and at last states that they could not be summarized.
 */
export async function summarize(wanted: CompactionPlan, options: SummaryOptions): Promise<Summary> {
  const { model, call, isOverflow } = options;
  for (let room = options.characters; room >= MIN_CHARACTERS; room *= SHORTER) {
    const { plan, text } = fitRequest(wanted, room);
    try {
      return { plan, text: cut(await call(() => ask(model, text)), SUMMARY_CHARACTERS) };
    } catch (error) {
      if (!isOverflow(error)) throw error;
    }
  }
  const lost = `[${wanted.messages.length} messages could not be summarized, because the model refused them as too long.]`;
  return { plan: wanted, text: cut(`${wanted.previous}\n${lost}`.trim(), SUMMARY_CHARACTERS) };
}

function fitRequest(wanted: CompactionPlan, room: number): { readonly plan: CompactionPlan; readonly text: string } {
  for (const share of DROPPED_SHARES) {
    const text = format(wanted, share);
    if (text.length <= room) return { plan: wanted, text };
  }
  let plan = wanted;
  for (;;) {
    const text = format(plan, 1);
    const shorter = text.length <= room ? undefined : shortenPlan(plan);
    if (shorter === undefined) return { plan, text: cut(text, Math.floor(room)) };
    plan = shorter;
  }
}

/** Formats the messages as one text, because some APIs refuse tool calls in a request without tools. */
function format({ previous, messages }: CompactionPlan, dropped: number): string {
  const results = messages.flatMap(({ content }) => content).filter(({ type }) => type === "action_result").length;
  let remainder = Math.floor(results * dropped);
  const formatBlock = (block: Block): string => {
    if (block.type === "text") return block.text;
    if (block.type === "action")
      return `[uses ${block.name}: ${cut(JSON.stringify(block.input) ?? "", INPUT_CHARACTERS)}]`;
    if (block.type === "event") return "";
    return remainder-- > 0 ? `[${block.state}: result left out]` : `[${block.state}: ${JSON.stringify(block.output)}]`;
  };
  const toText = ({ role, content }: Recorded) => {
    const text = content.map(formatBlock).filter((part) => part.trim() !== "");
    return text.length === 0 ? [] : [`## ${role}\n${text.join("\n")}`];
  };
  const earlier = previous === "" ? [] : [`## Summary of what came before\n${previous}`];
  return [...earlier, ...messages.flatMap(toText)].join("\n\n");
}

const cut = (text: string, characters: number): string =>
  text.length <= characters ? text : `${text.slice(0, characters).toWellFormed()}\n[... truncated ...]`;

async function ask(model: Model, text: string): Promise<string> {
  const request = new Message({ role: "user", content: [new TextBlock(`${text}\n\nSummarize this now.`)] });
  const { content } = await respond(model, request).catch((error: unknown) => {
    // A summary that is cut at the token limit still says more than none.
    if (error instanceof MaxTokensError) return error.partialMessage;
    throw error;
  });
  const summary = content
    .flatMap((block) => (block.type === "textBlock" ? [block.text] : []))
    .join("\n")
    .trim();
  return summary === "" ? "[The model wrote no summary.]" : summary;
}

async function respond(model: Model, request: Message): Promise<Message> {
  const stream = model.streamAggregated([request], { systemPrompt: INSTRUCTIONS });
  let next = await stream.next();
  while (next.done !== true) next = await stream.next();
  return next.value.message;
}
