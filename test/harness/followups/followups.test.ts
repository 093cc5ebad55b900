import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { createOutbox } from "#harness/reporting/outbox.ts";
import { createFollowups, type Followups } from "#harness/session/followups.ts";
import { createInterruptibleTurns } from "#harness/session/interruptible-turns.ts";
import { Interrupted } from "#harness/support/stop.ts";
import type { Message } from "#shared/wire/conversation.ts";
import type { Followup, HeartbeatResponse } from "#shared/wire/harness.ts";

const SECRET = "planted-value-0001";
const followup = (number: number, message: string, more: Partial<Followup> = {}): Followup => ({
  number,
  message,
  policy: "enqueue",
  created_at: "2030-01-01T00:00:00.000Z",
  ...more,
});

const open: Followups[] = [];
afterEach(() => {
  for (const one of open.splice(0)) one.end();
});

/** The follow-ups of an execution whose control plane returns these responses to heartbeats, then empty ones. */
function create(
  given: readonly Followup[] = [],
  replies: (Partial<HeartbeatResponse> | Promise<Partial<HeartbeatResponse>> | Error)[] = [],
  seconds = 3_600,
) {
  const heartbeats: number[] = [];
  const taking: number[] = [];
  const sent: Message[] = [];
  const plane = {
    async heartbeat(stored: number, takesAfter?: number) {
      heartbeats.push(stored);
      if (takesAfter !== undefined) taking.push(takesAfter);
      const reply = (await replies.shift()) ?? {};
      if (reply instanceof Error) throw reply;
      return { followups: [], cancel: false, next_heartbeat_seconds: seconds, ...reply };
    },
    sendEvent: async () => undefined,
    async sendMessages(first: number, messages: readonly Message[]) {
      sent.push(...messages);
      return first + messages.length;
    },
  };
  const redactor = createRedactor([SECRET]);
  const stop = new AbortController();
  const outbox = createOutbox({ plane, redactor, nextSequence: 1, onFailure: (error) => stop.abort(error) });
  const context = { followups: [...given], next_heartbeat_seconds: seconds };
  const followups = createFollowups({ plane, outbox, redactor, context, stop });
  open.push(followups);
  return { followups, outbox, stop, heartbeats, taking, sent };
}

const textOf = (message: Message | undefined) =>
  message?.content.flatMap((block) => (block.type === "text" ? [block.text] : []));

