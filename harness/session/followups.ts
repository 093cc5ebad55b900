import { setTimeout as sleep } from "node:timers/promises";
import { type Block, type Message, TURN_CANCELLED } from "#shared/wire/conversation.ts";
import type { Interrupt } from "#shared/wire/executions/turn.ts";
import type { FinishTaskRequest, FinishTaskResponse, Followup, HeartbeatResponse } from "#shared/wire/harness.ts";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { toDecisionMark } from "../engine/approvals.ts";
import { findHandledInterrupt } from "../engine/resume.ts";
import type { Redactor } from "../redaction/redactor.ts";
import type { Outbox } from "../reporting/outbox.ts";
import type { RunContext } from "../setup/run-context.ts";
import { type InterruptCause, Stop } from "../support/stop.ts";
import { cutBytes, toWellFormed } from "../support/text-limits.ts";
import { callAt } from "../support/timers.ts";

/** Sends heartbeats, and receives with them follow-ups in order, interrupts, and the cancellation of the run. */
export interface Followups {
  /**
   * Takes the next follow-up and adds it to the conversation. If none is waiting, stores all messages and sends another
   * heartbeat: `undefined` means that the run may be finished.
   * @param finish ends the run with the messages that are not stored yet, instead of that heartbeat; `undefined` then means that
   *   it has ended, or that there is an interrupt to answer
   * @param receive prepares a follow-up for its turn, and returns it with the message that the conversation shows
   * @param onWait called when the run does not end, and waits for a follow-up
   */
  takeNext(
    finish?: FinishRun,
    receive?: ReceiveFollowup,
    onWait?: () => Promise<unknown>,
  ): Promise<Followup | undefined>;
  /** The interrupt that no message of the conversation answers yet. */
  pendingInterrupt(): Interrupt | undefined;
  /** Notes that the message which answers an interrupt was sent. The returned function notes that it is stored. */
  answerInterrupt(number: number): () => void;
  /** Acknowledges the follow-ups that are stored, unless they are acknowledged already. All messages must be stored before. */
  settle(): Promise<void>;
  /** Sets the function that is called when the current turn is interrupted; undefined outside a turn. A run that fails begins none. */
  watch(interrupt: ((cause: InterruptCause) => void) | undefined): void;
  /** Ends the heartbeat. */
  end(): void;
}

/** Sends what an execution has not reported yet, and ends its run. Returns what keeps the run from ending. */
export type FinishRun = (unreported: Unreported) => Promise<FinishTaskResponse>;
type ReceiveFollowup = (followup: Followup) => Promise<Followup>;
type Unreported = Pick<
  FinishTaskRequest,
  "first_sequence" | "messages" | "followups_stored" | "interrupts_handled" | "waits"
>;

export const hasEnded = ({ followups = [], interrupt, waiting }: FinishTaskResponse): boolean =>
  followups.length === 0 && interrupt === undefined && waiting !== true;

export interface FollowupOptions {
  readonly plane: Pick<ControlPlane, "heartbeat">;
  readonly outbox: Outbox;
  readonly redactor: Redactor;
  readonly context: Pick<RunContext, "followups" | "next_heartbeat_seconds" | "interrupt"> &
    Partial<Pick<RunContext, "messages">>;
  /** Aborted on a cancel, and when the control plane cannot be reached. */
  readonly stop: AbortController;
  /** Until when the execution may wait for follow-ups, in milliseconds since the epoch. @default it may not */
  readonly waitsUntil?: number | undefined;
}

const NONE_UNSENT = { onStored: () => undefined };
/** A batch of messages holds at most 256 KB; JSON may double a text. */
const SHOWN_BYTES = 120 * 1024;

