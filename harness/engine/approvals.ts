import * as v from "valibot";
import { type Block, isTextBy, type Message } from "#shared/wire/conversation.ts";
import { ApprovalCall, ApprovalDecision, type ApprovalRule, formatCall } from "#shared/wire/executions/approval.ts";
import { createHash } from "../support/lazy-crypto.ts";
import type { TurnOutcome } from "./engine.ts";

/** Ends the turn with an outcome, wherever the agent is in it: a call waits for an approval. */
export class TurnEnd extends Error {
  readonly outcome: TurnOutcome;

  constructor(outcome: TurnOutcome) {
    super(outcome.summary);
    this.outcome = outcome;
  }
}

/** Whether a call needs an approval. Spaces and line breaks are equal, and `*` stands for any text. */
export function needsApproval(rules: readonly ApprovalRule[], tool: string, input: unknown): boolean {
  return rules.some((rule) => rule.tool === tool && (rule.match === undefined || contains(toText(input), rule.match)));
}

/** The command of a call, else all of its arguments. */
function toText(input: unknown): string {
  const isCommand = typeof input === "object" && input !== null && "command" in input;
  return isCommand && typeof input.command === "string" ? input.command : JSON.stringify(input);
}

/** Compares part after part, so that its time is bounded by the length of the text. */
function contains(text: string, pattern: string): boolean {
  const whole = joinSpaces(text);
  let from = 0;
  for (const part of joinSpaces(pattern).split("*")) {
    const at = whole.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return true;
}

const joinSpaces = (text: string): string => text.replace(/\\\r?\n/g, " ").replace(/\s+/g, " ");

/** The SHA-256 that binds a decision to the exact call. */
export const digestCall = (call: ApprovalCall): string => createHash("sha256").update(formatCall(call)).digest("hex");

/** Name of the event in the message of a follow-up that decides about a call. */
const DECIDED = "call_decided";

/** Whether a message decides about a call. */
export const isDecision = ({ content }: Message): boolean =>
  content.some((block) => block.type === "event" && block.name === DECIDED);

export const toDecisionMark = (decision: ApprovalDecision): Block => ({
  type: "event",
  name: DECIDED,
  data: { ...decision },
});

/** The last call that waited for an approval, and what the latest message of the user says about it. */
export interface DecidedCall {
  readonly call: ApprovalCall;
  /** Absent where that message is about something else, which denies the call. */
  readonly decision: ApprovalDecision | undefined;
  readonly message: string;
  /** The state of its result; absent where it has none. */
  readonly state: string | undefined;
}

/** Finds the call in the conversation; undefined if there is none, or it still waits. */
export function findDecidedCall(conversation: readonly Message[]): DecidedCall | undefined {
  const at = conversation.findLastIndex((message) => findCall(message) !== undefined);
  const call = findCall(conversation[at]);
  const after = conversation.slice(at + 1);
  const reply = after.findLast((message) => isTextBy("user", message));
  if (call === undefined || reply === undefined) return undefined;
  const blocks = after.flatMap(({ content }) => content);
  const result = blocks.findLast((block) => block.type === "action_result" && block.action_id === call.action_id);
  return {
    call,
    decision: findMark(reply, DECIDED, ApprovalDecision),
    message: reply.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"),
    state: result?.type === "action_result" ? result.state : undefined,
  };
}

const findCall = (message: Message | undefined): ApprovalCall | undefined =>
  findMark(message, "turn_ended", v.object({ approval: ApprovalCall }))?.approval;

function findMark<T>(message: Message | undefined, name: string, schema: v.GenericSchema<unknown, T>): T | undefined {
  const mark = message?.content.find((block) => block.type === "event" && block.name === name);
  const parsed = mark?.type === "event" ? v.safeParse(schema, mark.data) : undefined;
  return parsed?.success === true ? parsed.output : undefined;
}
