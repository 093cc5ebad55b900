import type { Block } from "#shared/wire/conversation.ts";
import type { Turn, TurnOutcome } from "../engine/engine.ts";
import { toEndMark } from "../engine/resume.ts";
import type { Outbox } from "../reporting/outbox.ts";
import { Interrupted } from "../support/stop.ts";
import { cutBytes, toWellFormed } from "../support/text-limits.ts";
import type { FinishRun } from "./followups.ts";
import { toInterruptedOutcome } from "./interruptible-turns.ts";
import type { OutputFormat } from "./output-format.ts";
import type { PreparedWorkspace } from "./prepared-workspace.ts";
import type { SessionAgent } from "./session-agent.ts";
import type { SessionChannel } from "./session-context.ts";

/** The longest response: a batch of messages holds 256 KB, and JSON may double a text. */
const MAX_RESPONSE_BYTES = 120 * 1024;
const MAX_SHOWN_FILES = 5;

/** What a run without any instruction ends with. */
const NOTHING_DONE: TurnOutcome = { success: true, summary: "There was nothing to do." };

/**
 * Takes turn after turn until there is no follow-up left. The outcome of the last turn is the outcome of the run.
 * @returns the outcome, unless the channel has finished the run with it
 */
export async function converse(
  systemPrompt: string | undefined,
  agent: SessionAgent,
  channel: SessionChannel,
  { start, save, checkpoints, artifacts, changes, branch, skillReported, receive }: PreparedWorkspace,
  format?: OutputFormat,
): Promise<TurnOutcome | undefined> {
  const { conversation, outbox, followups, finish } = channel;
  const { engine, tools, turns } = agent;
  let outcome = start.from === "response" ? start.last : undefined;
  let isSaved = start.from === "response";
  const endTurn = (ended: TurnOutcome): void => {
    outcome = ended;
    const onStored = ended.interrupt === undefined ? undefined : followups.answerInterrupt(ended.interrupt);
    sendReply(outbox, ended.summary, toEndMark(ended), onStored);
  };
  const finishWithOutcome: FinishRun | undefined =
    finish === undefined
      ? undefined
      : async (unreported) => {
          await skillReported;
          return await finish(outcome ?? NOTHING_DONE, unreported);
        };
  // Without a checkpoint, a loss of the execution would repeat the turn that has ended.
  const saveEnd = async () => {
    if (!isSaved) isSaved = await save({ always: true });
  };
  const takeFollowup = async (): Promise<readonly string[] | undefined> => {
    for (;;) {
      const interrupt = followups.pendingInterrupt();
      if (interrupt !== undefined) endTurn(toInterruptedOutcome(new Interrupted(interrupt)));
      const followup = await followups.takeNext(finishWithOutcome, receive, saveEnd);
      if (followup !== undefined) return [followup.message];
      if (followups.pendingInterrupt() === undefined) return undefined;
    }
  };
  let instructions: readonly string[] | undefined = agent.instructions;
  if (start.from === "followup") instructions = [start.message];
  let commandsDone = start.from === "response" ? 0 : start.commandsDone;
  // An earlier execution was lost before it ended the interrupted turn.
  if (start.from === "response" || followups.pendingInterrupt() !== undefined) {
    commandsDone = 0;
    const isOpen = start.from === "response" && followups.pendingInterrupt() === undefined;
    instructions = (isOpen ? requestMissing(outbox, start.last, format) : undefined) ?? (await takeFollowup());
  }
  while (instructions !== undefined) {
    const input = { instructions, conversation, commandsDone };
    const turn: Turn = {
      ...input,
      ...(systemPrompt === undefined ? {} : { systemPrompt }),
      ...(outcome === undefined ? {} : { last: outcome }),
    };
    commandsDone = 0;
    const ended = await turns.take(async () => {
      await tools.settleDecided(conversation, () => checkpoints.save({ always: true }));
      return await engine.takeTurn(turn, tools);
    });
    tools.reportBackground();
    const note = `${await keepFiles(outbox, { artifacts, changes })}${await branch.push(ended)}`;
    // A note at the end of a response would make its JSON unreadable.
    if (format !== undefined && note !== "")
      outbox.message({ role: "system", content: [{ type: "text", text: note.trim() }] });
    const review = format?.review(ended) ?? { ended: { ...ended, summary: ended.summary + note } };
    if ("request" in review) {
      sendReply(outbox, ended.summary);
      instructions = [sendRequest(outbox, review.request)];
      isSaved = await save();
      continue;
    }
    // The response that does not fit stays in the conversation.
    if (ended.success && !review.ended.success) sendReply(outbox, ended.summary);
    endTurn(review.ended);
    isSaved = await save();
    instructions = await takeFollowup();
    if (instructions !== undefined) await saveEnd();
  }
  return finish === undefined ? (outcome ?? NOTHING_DONE) : undefined;
}

/** Keeps the files that a turn made as artifacts. Returns a note about those that are not kept. */
async function keepFiles(
  outbox: Outbox,
  { artifacts, changes }: Pick<PreparedWorkspace, "artifacts" | "changes">,
): Promise<string> {
  // The messages of a turn come before the files that it made. Without files, they share a batch with the response.
  const { left: files } = await artifacts.collect(() => outbox.flush());
  const omissions = [...files, ...(await changes.collect(() => outbox.flush()))];
  return omissions.length === 0 ? "" : ` Not kept as artifacts: ${omissions.slice(0, MAX_SHOWN_FILES).join("; ")}.`;
}

/** Asks for a response that fits, where an earlier execution was lost before it did. */
function requestMissing(outbox: Outbox, last: TurnOutcome, format: OutputFormat | undefined): string[] | undefined {
  const review = format?.review(last);
  return review !== undefined && "request" in review ? [sendRequest(outbox, review.request)] : undefined;
}

function sendRequest(outbox: Outbox, request: string): string {
  outbox.message({ role: "user", content: [{ type: "text", text: request }] });
  return request;
}

/** Sends the message that ends a turn. */
export const sendReply = (outbox: Outbox, text: string, mark: readonly Block[] = [], onStored?: () => void) =>
  outbox.message(
    {
      role: "assistant",
      content: [{ type: "text", text: cutBytes(toWellFormed(text), MAX_RESPONSE_BYTES) }, ...mark],
    },
    onStored,
  );
