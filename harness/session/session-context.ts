import type { Message } from "#shared/wire/conversation.ts";
import type { Envelope } from "#shared/wire/harness.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import type { TurnOutcome } from "../engine/engine.ts";
import type { Host } from "../isolation/host.ts";
import type { Redactor } from "../redaction/redactor.ts";
import { createLiveOutput, type LiveOutput } from "../reporting/live-output.ts";
import { createOutbox, type Outbox } from "../reporting/outbox.ts";
import type { RunContext } from "../setup/run-context.ts";
import type { Log } from "../support/log.ts";
import { cutBytes, toWellFormed } from "../support/text-limits.ts";
import { createSlice, type Slice } from "../support/time-slice.ts";
import { createFollowups, type FinishRun, type Followups, hasEnded } from "./followups.ts";

/** What a session has before it knows its run. */
export interface SessionContext {
  readonly envelope: Envelope;
  /** Aborted when the execution stops. */
  readonly stop: AbortController;
  readonly redactor: Redactor;
  readonly log: Log;
  readonly plane: ControlPlane;
  readonly host: Promise<Host>;
}

/** The conversation of a session: what it sends, what it receives, and how long it may go on. */
export interface SessionChannel {
  /** Every message so far, including those of earlier runs and executions. */
  readonly conversation: readonly Message[];
  readonly outbox: Outbox;
  readonly live: LiveOutput;
  readonly followups: Followups;
  readonly slice: Slice;
  /** Finishes the run with an outcome and what is not reported yet. Undefined if the control plane cannot take both in one request. */
  readonly finish: ((outcome: TurnOutcome, unreported: Parameters<FinishRun>[0]) => ReturnType<FinishRun>) | undefined;
}

/** A summary becomes the run's status message, which holds this many bytes. */
const SUMMARY_BYTES = 1_024;

/** Ends the run with an outcome. Returns what keeps it from ending. */
export async function finishRun(
  { plane, redactor, log }: SessionContext,
  outcome: TurnOutcome,
  unreported: Parameters<FinishRun>[0] = {},
): ReturnType<FinishRun> {
  const summary = cutBytes(toWellFormed(redactor.text(outcome.summary)), SUMMARY_BYTES);
  const reply = await plane.finishTask({ ...outcome, summary, ...unreported });
  if (hasEnded(reply)) log("info", "finished", { success: outcome.success, summary });
  return reply;
}

/** Opens the channel and starts the heartbeat. */
export function openChannel(session: SessionContext, context: RunContext): SessionChannel {
  const { envelope, stop, redactor, plane } = session;
  const conversation = [...context.messages];
  const onFailure = (error: unknown) => stop.abort(error);
  const sender = createOutbox({ plane, redactor, nextSequence: context.next_sequence, onFailure });
  // A command is shown before its output.
  const live = createLiveOutput({ plane, redactor, beforeFirst: () => sender.flush() });
  plane.onWatched(live.setWatched);
  const outbox = recordMessages(conversation, live, sender);
  const slice = createSlice(envelope.deadline_at);
  const waitsUntil = envelope.waits === true ? slice.cutAt : undefined;
  const followups = createFollowups({ plane, outbox, redactor, context, stop, waitsUntil });
  const finish: SessionChannel["finish"] =
    context.finish_takes_messages === true ? (outcome, rest) => finishRun(session, outcome, rest) : undefined;
  return { conversation, outbox, live, followups, slice, finish };
}

/**
 * Adds every message that is sent to the conversation that the engine reads. The message with a text that was sent as live output gets the
 * id of that output.
 */
function recordMessages(conversation: Message[], live: LiveOutput, outbox: Outbox): Outbox {
  return {
    ...outbox,
    message(message, onStored) {
      conversation.push(message);
      outbox.message(withTextId(message, live), onStored);
    },
  };
}

function withTextId(message: Message, live: LiveOutput): Message {
  const text = message.role === "assistant" ? message.content.find((block) => block.type === "text") : undefined;
  const id = text && live.endText();
  if (id === undefined) return message;
  const content = message.content.map((block) => (block === text ? { ...text, message_id: id } : block));
  return { ...message, content };
}