export function createFollowups(options: FollowupOptions): Followups {
  const { outbox, redactor, context, stop } = options;
  const inbox = createInbox(options);
  const { interrupts, sendHeartbeat } = inbox;
  const ended = new AbortController();
  /** The regular heartbeat that is being sent; none is sent while the run is being finished. */
  let inFlight: Promise<HeartbeatResponse> | undefined;
  let isFinishing = false;

  const isOver = () => ended.signal.aborted || stop.signal.aborted;
  const beatRegularly = async (seconds: number): Promise<number> => {
    if (isFinishing) return seconds;
    inFlight = sendHeartbeat();
    return (await inFlight).next_heartbeat_seconds;
  };
  void repeatHeartbeats(context.next_heartbeat_seconds, beatRegularly, isOver, ended.signal).catch((error: unknown) => {
    if (!isOver()) stop.abort(error);
  });

  /**
   * Ends the run with all that was taken up; the request stores the messages and acknowledges their follow-ups together. Returns whether
   * the run waits for a follow-up instead.
   */
  const finishWith = async (finish: FinishRun): Promise<boolean> => {
    isFinishing = true;
    // Its failure stops the execution; it is reported there.
    await inFlight?.catch(() => undefined);
    const { onStored, ...unsent } = (await outbox.takeUnsent()) ?? NONE_UNSENT;
    const reply = await finish({ ...inbox.state(), ...unsent });
    onStored();
    isFinishing = false;
    inbox.receive(reply.followups ?? []);
    interrupts.receive(reply.interrupt);
    if (hasEnded(reply)) ended.abort();
    return reply.waiting === true;
  };
  // A heartbeat may be sent along with the last messages, unless it has to acknowledge one of them.
  const poll = () => sendWith(outbox.flush(), inbox.isTakenUnacknowledged(), () => sendHeartbeat(inbox.taken()));

  const findNext = async (
    finish: FinishRun | undefined,
    onWait: (() => Promise<unknown>) | undefined,
  ): Promise<Followup | undefined> => {
    for (;;) {
      const known = inbox.first();
      // A cancelled one cannot be changed.
      const followup = known === undefined || known.cancelled === true ? known : await inbox.confirmFirst();
      if (followup !== undefined) return followup;
      const isIdle = finish !== undefined && (await finishWith(finish));
      if (finish === undefined) await poll();
      stop.signal.throwIfAborted();
      // The request has taken it.
      if (!isIdle) return inbox.first();
      await onWait?.();
      await inbox.waitForFollowup();
      stop.signal.throwIfAborted();
    }
  };
  const takeNext: Followups["takeNext"] = async (finish, receive = async (followup) => followup, onWait) => {
    const next = await findNext(finish, onWait);
    if (next === undefined) return undefined;
    inbox.take(next);
    const followup = next.cancelled === true ? next : await receive(next);
    outbox.message(toMessage(followup, redactor), () => inbox.noteStored(followup));
    return followup.cancelled === true ? await takeNext(finish, receive, onWait) : followup;
  };

  return {
    takeNext,
    pendingInterrupt: interrupts.pending,
    answerInterrupt: interrupts.answer,
    async settle() {
      if (inbox.isStoredUnacknowledged()) await sendHeartbeat();
    },
    watch: inbox.watch,
    end: () => ended.abort(),
  };
}

