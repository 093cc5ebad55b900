import * as v from "valibot";
import { RUN_CAPS } from "#shared/records/run.ts";
import type { Message, Step } from "#shared/wire/conversation.ts";

/** What the results of start_agent and wait_for_agents say of a child run, by the word of the sandbox. */
const Child = v.object({
  run_id: v.pipe(v.string(), v.nonEmpty(), v.maxLength(128)),
  title: v.optional(v.string()),
  state: v.optional(v.string()),
  text: v.optional(v.string()),
});
type Child = v.InferOutput<typeof Child>;
const Children = v.object({ agents: v.array(v.unknown()) });

/** Characters of the last words of a child that its step has; its own conversation has them whole. */
const SUMMARY_LENGTH = 1_000;

/**
 * Adds to a step the work that one of its messages tells was delegated: a step for each child run, by the run's id, which was begun where the child
 * was started and is complete once its end is known. Its messages are the conversation of that run.
 */
export function noteDelegated(step: Step, { content, timestamp }: Message): void {
  for (const block of content) {
    if (block.type !== "action_result") continue;
    if (block.name === "start_agent") note(step, block.output, timestamp, true);
    const several = block.name === "wait_for_agents" ? v.safeParse(Children, block.output) : undefined;
    for (const child of several?.success === true ? several.output.agents : []) note(step, child, timestamp, false);
  }
}

function note(step: Step, output: unknown, at: string | undefined, isStart: boolean): void {
  const parsed = v.safeParse(Child, output);
  if (!parsed.success) return;
  const child = parsed.output;
  const known = step.steps.find(({ id }) => id === child.run_id);
  // What was started in an earlier turn belongs to that one.
  if (known === undefined && (!isStart || step.steps.length >= RUN_CAPS.children)) return;
  const delegated = known ?? newStep(child, at);
  if (known === undefined) step.steps.push(delegated);
  if (child.title !== undefined) delegated.description = short(child.title);
  if (child.text === undefined) return;
  delegated.summary = short(child.text);
  if (at !== undefined) delegated.completed_at = at;
}

const newStep = ({ run_id: id }: Child, at: string | undefined): Step => ({
  id,
  ...(at === undefined ? {} : { started_at: at }),
  messages: [],
  steps: [],
});

const short = (text: string): string => [...text.slice(0, 2 * SUMMARY_LENGTH)].slice(0, SUMMARY_LENGTH).join("");
