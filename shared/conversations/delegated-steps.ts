import * as v from "valibot";
import { takeCharacters } from "#shared/characters.ts";
import { RUN_CAPS } from "#shared/records/run.ts";
import type { Message, Step } from "#shared/wire/conversation.ts";

/** What the results of start_agent and wait_for_agents say about a child run. The sandbox wrote them. */
const Child = v.object({
  run_id: v.pipe(v.string(), v.nonEmpty(), v.maxLength(128)),
  title: v.optional(v.string()),
  state: v.optional(v.string()),
  text: v.optional(v.string()),
});
type Child = v.InferOutput<typeof Child>;
const Children = v.object({ agents: v.array(v.unknown()) });

/** Characters of a child's final message in its step; the child's own conversation has the full text. */
const SUMMARY_LENGTH = 1_000;

/**
 * Adds the work that a message delegated to its step: a step for each child run, with the run's id, which starts when the child was
 * started and is complete when its end is known. The messages of the child are in the conversation of that run.
 */
export function addDelegatedSteps(step: Step, { content, timestamp }: Message): void {
  for (const block of content) {
    if (block.type !== "action_result") continue;
    if (block.name === "start_agent") addChild(step, block.output, timestamp, true);
    const several = block.name === "wait_for_agents" ? v.safeParse(Children, block.output) : undefined;
    if (several?.success !== true) continue;
    for (const child of several.output.agents) addChild(step, child, timestamp, false);
  }
}

function addChild(step: Step, output: unknown, at: string | undefined, isStart: boolean): void {
  const parsed = v.safeParse(Child, output);
  if (!parsed.success) return;
  const child = parsed.output;
  const known = step.steps.find(({ id }) => id === child.run_id);
  // A child that an earlier turn started belongs to that turn.
  if (known === undefined && (!isStart || step.steps.length >= RUN_CAPS.children)) return;
  const delegated = known ?? newStep(child, at);
  if (known === undefined) step.steps.push(delegated);
  if (child.title !== undefined) delegated.description = shorten(child.title);
  if (child.text === undefined) return;
  delegated.summary = shorten(child.text);
  if (at !== undefined) delegated.completed_at = at;
}

const newStep = ({ run_id: id }: Child, at: string | undefined): Step => ({
  id,
  ...(at === undefined ? {} : { started_at: at }),
  messages: [],
  steps: [],
});

const shorten = (text: string): string => takeCharacters(text, SUMMARY_LENGTH);