/** What the control plane sends with heartbeats, and what they acknowledge. */
function createInbox({ plane, context, stop, waitsUntil = 0 }: FollowupOptions) {
  /** By number, in the order of delivery. Each response shows them as they are then: edited, or moved by a promotion. */
  let waiting: readonly Followup[] = [];
  const interrupting = new Set<string>();
  const [first] = context.followups;
  /** The last follow-up that was taken. */
  let lastTaken = first === undefined ? 0 : first.number - 1;
  let stored = lastTaken;
  let acknowledged = lastTaken;
  let interrupt: ((cause: InterruptCause) => void) | undefined;
  /** Why the run fails, once it does: a limit is reached. */
  let failing: string | undefined;
  let onReceived: (() => void) | undefined;
  const interrupts = createInterrupts(context, (cause) => interrupt?.(cause));

  const receive = (followups: readonly Followup[]) => {
    const known = new Map([...waiting, ...followups].map((followup) => [followup.number, followup]));
    waiting = [...known.values()].filter(({ number }) => number > lastTaken).sort((a, b) => a.number - b.number);
    for (const { number } of takeInterrupting(waiting, interrupting)) interrupt?.(number);
    if (waiting.length > 0) onReceived?.();
  };
  const sendHeartbeat = async (takesAfter?: number): Promise<HeartbeatResponse> => {
    const sent = stored;
    const reply = await plane.heartbeat(sent, takesAfter, interrupts.stored());
    acknowledged = Math.max(acknowledged, sent);
    receive(reply.followups);
    interrupts.receive(reply.interrupt);
    if (failing === undefined && reply.failing !== undefined) {
      failing = reply.failing;
      interrupt?.(failing);
    }
    if (reply.cancel) stop.abort(new Stop("cancelled", "the run was cancelled"));
    return reply;
  };
  receive(context.followups);

  return {
    interrupts,
    receive,
    sendHeartbeat,
    first: () => waiting[0],
    /**
     * Takes the first follow-up that waits. The control plane confirms it, with the text that it has by now; `undefined` if it was
     * removed in the meantime. A control plane of an earlier version does not confirm, and changes no follow-up.
     */
    async confirmFirst(): Promise<Followup | undefined> {
      const { taken: confirmed = waiting[0] } = await sendHeartbeat(lastTaken);
      stop.signal.throwIfAborted();
      if (confirmed === null) waiting = [];
      return confirmed ?? undefined;
    },
    take({ number: last }: Followup) {
      lastTaken = last;
      waiting = waiting.filter(({ number }) => number > last);
    },
    taken: () => lastTaken,
    /** What is handled, and whether the execution can wait for more. */
    state: () => ({
      followups_stored: lastTaken,
      interrupts_handled: interrupts.answered(),
      ...(Date.now() < waitsUntil ? { waits: true } : {}),
    }),
    isTakenUnacknowledged: () => lastTaken > acknowledged,
    noteStored({ number }: Followup) {
      stored = Math.max(stored, number);
    },
    isStoredUnacknowledged: () => stored > acknowledged,
    watch(next: ((cause: InterruptCause) => void) | undefined) {
      interrupt = next;
      if (failing !== undefined) next?.(failing);
    },
    async waitForFollowup(): Promise<void> {
      if (waiting.length > 0) return;
      await waitUntil(waitsUntil, stop.signal, (resolve) => {
        onReceived = resolve;
      });
      onReceived = undefined;
    },
  };
}

/** Takes the follow-ups that interrupt the current turn, each once. */
function takeInterrupting(waiting: readonly Followup[], taken: Set<string>): Followup[] {
  const found = waiting.filter(
    (followup) => followup.policy === "interrupt" && followup.cancelled !== true && !taken.has(toFollowupId(followup)),
  );
  for (const followup of found) taken.add(toFollowupId(followup));
  return found;
}

/** Resolves at a time, when the signal aborts, or when the function that `listen` gets is called. */
async function waitUntil(time: number, signal: AbortSignal, listen: (resolve: () => void) => void): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const onAbort = () => resolve();
  listen(resolve);
  signal.addEventListener("abort", onAbort);
  const cancelTimer = callAt(time, resolve);
  await promise;
  cancelTimer();
  signal.removeEventListener("abort", onAbort);
}

/** The interrupts of an execution. One that comes outside a turn is answered before the next turn. */
function createInterrupts(
  { interrupt: first, messages = [] }: FollowupOptions["context"],
  onInterrupt: (interrupt: Interrupt) => void,
) {
  let latest = first;
  let answered = findHandledInterrupt(messages);
  let stored = answered;
  return {
    receive(interrupt: Interrupt | undefined) {
      if (interrupt === undefined || interrupt.number <= (latest?.number ?? 0)) return;
      latest = interrupt;
      onInterrupt(interrupt);
    },
    pending: () => (latest !== undefined && latest.number > answered ? latest : undefined),
    answer(number: number) {
      answered = Math.max(answered, number);
      return () => {
        stored = Math.max(stored, number);
      };
    },
    answered: () => answered,
    stored: () => stored,
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
  const { message, cancelled, decision } = followup;
  const clean = redactor.text(toWellFormed(message));
  const start = cutBytes(clean, SHOWN_BYTES);
  const text = start.length < clean.length ? `${start}\n[... truncated; the agent has the full text ...]` : start;
  const note: Block[] =
    cancelled === true
      ? [
          { type: "text", text: CANCELLED },
          { type: "event", name: TURN_CANCELLED, data: {} },
        ]
      : decision === undefined
        ? []
        : [toDecisionMark(decision)];
  return { role: "user", content: [{ type: "text", text }, ...note], message_ids: [toFollowupId(followup)] };
}