describe("createFollowups", () => {
  it("takes follow-ups in order, and requests more when none is left", async () => {
    const { followups, heartbeats, taking, sent } = create([followup(4, "four"), followup(3, "three")].toReversed(), [
      {},
      {},
      { followups: [followup(6, "six"), followup(5, "five"), followup(4, "four")] },
    ]);
    const taken: (number | undefined)[] = [];
    for (let count = 0; count < 5; count++) taken.push((await followups.takeNext())?.number);
    expect(taken).toEqual([3, 4, 5, 6, undefined]);
    expect(heartbeats, "what is stored already").toEqual([2, 2, 4, 4, 6]);
    expect(taking, "what was taken before; the third one has taken what it returned").toEqual([2, 3, 4, 5, 6]);
    expect(sent.map(({ role, message_ids, ...message }) => [role, message_ids, textOf({ role, ...message })])).toEqual([
      ["user", ["followup-3"], ["three"]],
      ["user", ["followup-4"], ["four"]],
      ["user", ["followup-5"], ["five"]],
      ["user", ["followup-6"], ["six"]],
    ]);
  });

  it("acknowledges at first only what earlier executions have stored", async () => {
    const later = create([followup(3, "three")]);
    await later.followups.settle();
    expect(later.heartbeats).toEqual([]);
    await later.followups.takeNext();
    await later.outbox.flush();
    await later.followups.settle();
    await later.followups.settle();
    expect(later.heartbeats, "with the first one it takes the follow-up").toEqual([2, 3]);
    const none = create();
    expect(await none.followups.takeNext()).toBeUndefined();
    expect(none.heartbeats).toEqual([0]);
  });

  it("acknowledges messages that are stored during a heartbeat with the next one", async () => {
    const { promise, resolve } = Promise.withResolvers<Partial<HeartbeatResponse>>();
    const { followups, outbox, heartbeats } = create([followup(1, "one")], [promise], 0.01);
    await expect.poll(() => heartbeats).toEqual([0]);
    await followups.takeNext();
    await outbox.flush();
    resolve({ next_heartbeat_seconds: 3_600 });
    await sleep(0);
    await followups.settle();
    expect(heartbeats).toEqual([0, 0, 1]);
  });

  it("records a cancelled follow-up as such, and skips it", async () => {
    const { followups, outbox, sent } = create([followup(1, "no", { cancelled: true }), followup(2, "yes")]);
    expect((await followups.takeNext())?.number).toBe(2);
    await outbox.flush();
    expect(sent[0]?.content).toEqual([
      { type: "text", text: "no" },
      { type: "text", text: "[This was cancelled before it started. Do not carry it out.]" },
      { type: "event", name: "turn_cancelled", data: {} },
    ]);
    expect(sent[1]?.content).toEqual([{ type: "text", text: "yes" }]);
  });

  it("redacts a follow-up, and truncates it at 120 KiB", async () => {
    const long = `a\0 ${SECRET} ${"x".repeat(120 * 1_024)}`;
    const { followups, outbox, sent } = create([followup(1, long)]);
    expect((await followups.takeNext())?.message, "the agent gets it whole").toBe(long);
    await outbox.flush();
    const [text = ""] = textOf(sent[0]) ?? [];
    const [kept = "", note] = text.split("\n");
    expect([Buffer.byteLength(kept), note]).toEqual([120 * 1_024, "[... truncated; the agent has the full text ...]"]);
    expect(kept.startsWith("a\ufffd *** x")).toBe(true);
  });

  it("interrupts the current turn for a new follow-up with the policy interrupt", async () => {
    const { followups } = create(
      [],
      [
        {
          followups: [
            followup(1, "later"),
            followup(2, "now", { policy: "interrupt" }),
            followup(3, "not", { policy: "interrupt", cancelled: true }),
          ],
        },
        { followups: [followup(2, "now", { policy: "interrupt" })] },
      ],
      0.01,
    );
    const interrupted: unknown[] = [];
    followups.watch((cause) => interrupted.push(cause));
    await expect.poll(() => interrupted).toEqual([2]);
    const taken = [(await followups.takeNext())?.number, (await followups.takeNext())?.number];
    expect([taken, interrupted]).toEqual([[1, 2], [2]]);
  });

  it("takes a follow-up as it is by then, and none that was deleted", async () => {
    const { followups, outbox, sent } = create(
      [followup(1, "one"), followup(2, "two"), followup(3, "three")],
      [
        { taken: followup(2, "edited", { followup_id: "followup-3" }) },
        { taken: null },
        { followups: [followup(4, "four")], taken: followup(4, "four") },
      ],
    );
    const messages = [(await followups.takeNext())?.message, (await followups.takeNext())?.message];
    expect(messages).toEqual(["edited", "four"]);
    await outbox.flush();
    expect(sent.map(({ message_ids }) => message_ids)).toEqual([["followup-3"], ["followup-4"]]);
  });

  it("interrupts the current turn for a follow-up that is promoted while it waits, once", async () => {
    const promoted = [followup(1, "two", { policy: "interrupt", followup_id: "followup-2" }), followup(2, "one")];
    const { followups, heartbeats } = create(
      [followup(1, "one"), followup(2, "two")],
      [{ followups: promoted }, { followups: promoted }],
      0.01,
    );
    const interrupted: unknown[] = [];
    followups.watch((number) => interrupted.push(number));
    await expect.poll(() => heartbeats.length).toBeGreaterThan(2);
    expect(interrupted).toEqual([1]);
    expect((await followups.takeNext())?.message).toBe("two");
  });

  it("stops the execution when the run is cancelled, or the control plane cannot be reached", async () => {
    const cancelled = create([], [{ cancel: true }]);
    await expect(cancelled.followups.takeNext()).rejects.toThrow("the run was cancelled");
    expect(cancelled.stop.signal.reason).toMatchObject({ kind: "cancelled" });
    const unreachable = create([], [new Error("no connection")], 0.01);
    await expect.poll(() => unreachable.stop.signal.aborted).toBe(true);
    expect(unreachable.stop.signal.reason).toMatchObject({ message: "no connection" });
  });

  it("sends no heartbeat after its end", async () => {
    const { followups, heartbeats, stop } = create([], [], 0.01);
    await expect.poll(() => heartbeats.length).toBeGreaterThan(2);
    followups.end();
    const count = heartbeats.length;
    await sleep(60);
    expect([heartbeats.length, stop.signal.aborted]).toEqual([count, false]);
  });

  it("ends the run with the unstored messages and the number of handled follow-ups", async () => {
    const { followups, outbox, heartbeats } = create([followup(1, "one")]);
    await followups.takeNext();
    outbox.message({ role: "assistant", content: [{ type: "text", text: "Done." }] });
    const requests: unknown[] = [];
    const left = [[followup(2, "two")], []];
    const finish = async (unreported: unknown) => {
      requests.push(unreported);
      return { followups: left.shift() ?? [] };
    };
    expect((await followups.takeNext(finish))?.number).toBe(2);
    expect(await followups.takeNext(finish)).toBeUndefined();
    expect(requests).toMatchObject([
      { followups_stored: 1, first_sequence: 1, messages: [{ role: "user" }, { role: "assistant" }] },
      { followups_stored: 2, first_sequence: 3, messages: [{ message_ids: ["followup-2"] }] },
    ]);
    expect(heartbeats, "it takes the first one").toEqual([0]);
    await followups.settle();
    expect(heartbeats, "what was stored with the end").toEqual([0, 2]);
  });

  it("sends no heartbeat while it ends the run, and continues if a follow-up keeps the run from ending", async () => {
    const { followups, heartbeats } = create([], [], 0.01);
    await expect.poll(() => heartbeats.length).toBeGreaterThan(0);
    const finish = async () => {
      const before = heartbeats.length;
      // The heartbeats of another execution show that enough time has passed.
      const other = create([], [], 0.01);
      await expect.poll(() => other.heartbeats.length).toBeGreaterThan(3);
      return { followups: [followup(heartbeats.length - before + 1, "more")] };
    };
    expect((await followups.takeNext(finish))?.number, "1 and the heartbeats meanwhile").toBe(1);
    const before = heartbeats.length;
    await expect.poll(() => heartbeats.length).toBeGreaterThan(before);
  });

  it("ends the run after the response to a pending heartbeat", async () => {
    const { promise, resolve } = Promise.withResolvers<Partial<HeartbeatResponse>>();
    const { followups, heartbeats, stop } = create([], [promise], 0.01);
    await expect.poll(() => heartbeats.length).toBe(1);
    const order: string[] = [];
    const responded = promise.then(() => order.push("heartbeat"));
    const ended = followups.takeNext(async () => {
      order.push("end");
      return {};
    });
    await sleep(0);
    resolve({});
    await Promise.all([responded, ended]);
    expect(order).toEqual(["heartbeat", "end"]);
    const other = create([], [], 0.01);
    await expect.poll(() => other.heartbeats.length).toBeGreaterThan(3);
    expect([heartbeats.length, stop.signal.aborted], "no heartbeat after the end").toEqual([1, false]);
  });

  it("ends the run without messages if all are stored", async () => {
    const { followups } = create();
    const requests: unknown[] = [];
    await followups.takeNext(async (unreported) => {
      requests.push(unreported);
      return {};
    });
    expect(requests).toEqual([{ followups_stored: 0, interrupts_handled: 0 }]);
  });
});

