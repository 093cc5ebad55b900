import { setTimeout as sleep } from "node:timers/promises";
import { type Block, type Message, TURN_CANCELLED } from "#shared/wire/conversation.ts";
import type { FinishTaskRequest, Followup, HeartbeatResponse } from "#shared/wire/harness.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { Outbox } from "../reporting/outbox.ts";
import type { RunContext } from "../setup/setup.ts";
import { type InterruptCause, Stop } from "../support/stop.ts";
import { cutBytes, toWellFormed } from "../support/text-limits.ts";

/** Sends heartbeats, and receives with them follow-ups in order and the cancellation of the run. */
export interface Followups {
  /**
   * Takes the next follow-up and adds it to the conversation. If none is waiting, stores all messages and sends another
   * heartbeat: `undefined` means that the run may be finished.
   * @param finish ends the run with the messages that are not stored yet, instead of that heartbeat; `undefined` then means that
   *   it has ended
   * @param receive prepares a follow-up for its turn, and returns it with the message that the conversation shows
   */
  takeNext(finish?: FinishRun, receive?: ReceiveFollowup): Promise<Followup | undefined>;
  /** Acknowledges the follow-ups that are stored, unless they are acknowledged already. All messages must be stored before. */
  settle(): Promise<void>;
  /** Sets the function that is called when the current turn is interrupted; undefined outside a turn. A run that fails begins none. */
  watch(interrupt: ((cause: InterruptCause) => void) | undefined): void;
  /** Ends the heartbeat. */
  end(): void;
}

/** Sends what an execution has not reported yet, and ends its run. Returns the follow-ups that keep the run from ending. */
export type FinishRun = (unreported: Unreported) => Promise<readonly Followup[]>;
type ReceiveFollowup = (followup: Followup) => Promise<Followup>;
type Unreported = Pick<FinishTaskRequest, "first_sequence" | "messages" | "followups_stored">;

export interface FollowupOptions {
  readonly plane: Pick<ControlPlane, "heartbeat">;
  readonly outbox: Outbox;
  readonly redactor: Redactor;
  readonly context: Pick<RunContext, "followups" | "next_heartbeat_seconds">;
  /** Aborted on a cancel, and when the control plane cannot be reached. */
  readonly stop: AbortController;
}

const NONE_UNSENT = { onStored: () => undefined };
/** A batch of messages holds at most 256 KB; JSON may double a text. */
const SHOWN_BYTES = 120 * 1024;

