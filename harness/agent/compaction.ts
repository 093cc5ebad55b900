import {
  AfterModelCallEvent,
  type Agent,
  BeforeModelCallEvent,
  type Message,
  type Model,
  NullConversationManager,
} from "@strands-agents/sdk";
import { CONVERSATION_COMPACTED, type Compaction, findCompaction } from "#shared/wire/compaction.ts";
import type { Message as Recorded } from "#shared/wire/conversation.ts";
import type { Outbox } from "../reporting/outbox.ts";
import { CHARACTERS_PER_TOKEN, collectFacts, planCompaction } from "./compaction-plan.ts";
import { isOverflow, type ModelRetries } from "./failures.ts";
import { type Summary, summarize } from "./summarize.ts";

/** Share of the model's context window at which the older part of the conversation is summarized. */
const FULL = 0.75;
/** Share of the window that a request for a summary may take. */
const REQUEST_SHARE = 0.6;
/** The window that is assumed where the model states none. */
const DEFAULT_WINDOW = 100_000;
/** A request that a provider refuses as too long has more tokens than its window; the estimate may be too low. */
const LEARNED_SHARE = 0.9;
const MIN_LEARNED_TOKENS = 4_000;

export interface CompactionOptions {
  /** The model for summaries, which shows no live text. */
  readonly model: Model;
  readonly retries: ModelRetries;
  /** Tokens of the system prompt and the tools, which are part of each request. */
  readonly fixedTokens: number;
  /** The recorded conversation, which grows while the turn lasts. */
  readonly conversation: readonly Recorded[];
  readonly outbox: Pick<Outbox, "message" | "flush">;
  /** Builds the conversation for the model from the recorded one. */
  readonly rebuild: () => Message[];
  /** Whether there is time for another step. */
  readonly mayStart: () => boolean;
  readonly afterStep: () => void;
}

/** Our compaction replaces that of the SDK, which keeps its summaries in memory only. */
export const NO_COMPACTION = new NullConversationManager();

/**
 * Keeps the conversation within the model's context window. Each summary is an event of the recorded conversation, so later turns and
 * executions continue from it. A summary of a part is recorded before the next part is summarized.
 */
export function addCompaction(agent: Agent, options: CompactionOptions): void {
  const { model, fixedTokens, conversation, rebuild, mayStart } = options;
  let requested = 0;
  let learned = findCompaction(conversation)?.window_tokens ?? Number.POSITIVE_INFINITY;
  const findWindow = () => Math.min(learned, agent.model.getConfig().contextWindowLimit ?? DEFAULT_WINDOW);

  const compact = async (isUrgent: boolean): Promise<boolean> => {
    const window = Math.max(1, findWindow() - fixedTokens);
    const plan = planCompaction(conversation, { window, isUrgent });
    if (plan === undefined) return false;
    const characters = findWindow() * REQUEST_SHARE * CHARACTERS_PER_TOKEN;
    const call: Parameters<typeof summarize>[1]["call"] = (attempt) => options.retries.repeat(attempt);
    const summary: Summary =
      plan.messages.length === 0
        ? { plan, text: plan.previous }
        : await summarize(plan, { model, characters, call, isOverflow });
    await record(summary, learned, options);
    agent.messages.splice(0, agent.messages.length, ...rebuild());
    options.afterStep();
    return true;
  };

  agent.addHook(BeforeModelCallEvent, async (event) => {
    requested = event.projectedInputTokens ?? 0;
    while (requested >= FULL * findWindow() && mayStart()) {
      // The request itself may still succeed; if it does not, its failure decides.
      if (!(await compact(requested > findWindow()).catch(() => false))) break;
      requested = fixedTokens + (await model.countTokens(agent.messages));
    }
  });
  agent.addHook(AfterModelCallEvent, async (event) => {
    if (!isOverflow(event.error) || !mayStart()) return;
    learned = Math.max(MIN_LEARNED_TOKENS, Math.floor(Math.min(findWindow(), requested) * LEARNED_SHARE));
    event.retry = await compact(true);
  });
}

async function record(
  { plan, text }: Summary,
  learned: number,
  { conversation, outbox }: CompactionOptions,
): Promise<void> {
  const data: Compaction = {
    summary: text,
    kept_messages: conversation.length - plan.until,
    ...collectFacts(conversation, plan),
    ...(plan.toolBytes === undefined ? {} : { tool_bytes: plan.toolBytes }),
    ...(Number.isFinite(learned) ? { window_tokens: learned } : {}),
  };
  outbox.message({ role: "system", content: [{ type: "event", name: CONVERSATION_COMPACTED, data }] });
  await outbox.flush();
}