describe("createInterruptibleTurns", () => {
  const outcome = { success: true, summary: "Done." };

  it("ends a turn that a follow-up interrupts, and no later one", async () => {
    const { followups } = create([], [{ followups: [followup(7, "now", { policy: "interrupt" })] }], 0.01);
    const turns = createInterruptibleTurns(followups);
    const before = turns.signal();
    const first = turns.take(async () => {
      const signal = turns.signal();
      await expect.poll(() => signal.aborted).toBe(true);
      throw signal.reason;
    });
    expect(await first).toEqual({ success: false, summary: "Interrupted by follow-up 7." });
    expect(before.aborted).toBe(false);
    expect(await turns.take(async () => outcome)).toEqual(outcome);
    expect(turns.signal().aborted).toBe(false);
  });

  it("ends the turn of a run that fails, and each later one", async () => {
    const { followups } = create([], [{ failing: "max_steps: 3" }], 0.01);
    const turns = createInterruptibleTurns(followups);
    const take = () =>
      turns.take(async () => {
        const signal = turns.signal();
        await expect.poll(() => signal.aborted).toBe(true);
        throw signal.reason;
      });
    expect(await take()).toEqual({ success: false, summary: "max_steps: 3" });
    expect(await take()).toEqual({ success: false, summary: "max_steps: 3" });
  });

  it("passes on every other failure", async () => {
    const turns = createInterruptibleTurns(create().followups);
    await expect(turns.take(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await turns.take(() => Promise.reject(new Interrupted(3)))).toMatchObject({ success: false });
  });
});
