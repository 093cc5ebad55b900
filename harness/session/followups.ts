import { setTimeout as sleep } from "node:timers/promises";
import { type Block, type Message, TURN_CANCELLED } from "#shared/wire/conversation.ts";
import type { Followup, HeartbeatResponse } from "#shared/wire/harness.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { Outbox } from "../reporting/outbox.ts";
import type { RunContext } from "../setup/setup.ts";
import { Stop } from "../support/stop.ts";
import { cutBytes, toWellFormed } from "../support/text-limits.ts";

/** Sends heartbeats, and receives with them follow-ups in order and the cancellation of the run. */
export interface Followups {
  /**
   * Takes the next follow-up and adds it to the conversation. If none is waiting, stores all messages and asks the control plane
   * once more: `undefined` means that the run may be finished.
   */
  takeNext(): Promise<Followup | undefined>;
  /** Acknowledges the follow-ups that are stored, unless they are acknowledged already. All messages must be stored before. */
  settle(): Promise<void>;
  /** Sets the function that is called when a follow-up interrupts the current turn; undefined outside a turn. */
  watch(interrupt: ((number: number) => void) | undefined): void;
  /** Ends the heartbeat. */
  end(): void;
}

export interface FollowupOptions {
  readonly plane: Pick<ControlPlane, "heartbeat">;
  readonly outbox: Outbox;
  readonly redactor: Redactor;
  readonly context: Pick<RunContext, "followups" | "next_heartbeat_seconds">;
  /** Aborted on a cancel, and when the control plane cannot be reached. */
  readonly stop: AbortController;
}

/** A batch of messages holds at most 256 KB; JSON may double a text. */
const SHOWN_BYTES = 120 * 1024;

export function createFollowups({ plane, outbox, redactor, context, stop }: FollowupOptions): Followups {
  const waiting: Followup[] = [];
  const ended = new AbortController();
  let seen = 0;
  let stored = 0;
  let acknowledged = 0;
  let interrupt: ((number: number) => void) | undefined;

  const receive = (followups: readonly Followup[]) => {
    for (const followup of [...followups].sort((a, b) => a.number - b.number)) {
      if (followup.number <= seen) continue;
      seen = followup.number;
      waiting.push(followup);
      if (followup.policy === "interrupt" && followup.cancelled !== true) interrupt?.(followup.number);
    }
  };
  const sendHeartbeat = async (): Promise<HeartbeatResponse> => {
    const sent = stored;
    const reply = await plane.heartbeat(sent);
    acknowledged = Math.max(acknowledged, sent);
    receive(reply.followups);
    if (reply.cancel) stop.abort(new Stop("cancelled", "the run was cancelled"));
    return reply;
  };
  const keepSendingHeartbeats = async () => {
    let seconds = context.next_heartbeat_seconds;
    while (!ended.signal.aborted && !stop.signal.aborted) {
      await sleep(seconds * 1000, undefined, { signal: ended.signal });
      seconds = (await sendHeartbeat()).next_heartbeat_seconds;
    }
  };

  const [first] = context.followups;
  stored = acknowledged = first === undefined ? 0 : first.number - 1;
  receive(context.followups);
  keepSendingHeartbeats().catch((error: unknown) => {
    if (!ended.signal.aborted && !stop.signal.aborted) stop.abort(error);
  });

  const takeNext = async (): Promise<Followup | undefined> => {
    if (waiting.length === 0) {
      const flushed = outbox.flush();
      // A heartbeat may be sent along with the last messages, unless it has to acknowledge one of them.
      if (waiting.length === 0 && seen > acknowledged) await flushed;
      await Promise.all([flushed, sendHeartbeat()]);
      stop.signal.throwIfAborted();
    }
    const followup = waiting.shift();
    if (followup !== undefined)
      outbox.message(toMessage(followup, redactor), () => {
        stored = Math.max(stored, followup.number);
      });
    return followup?.cancelled === true ? await takeNext() : followup;
  };

  return {
    takeNext,
    async settle() {
      if (stored > acknowledged) await sendHeartbeat();
    },
    watch(next) {
      interrupt = next;
    },
    end: () => ended.abort(),
  };
}

const CANCELLED = "[This was cancelled before it started. Do not carry it out.]";

function toMessage({ number, message, cancelled }: Followup, redactor: Redactor): Message {
  const clean = redactor.text(toWellFormed(message));
  const start = cutBytes(clean, SHOWN_BYTES);
  const text = start.length < clean.length ? `${start}\n[... truncated; the agent has the full text ...]` : start;
  const note: Block[] =
    cancelled === true
      ? [
          { type: "text", text: CANCELLED },
          { type: "event", name: TURN_CANCELLED, data: {} },
        ]
      : [];
  return { role: "user", content: [{ type: "text", text }, ...note], message_ids: [`followup-${number}`] };
}
