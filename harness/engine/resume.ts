import * as v from "valibot";
import { type Block, isTextBy, type Message, marksCancellation } from "#shared/wire/conversation.ts";
import { TurnOutcome as ReportedOutcome } from "#shared/wire/executions/turn.ts";
import type { RunContext } from "../setup/run-context.ts";
import { RUNBOOK_MODEL, type TurnOutcome } from "./engine.ts";

/** Where an execution continues its run. */
export type Start =
  /** The prompt has no response yet: this is the first execution, or an earlier one was lost during the turn. */
  | ({ readonly from: "prompt" } & Begun)
  /** An execution took a follow-up and was lost before it responded. */
  | ({ readonly from: "followup"; readonly message: string } & Begun)
  /** Every message has a response; `last` is the outcome of the last turn. */
  | { readonly from: "response"; readonly last: TurnOutcome; readonly workingDirectory?: string };

/** The part of the open turn that an earlier execution completed. */
interface Begun {
  readonly commandsDone: number;
  /** Where its last command ended, as commands see it. */
  readonly workingDirectory?: string;
}

type Said = Pick<RunContext, "messages" | "own_messages"> & { readonly agent_config: { readonly model_id?: string } };

/** Name of the event in a turn's final message that says how an unsuccessful turn ended. */
const ENDED = "turn_ended";

/** The blocks that a turn's final message has besides its text; none if the turn succeeded. */
export function toEndMark({ success, error_code, blocked, interrupt, approval }: TurnOutcome): Block[] {
  const data = {
    ...(error_code === undefined ? {} : { error_code }),
    ...(blocked === undefined ? {} : { blocked }),
    ...(interrupt === undefined ? {} : { interrupt }),
    ...(approval === undefined ? {} : { approval }),
  };
  return success ? [] : [{ type: "event", name: ENDED, data: { success, ...data } }];
}

/**
 * Every turn starts with a text of the user and ends with a text of the agent, so the conversation itself shows what has no
 * response yet. Messages of earlier runs come before this run's own.
 */
export function findStart({ messages, own_messages = 0, agent_config }: Said): Start {
  const own = own_messages > 0 ? messages.slice(-own_messages) : [];
  const lastInstruction = own.findLastIndex((message) => isTextBy("user", message));
  const lastReply = own.findLastIndex((message) => isTextBy("assistant", message));
  const cancelled = own.findLastIndex(marksCancellation);
  if (cancelled >= Math.max(lastInstruction, lastReply) && cancelled >= 0) return { from: "response", last: CANCELLED };
  const begun = findProgress(own.slice(lastInstruction + 1));
  if (lastReply > lastInstruction) {
    const last = readOutcome(own, own[lastReply], agent_config.model_id);
    // A call that waits for an approval is part of a turn that goes on where its last command ended.
    const there = last.approval === undefined ? undefined : begun.workingDirectory;
    return { from: "response", last, ...(there === undefined ? {} : { workingDirectory: there }) };
  }
  return lastInstruction < 0
    ? { from: "prompt", ...begun }
    : { from: "followup", message: joinText(own[lastInstruction]), ...begun };
}

/** The outcome of a turn that was cancelled before its response. */
const CANCELLED: TurnOutcome = { success: false, summary: "The instruction was cancelled." };

/** Whether an instruction was cancelled after the agent's last response. */
export const isCancelledSince = (messages: readonly Message[]): boolean =>
  messages.findLastIndex(marksCancellation) > messages.findLastIndex((message) => isTextBy("assistant", message));

/** The number of the last interrupt whose turn has ended according to the messages; 0 if there is none. */
export function findHandledInterrupt(messages: readonly Message[]): number {
  const blocks = messages.flatMap(({ content }) => content);
  const numbers = blocks.flatMap((block) => {
    const mark = block.type === "event" && block.name === ENDED ? v.safeParse(InterruptMark, block.data) : undefined;
    return mark?.success === true ? [mark.output.interrupt] : [];
  });
  return Math.max(0, ...numbers);
}

const InterruptMark = v.object({ interrupt: v.number() });

/** How many commands of a turn are done. */
export const countCommands = (turn: readonly Message[]): number => findProgress(turn).commandsDone;

function findProgress(turn: readonly Message[]): Begun {
  const results = turn.flatMap(({ content }) => content).filter((block) => block.type === "action_result");
  const done = results.filter(({ name, state }) => name === "run_command" && state === "completed");
  const there = readDirectory(done.at(-1)?.output);
  return { commandsDone: done.length, ...(there === undefined ? {} : { workingDirectory: there }) };
}

function readDirectory(output: unknown): string | undefined {
  const there =
    typeof output === "object" && output !== null && "working_directory" in output && output.working_directory;
  return typeof there === "string" ? there : undefined;
}

/** Finds where the last command of a conversation ended, also one that failed: commands of a terminal start there too. */
export function findLastDirectory(messages: readonly Message[]): string | undefined {
  for (const { content } of messages.toReversed()) {
    const ended = content.findLast((block) => block.type === "action_result" && isEndedCommand(block));
    if (ended?.type === "action_result") return readDirectory(ended.output);
  }
  return undefined;
}

/** A command in the background changes the directory of no other one. */
const isEndedCommand = ({ name, output }: Extract<Block, { type: "action_result" }>): boolean =>
  name === "run_command" && readDirectory(output) !== undefined && !Object.hasOwn(Object(output), "command_id");

function readOutcome(own: readonly Message[], response: Message | undefined, modelId = RUNBOOK_MODEL): TurnOutcome {
  const summary = joinText(response);
  const mark = response?.content.find((block) => block.type === "event" && block.name === ENDED);
  // Conversations of older versions have no such event: their runbook ends with the first command that fails.
  if (mark?.type !== "event") return { success: modelId !== RUNBOOK_MODEL || hasSucceeded(own), summary };
  const outcome = v.safeParse(ReportedOutcome, { ...Object(mark.data), success: false, summary: "" });
  return outcome.success ? { ...outcome.output, summary } : { success: false, summary };
}

function hasSucceeded(own: readonly Message[]): boolean {
  const results = own.flatMap((message) => message.content).filter((block) => block.type === "action_result");
  return results.at(-1)?.state === "completed";
}

const joinText = (message: Message | undefined): string =>
  (message?.content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
