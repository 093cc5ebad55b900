import type { ReasoningLevel } from "#shared/wire/limits/run-limits.ts";
import { isMembers, type Members, toList, toText } from "./members.ts";

/** What a request gets for a reasoning level. */
interface Wanted {
  /** Members to add to the request. */
  readonly members: Members;
  /** What the model cannot do of it. */
  readonly gap?: string;
}

const NOTHING: Wanted = { members: {}, gap: "it does not reason" };

/** Models that are known not to reason. */
const UNREASONING = /(?:^|[/.])(?:gpt-[34]|chatgpt-4|claude-(?:2|instant|3-(?!7)))/;

/**
 * Finds the members of a request for a reasoning level. Anthropic's:
 * https://platform.claude.com/docs/en/build-with-claude/effort and
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking, which Bedrock passes on; OpenAI's:
 * https://developers.openai.com/api/docs/guides/reasoning.
 */
export function findReasoning(api: "messages" | "chat" | "responses", body: Members, level: ReasoningLevel): Wanted {
  const model = toText(body["model"]);
  if (UNREASONING.test(model)) return level === "none" ? { members: {} } : NOTHING;
  if (api === "messages") return WITH_BUDGET.test(model) ? findBudget(body, level) : findEffort(model, level);
  const { effort, gap } = chooseEffort(model, level);
  const members = api === "chat" ? { reasoning_effort: effort } : { reasoning: { effort } };
  return { members, ...(gap === undefined ? {} : { gap }) };
}

/** Models of Anthropic whose thinking has a budget in tokens; later ones refuse it. */
const WITH_BUDGET = /claude-(?:3-7|(?:opus|sonnet|haiku)-4-(?:[015]\b|\d{8}))/;
/** The smallest budget that Anthropic accepts. */
const MIN_BUDGET = 1_024;
const BUDGETS = { minimal: MIN_BUDGET, low: 4_096, medium: 8_192, high: 16_384, max: 24_576 } as const;

/** A budget is part of the output limit, and leaves some of it for the response. */
function findBudget(body: Members, level: ReasoningLevel): Wanted {
  const limit = typeof body["max_tokens"] === "number" ? body["max_tokens"] : 0;
  const budget = level === "none" ? 0 : Math.min(BUDGETS[level], limit - MIN_BUDGET);
  if (budget < MIN_BUDGET || lacksThinking(body)) return { members: {} };
  return { members: { thinking: { type: "enabled", budget_tokens: budget } } };
}

/** Whether the response that tools answer has no thinking, which is then required: it came from another execution or model. */
function lacksThinking(body: Members): boolean {
  const last = toList(body["messages"]).findLast((message) => isMembers(message) && message["role"] === "assistant");
  const blocks = isMembers(last) ? toList(last["content"]).filter(isMembers) : [];
  const [first] = blocks;
  return blocks.some(({ type }) => type === "tool_use") && !/thinking$/.test(toText(first?.["type"]));
}

/** Models of Anthropic that always think. */
const ALWAYS_THINKING = /claude-(?:opus-5-5|fable|mythos)/;

function findEffort(model: string, level: ReasoningLevel): Wanted {
  const adapted = (effort: string) => ({ thinking: { type: "adaptive" }, output_config: { effort } });
  if (level !== "none") return { members: adapted(level === "minimal" ? "low" : level) };
  if (ALWAYS_THINKING.test(model))
    return { members: adapted("low"), gap: "it always reasons, at least at the level low" };
  // This model has notes between its tool calls instead of no thinking at all.
  return { members: { thinking: { type: /claude-sonnet-5-5/.test(model) ? "between_tools" : "disabled" } } };
}

/** The levels of models with an API of OpenAI, from the lowest to the highest. The first match counts. */
const EFFORTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/(?:^|\/)gpt-5\.1/, ["none", "low", "medium", "high"]],
  [/(?:^|\/)gpt-(?:5\.|[6-9])/, ["none", "low", "medium", "high", "xhigh"]],
  [/(?:^|\/)gpt-5/, ["minimal", "low", "medium", "high"]],
  [/(?:^|\/)(?:o\d|gpt-oss)/, ["low", "medium", "high"]],
];
/** Those that most other servers accept. */
const COMMON_EFFORTS = ["none", "low", "medium", "high"];

function chooseEffort(model: string, level: ReasoningLevel): { readonly effort: string; readonly gap?: string } {
  const [, efforts] = EFFORTS.find(([pattern]) => pattern.test(model)) ?? [undefined, COMMON_EFFORTS];
  if (efforts.includes(level)) return { effort: level };
  if (level === "max") return { effort: efforts.at(-1) ?? "high" };
  const lowest = efforts.find((effort) => effort !== "none") ?? "low";
  return { effort: lowest, ...(level === "none" ? { gap: `it always reasons, at least at the level ${lowest}` } : {}) };
}

/** Names of the members in refusals. Those of blocks that are sent back are not meant. */
const REFUSED_MEMBER =
  /\b(?:reasoning_effort|reasoning\.effort|output_config|effort|thinking)\b|["'`]reasoning["'`] (?:is )?(?:not|un)|(?:parameter|argument|field|param)\W{1,4}reasoning\b|support reasoning|supported values are:[^.]*\b(?:low|high)\b/i;
const REFUSED_BLOCK = /\bmessages\.\d|\bmessages\[|\binput\[|thinking blocks?\b|[`'"]thinking[`'"] (?:block|or)/i;

/** Whether a response refuses what a reasoning level added to its request. */
export const refusesReasoning = (status: number, text: string): boolean =>
  (status === 400 || status === 422) && REFUSED_MEMBER.test(text) && !REFUSED_BLOCK.test(text);