export function createFollowups({ plane, outbox, redactor, context, stop }: FollowupOptions): Followups {
  /** By number, in the order of delivery. Each response shows them as they are then: edited, or moved by a promotion. */
  let waiting: readonly Followup[] = [];
  const interrupting = new Set<string>();
  const ended = new AbortController();
  /** The last follow-up that was taken. */
  let taken = 0;
  let stored = 0;
  let acknowledged = 0;
  let interrupt: ((cause: InterruptCause) => void) | undefined;
  /** Why the run fails, once it does: a limit is reached. */
  let failing: string | undefined;
  /** The regular heartbeat that is being sent; none is sent while the run is being finished. */
  let inFlight: Promise<HeartbeatResponse> | undefined;
  let isFinishing = false;

  const receive = (followups: readonly Followup[]) => {
    const known = new Map([...waiting, ...followups].map((followup) => [followup.number, followup]));
    waiting = [...known.values()].filter(({ number }) => number > taken).sort((a, b) => a.number - b.number);
    for (const followup of waiting) {
      if (followup.policy !== "interrupt" || followup.cancelled === true) continue;
      const id = toFollowupId(followup);
      if (interrupting.has(id)) continue;
      interrupting.add(id);
      interrupt?.(followup.number);
    }
  };
  const sendHeartbeat = async (takesAfter?: number): Promise<HeartbeatResponse> => {
    const sent = stored;
    const reply = await plane.heartbeat(sent, takesAfter);
    acknowledged = Math.max(acknowledged, sent);
    receive(reply.followups);
    if (failing === undefined && reply.failing !== undefined) {
      failing = reply.failing;
      interrupt?.(failing);
    }
    if (reply.cancel) stop.abort(new Stop("cancelled", "the run was cancelled"));
    return reply;
  };

  const [first] = context.followups;
  taken = stored = acknowledged = first === undefined ? 0 : first.number - 1;
  receive(context.followups);
  const isOver = () => ended.signal.aborted || stop.signal.aborted;
  const beatRegularly = async (seconds: number): Promise<number> => {
    if (isFinishing) return seconds;
    inFlight = sendHeartbeat();
    return (await inFlight).next_heartbeat_seconds;
  };
  void repeatHeartbeats(context.next_heartbeat_seconds, beatRegularly, isOver, ended.signal).catch((error: unknown) => {
    if (!isOver()) stop.abort(error);
  });

  /** Ends the run with all that was taken up; the request stores the messages and acknowledges their follow-ups together. */
  const finishWith = async (finish: FinishRun): Promise<void> => {
    isFinishing = true;
    // Its failure stops the execution; it is reported there.
    await inFlight?.catch(() => undefined);
    const { onStored, ...unsent } = (await outbox.takeUnsent()) ?? NONE_UNSENT;
    const left = await finish({ followups_stored: taken, ...unsent });
    onStored();
    isFinishing = false;
    receive(left);
    if (left.length === 0) ended.abort();
  };
  /**
   * Takes the first follow-up that waits. The control plane confirms it, with the text that it has by now; `undefined` if it was removed
   * in the meantime. A control plane of an earlier version does not confirm, and changes no follow-up.
   */
  const takeFirst = async (): Promise<Followup | undefined> => {
    const { taken: confirmed = waiting[0] } = await sendHeartbeat(taken);
    stop.signal.throwIfAborted();
    if (confirmed === null) waiting = [];
    return confirmed ?? undefined;
  };
  // A heartbeat may be sent along with the last messages, unless it has to acknowledge one of them.
  const poll = () => sendWith(outbox.flush(), taken > acknowledged, () => sendHeartbeat(taken));

  const note = ({ number }: Followup) => {
    stored = Math.max(stored, number);
  };
  const findNext = async (finish?: FinishRun): Promise<Followup | undefined> => {
    const [known] = waiting;
    // A cancelled one cannot be changed.
    const followup = known === undefined || known.cancelled === true ? known : await takeFirst();
    if (followup !== undefined) return followup;
    await (finish === undefined ? poll() : finishWith(finish));
    stop.signal.throwIfAborted();
    // The request has taken it.
    return waiting[0];
  };
  const takeNext = async (
    finish?: FinishRun,
    receive: ReceiveFollowup = async (followup) => followup,
  ): Promise<Followup | undefined> => {
    const next = await findNext(finish);
    if (next === undefined) return undefined;
    taken = next.number;
    waiting = waiting.filter(({ number }) => number > taken);
    const followup = next.cancelled === true ? next : await receive(next);
    outbox.message(toMessage(followup, redactor), () => note(followup));
    return followup.cancelled === true ? await takeNext(finish, receive) : followup;
  };

  return {
    takeNext,
    async settle() {
      if (stored > acknowledged) await sendHeartbeat();
    },
    watch(next) {
      interrupt = next;
      if (failing !== undefined) next?.(failing);
    },
    end: () => ended.abort(),
  };
}

/** Calls `send` repeatedly, each time after the seconds that it returned last. */
async function repeatHeartbeats(
  first: number,
  send: (seconds: number) => Promise<number>,
  isOver: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  let seconds = first;
  while (!isOver()) {
    await sleep(seconds * 1000, undefined, { signal });
    seconds = await send(seconds);
  }
}

/** Sends a heartbeat while messages are sent, or after that. */
async function sendWith(flushed: Promise<void>, isAfter: boolean, send: () => Promise<unknown>): Promise<void> {
  if (isAfter) await flushed;
  await Promise.all([flushed, send()]);
}

const CANCELLED = "[This was cancelled before it started. Do not carry it out.]";

const toFollowupId = ({ number, followup_id = `followup-${number}` }: Followup): string => followup_id;

function toMessage(followup: Followup, redactor: Redactor): Message {
  const { message, cancelled } = followup;
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
  return { role: "user", content: [{ type: "text", text }, ...note], message_ids: [toFollowupId(followup)] };
}
