import { describe, expect, it } from "vitest";
import { cancelMessage, wasCancelled } from "#shared/conversations/cancelled-turn.ts";
import { findFinalMessage, readPrompt } from "#shared/conversations/conversation.ts";
import { addDelegatedSteps } from "#shared/conversations/delegated-steps.ts";
import { settleLastTurn } from "#shared/conversations/last-turn.ts";
import {
  createLiveReader,
  finishedIds,
  finishLiveOutput,
  isWatched,
  watchRun,
} from "#shared/conversations/live-output.ts";
import { prepareMessages, readBatch } from "#shared/conversations/messages.ts";
import { readPublicRun } from "#shared/conversations/public-run.ts";
import { readFollowups } from "#shared/conversations/read-followups.ts";
import { respondWithEvents } from "#shared/conversations/respond-with-events.ts";
import { readEvents, toTimelineEvent } from "#shared/conversations/timeline.ts";
import { composeTranscript } from "#shared/conversations/transcript.ts";
import { putTranscriptEvents } from "#shared/conversations/transcript-store.ts";
import { truncateConversation, truncateMessages, truncateSteps, truncateText } from "#shared/conversations/truncate.ts";
import { hasEnded, hasNews, waitForEvents } from "#shared/conversations/wait-for-events.ts";
import { fileKeys } from "#shared/files/file-store.ts";
import { sha256 } from "#shared/ids.ts";
import { putFollowup } from "#shared/records/followup.ts";
import { type ExecutingHead, isExecutingHead, type RunHead, readHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { ConditionFailed } from "#shared/table/table.ts";
import type { Block, Message, Step } from "#shared/wire/conversation.ts";
import { createClient, request } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, workingRun } from "../../support/execution.ts";

const head = async (plane: TestControlPlane, run: string): Promise<RunHead> => {
  const found = await readHead(run, plane.table);
  if (found === undefined) throw new Error("there is no such run");
  return found;
};
const executing = async (plane: TestControlPlane, run: string): Promise<ExecutingHead> => {
  const found = await head(plane, run);
  if (!isExecutingHead(found)) throw new Error("the run is not executing");
  return found;
};
const set = (plane: TestControlPlane, run: string, values: Record<string, string | number | boolean>) =>
  plane.table.write({ kind: "update", key: keys.head(run), set: values });

const CUT = "\n[cut here; the transcript has the whole]";
const text = (value: string, more: object = {}): Block => ({ type: "text", text: value, ...more });
const message = (role: Message["role"], ...content: Block[]): Message => ({ role, content });
const result = (output: unknown, more: object = {}): Block => ({
  type: "action_result",
  action_id: "a",
  category: "command",
  name: "run_command",
  state: "completed",
  output,
  ...more,
});
const action = (input: unknown): Block => ({ type: "action", id: "a", category: "files", name: "edit", input });
const step = (id: string, ...messages: Message[]): Step => ({ id, messages, steps: [] });

describe("a request for a run's events", () => {
  const stream = "text/event-stream";
  it.each([
    [stream, true],
    ["Text/Event-Stream", true],
    [`${stream};q=0.9`, true],
    [`${stream} ; q=0.9`, true],
    [`application/json, ${stream}`, true],
    [undefined, false],
    ["*/*", false],
    [`x-${stream}`, false],
    [`${stream}-x`, false],
    [`a/b; x=${stream}`, false],
  ])("with Accept %j gets a stream: %j", async (accept, streams) => {
    const plane = await createTestControlPlane();
    const principal = await plane.ports.principals.authenticate(`Bearer ${plane.key}`, undefined);
    const call = (lastEventId?: string) =>
      respondWithEvents(
        {
          path: { runId },
          query: { after: 1, wait: undefined, live: undefined, live_after: undefined },
          principal,
          header: (name) => (name === "accept" ? accept : name === "last-event-id" ? lastEventId : undefined),
          authenticateAgain: async () => principal,
        },
        { ...plane.ports, streamSeconds: 60 },
      );
    const { run_id: runId } = await workingRun(plane);
    const response = await call();
    expect([response.status, "stream" in response]).toEqual([200, streams]);
    if (!("stream" in response)) return expect(response.body.next).toBe(3);
    for (const [last, first] of [
      [undefined, 2],
      ["2", 3],
      ["0", 1],
      ["2x", 2],
      ["12345678901", 2],
    ] as const) {
      const { stream } = await call(last);
      await stream?.next();
      expect((await stream?.next())?.value, `${last}`).toMatch(new RegExp(`^id: ${first}\n`));
      await stream?.return();
    }
  });

  it.each([
    ["after=0", 200],
    ["after=9999999999", 200],
    ["after=99999999999", 400],
    ["after=-1", 400],
    ["after=1x", 400],
    ["after=x1", 400],
    ["wait=0", 200],
    ["wait=26", 400],
    ["live_after=", 200],
  ])("with %s returns %i", async (query, status) => {
    const plane = await createTestControlPlane();
    const run = await createRun(plane);
    expect((await request(plane, "GET", `/agent/runs/${run}/events?${query}`)).status).toBe(status);
  });

  it("accepts a position of at most 16,384 characters", async () => {
    const plane = await createTestControlPlane();
    const run = await createRun(plane);
    const response = async (length: number) =>
      (await request(plane, "GET", `/agent/runs/${run}/events?live_after=${"a".repeat(length)}`)).status;
    expect([await response(16_384), await response(16_385)]).toEqual([200, 400]);
  });
});

describe("a reader of a run's events", () => {
  it("gets new events up to the end of the run", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const options = { after: 0, waitSeconds: 0, isLive: false };
    const first = await waitForEvents(await head(plane, harness.run_id), options, plane.ports);
    expect(first).toMatchObject({ next: 3, ended: false });
    expect(first.events.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(first).not.toHaveProperty("live");
    await harness.finish();
    const ended = await head(plane, harness.run_id);
    expect(await waitForEvents(ended, { ...options, after: 3 }, plane.ports)).toMatchObject({ next: 4, ended: true });
    const nothing = { events: [], next: 4, ended: true };
    expect(await waitForEvents(ended, { ...options, after: 4, waitSeconds: 25 }, plane.ports)).toEqual(nothing);
    expect([3, 4].map((after) => hasNews(ended, after))).toEqual([true, false]);
  });

  it("wakes for new events, after its waiting time, and every two seconds while the run is queued", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    await user.put(`/agent/teams/${plane.team}`, { settings: { concurrency_limit: 1 } });
    const first = await workingRun(plane);
    const run = await createRun(plane);
    await deliver(plane, "runs");
    const waits: number[] = [];
    let wake = async () => {};
    const next = async (milliseconds: number) => {
      waits.push(milliseconds);
      plane.clock.now += Math.min(milliseconds, 2_000);
      await wake();
    };
    const ports = { ...plane.ports, signals: { subscribe: () => ({ next, close: () => undefined }) } };
    const wait = async (isLive: boolean, waitSeconds: number, livePosition?: string) => {
      waits.splice(0);
      const options = { after: 2, waitSeconds, isLive, ...(livePosition === undefined ? {} : { livePosition }) };
      return waitForEvents(await head(plane, run), options, ports);
    };
    expect((await head(plane, run)).waiting).toBe("owner");
    const moved = await wait(true, 5);
    expect(moved).toMatchObject({ events: [], next: 2, ended: false, live: [], waiting: { position: 1 } });
    expect(waits).toEqual([]);
    expect(await wait(true, 5, moved.live_next)).toMatchObject({ events: [], waiting: { position: 1 } });
    expect(waits).toEqual([2_000, 2_000, 1_000]);
    expect(await wait(false, 5)).toEqual({ events: [], next: 2, ended: false });
    expect(waits).toEqual([5_000, 3_000, 1_000]);
    wake = async () => {
      await first.finish();
      await deliver(plane);
    };
    expect((await wait(false, 5)).events.map(({ type }) => type)).toEqual(["run_pending"]);
    expect(waits).toEqual([5_000]);
    wake = async () => {};
    expect(await wait(true, 0)).not.toHaveProperty("waiting");
    const started = await head(plane, run);
    await waitForEvents(started, { after: 3, waitSeconds: 5, isLive: true }, ports);
    expect(waits).toEqual([5_000, 3_000, 1_000]);
    const gone = { ...ports, runs: { ...ports.runs, head: async () => undefined } };
    expect(await waitForEvents(started, { after: 3, waitSeconds: 1, isLive: false }, gone)).toMatchObject({ next: 3 });
  });

  it("gets 3 MiB of messages at a time, and at least one batch", async () => {
    const plane = await createTestControlPlane();
    const run = await createRun(plane);
    const MIB = 1024 * 1024;
    const batch = async (sequence: number, bytes: number) => {
      const item = { sequence, occurred_at: 0, first: 1, count: 0, bytes, messages: "[]" };
      await plane.table.write({ kind: "put", item: { ...keys.messages(run, sequence), ...item } });
    };
    await batch(2, 2 * MIB);
    await batch(3, MIB);
    await batch(5, 4 * MIB);
    await batch(6, 1);
    await batch(8, 1);
    const event = { sequence: 4, uuid: "u", type: "run_pending", occurred_at: 0, data: {} };
    await plane.table.write({ kind: "put", item: { ...keys.event(run, 4), ...event } });
    const read = async (after: number) =>
      (await readEvents(await head(plane, run), after, plane.ports)).map(({ sequence }) => sequence);
    expect(await read(0)).toEqual([1, 2, 3, 4]);
    expect(await read(3)).toEqual([4]);
    expect(await read(4)).toEqual([5]);
    expect(await read(5), "up to the first missing number").toEqual([6]);
    expect(await read(6)).toEqual([]);
    await batch(3, MIB + 1);
    expect(await read(0)).toEqual([1, 2]);
  });

  it("waits for a sandbox that may still report its stop, but not for one with a revoked key", async () => {
    const plane = await createTestControlPlane();
    const working = await workingRun(plane);
    expect(hasEnded(await head(plane, working.run_id))).toBe(false);
    await createClient(plane).post(`/agent/runs/${working.run_id}/cancel`);
    const cancelled = await head(plane, working.run_id);
    expect(hasEnded(cancelled)).toBe(false);
    if (cancelled.state !== "CANCELLED") throw new Error("the run is not cancelled");
    const { key_hash: _, ...revoked } = cancelled;
    expect(hasEnded(revoked)).toBe(true);
    await working.shutDown();
    expect(hasEnded(await head(plane, working.run_id))).toBe(true);
  });

  it("counts for 30 seconds, is recorded again after 10 to 20, and clears the tail after a minute", async () => {
    const plane = await createTestControlPlane();
    const { run_id } = await workingRun(plane);
    const cleared: string[] = [];
    const live = { ...plane.ports.live, clear: async (run: string) => void cleared.push(run) };
    const watch = async () => watchRun(await head(plane, run_id), { ...plane.ports, live });
    const watchedAt = async () => (await head(plane, run_id)).watched_at;
    const start = plane.clock.now;
    await watch();
    expect([await watchedAt(), cleared]).toEqual([start, []]);
    const watched = await head(plane, run_id);
    expect([29_999, 30_000].map((age) => isWatched(watched, start + age))).toEqual([true, false]);
    expect(isWatched(await head(plane, await createRun(plane)), start)).toBe(false);
    plane.clock.now = start + 9_999;
    await watch();
    expect(await watchedAt()).toBe(start);
    plane.clock.now = start + 20_000;
    await watch();
    expect(await watchedAt()).toBe(start + 20_000);
    plane.clock.now = start + 79_999;
    await watch();
    expect(cleared).toEqual([]);
    plane.clock.now += 60_000;
    await watch();
    expect(cleared).toEqual([run_id]);
    await set(plane, run_id, { state: "FAILED", ended_at: plane.clock.now });
    plane.clock.now += 60_000;
    await watch();
    expect(await watchedAt()).toBe(plane.clock.now - 60_000);
  });

  it("continues at its position, returns each part once, and omits completed messages", async () => {
    const plane = await createTestControlPlane();
    const { run_id, execution_id } = await workingRun(plane);
    const now = await executing(plane, run_id);
    const { live } = plane.ports;
    const frame = (id: string, offset: number, value: string) =>
      ({ action_id: id, stream: "stdout", offset, text: value }) as const;
    await live.append(run_id, execution_id, [frame("a", 0, "one"), frame("b", 0, "two")]);
    const reader = createLiveReader(plane.ports);
    expect(await reader.read(now)).toEqual([frame("a", 0, "one"), frame("b", 0, "two")]);
    expect(await reader.read(now)).toEqual([]);
    await live.append(run_id, execution_id, [frame("a", 3, "more"), frame("b", 3, "more")]);
    reader.finish(["b"]);
    const next = createLiveReader(plane.ports, reader.position());
    expect(await reader.read(now)).toEqual([frame("a", 3, "more")]);
    expect(await next.read(now)).toEqual([frame("a", 3, "more"), frame("b", 3, "more")]);
    expect(await createLiveReader(plane.ports, "nonsense").read(now)).toHaveLength(2);
    expect(await next.read({ ...now, execution_id: "another" })).toEqual([]);
    expect(reader.queuePosition()).toBeUndefined();
    expect(await reader.readQueuePosition(now)).toBeUndefined();
  });

  it("reads the position in the queue every two seconds, and has none once the run no longer waits", async () => {
    const plane = await createTestControlPlane();
    const { run_id } = await workingRun(plane);
    const working = await head(plane, run_id);
    const waiting = { ...working, waiting: "owner" } as const;
    const owner = { type: "Team", uid: plane.team } as const;
    await plane.table.write({ kind: "put", item: { ...keys.waitingForOwner(owner, run_id), run_id } });
    let reads = 0;
    const query: typeof plane.table.query = (request) => {
      reads++;
      return plane.table.query(request);
    };
    const ports = { ...plane.ports, table: { ...plane.ports.table, query } };
    const reader = createLiveReader(ports);
    const none = reader.position();
    expect([await reader.readQueuePosition(waiting), reader.queuePosition(), reads]).toEqual([1, 1, 1]);
    plane.clock.now += 1_999;
    expect([await reader.readQueuePosition(waiting), reader.queuePosition(), reads]).toEqual([undefined, 1, 1]);
    plane.clock.now += 1;
    expect([await reader.readQueuePosition(waiting), reader.queuePosition(), reads]).toEqual([undefined, 1, 2]);
    const next = createLiveReader(ports, reader.position());
    expect([next.queuePosition(), next.position()]).toEqual([1, reader.position()]);
    for (const one of [reader, next]) {
      expect([await one.readQueuePosition(working), one.queuePosition(), one.position()]).toEqual([
        undefined,
        undefined,
        none,
      ]);
    }
    expect(reads).toBe(2);
  });
});

describe("messages of a conversation", () => {
  it("complete the actions and texts that they refer to", () => {
    const messages = [
      message("tool", result("x", { action_id: "one" }), text("plain"), text("named", { message_id: "two" })),
      message("assistant", action({}), { type: "event", name: "e", data: {}, message_id: "three" }),
    ];
    expect(finishedIds(messages)).toEqual(["one", "two"]);
  });

  it("end with the last text of the agent", () => {
    const final = (...messages: Message[]) => findFinalMessage(messages);
    expect(final()).toBe("");
    expect(final(message("user", text("hello")))).toBe("");
    expect(final(message("assistant", text("one")), message("assistant", text("two"), action({}), text("three")))).toBe(
      "two\nthree",
    );
    expect(final(message("assistant", text("one")), message("assistant", action({})), message("user", text("x")))).toBe(
      "one",
    );
  });

  it("drop the live output that they replace, if any", async () => {
    const plane = await createTestControlPlane();
    const { run_id } = await workingRun(plane);
    const finished: (readonly string[])[] = [];
    const live = { ...plane.ports.live, finish: async (_: string, ids: readonly string[]) => void finished.push(ids) };
    const finish = async (block: Block) =>
      finishLiveOutput(await head(plane, run_id), [message("tool", block)], { ...plane.ports, live });
    await finish(result("x"));
    await set(plane, run_id, { watched_at: plane.clock.now });
    await finish(text("x"));
    expect(finished).toEqual([]);
    await finish(result("x"));
    plane.clock.now += 60_000;
    await finish(result("x"));
    expect(finished).toEqual([["a"]]);
  });

  it("are stored once, in order and without a gap", async () => {
    const plane = await createTestControlPlane();
    const { run_id } = await workingRun(plane);
    await set(plane, run_id, { messages: 2, message_bytes: 10 });
    const first = await executing(plane, run_id);
    const messages = ["a", "b"].map((value) => message("assistant", text(value)));
    await expect(prepareMessages(first, 4, messages, plane.ports)).rejects.toMatchObject({ code: "invalid_request" });
    expect((await prepareMessages(first, 1, messages, plane.ports))(first)).toEqual({ count: 0 });
    const fresh = JSON.stringify(messages.slice(1));
    expect((await prepareMessages(first, 2, messages, plane.ports))(first)).toEqual({
      count: 1,
      messages: { first: 3, count: 1, bytes: fresh.length, messages: fresh },
      set: { messages: 3, message_bytes: 10 + fresh.length },
    });
    const append = await prepareMessages(first, 3, messages, plane.ports);
    expect(append(first)).toMatchObject({ count: 2, set: { messages: 4 } });
    expect(append({ ...first, messages: 4 })).toEqual({ count: 0 });
  });

  it("cannot be read if a file is missing", async () => {
    const plane = await createTestControlPlane();
    const run = await createRun(plane);
    const body = { ...(await plane.ports.runs.body(run)), prompt_file: "gone" };
    await expect(readPrompt(body, plane.ports)).rejects.toThrow("the prompt of a run is missing");
    const item = { pk: "p", sk: "s", sequence: 1, occurred_at: 0, first: 1, count: 1, bytes: 2 };
    await expect(readBatch({ ...item, messages_file: "gone" }, plane.files)).rejects.toThrow("messages of a batch");
    await expect(readBatch(item, plane.files)).rejects.toThrow("messages of a batch");
    expect(await readBatch({ ...item, messages: "[]" }, plane.files)).toEqual({
      sequence: 1,
      occurredAt: 0,
      first: 1,
      messages: [],
    });
    for (const content of [{}, { message_file: "gone" }]) {
      const followup = { ...keys.followup(run, 1), v: 1, number: 1, policy: "enqueue", created_at: 0, ...content };
      await plane.table.write({ kind: "put", item: followup });
      await expect(readFollowups(await head(plane, run), 0, plane.ports)).rejects.toThrow("text of follow-up 1");
    }
  });
});

describe("the last turn of an ended run", () => {
  const settle = async (plane: TestControlPlane, run: string) => {
    const ended = await head(plane, run);
    if (ended.state !== "SUCCEEDED") throw new Error("the run has not succeeded");
    return settleLastTurn(ended, true, plane.ports);
  };

  it("is not carried out again if the run has succeeded, whatever its last message is", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const messages = [message("assistant", action({}))];
    await harness.support("messages", { execution_id: harness.execution_id, first_sequence: 1, messages });
    await harness.finish();
    const checkpoint = { files: [], messages: 1, followups: 0, superseded: [] };
    expect(await settle(plane, harness.run_id)).toEqual({
      set: { checkpoint: true },
      checkpoint: { kind: "put", item: { ...keys.checkpoint(harness.run_id), v: 1, ...checkpoint } },
    });
  });

  it.each([
    ["a text, which is its response", [text("Done.")], false],
    ["a text next to an action", [text("I look at the file."), action({})], true],
    ["an action", [action({})], true],
  ])("of a run that failed after %s begins again at the checkpoint: %s", async (_, content, isRepeated) => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const messages = [message("assistant", ...content)];
    await harness.support("messages", { execution_id: harness.execution_id, first_sequence: 1, messages });
    await harness.finish(false);
    const ended = await head(plane, harness.run_id);
    if (ended.state !== "FAILED") throw new Error("the run has not failed");
    const settled = await settleLastTurn(ended, true, plane.ports);
    expect(settled?.checkpoint.item).toMatchObject(
      isRepeated ? { messages: 0, superseded: [[1, 1]] } : { messages: 1, superseded: [] },
    );
  });

  it.each([
    [{ messages: 2, followups: 3 }, undefined],
    [
      { messages: 2, followups: 2 },
      { messages: 2, followups: 3 },
    ],
    [
      { messages: 1, followups: 3 },
      { messages: 2, followups: 3 },
    ],
  ])("moves the checkpoint after it, from %j", async (before, after) => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await harness.finish();
    await set(plane, harness.run_id, { messages: 2, followups: 3, followups_stored: 3, checkpoint: true });
    const checkpoint = { generation: "turn-1", files: [], superseded: [] };
    const key = keys.checkpoint(harness.run_id);
    await plane.table.write({ kind: "put", item: { ...key, v: 1, ...checkpoint, ...before } });
    const settled = await settle(plane, harness.run_id);
    expect(settled?.checkpoint.item).toEqual(after && { ...key, v: 1, ...checkpoint, ...after });
  });
});

describe("a cancelled turn", () => {
  it("ends with a message, after which the run continues", async () => {
    const plane = await createTestControlPlane();
    const { run_id } = await workingRun(plane);
    await set(plane, run_id, { messages: 4, message_bytes: 100, followups: 3, followups_stored: 2 });
    await createClient(plane).post(`/agent/runs/${run_id}/cancel?force=true`);
    const cancelled = await head(plane, run_id);
    if (cancelled.state !== "CANCELLED") throw new Error("the run is not cancelled");
    const ends = cancelMessage(cancelled.ended_at);
    const stored = JSON.stringify([ends]);
    expect(await settleLastTurn(cancelled, true, plane.ports)).toEqual({
      messages: { first: 5, count: 1, bytes: stored.length, messages: stored },
      set: {
        messages: 5,
        message_bytes: 100 + stored.length,
        followups_cancelled: 3,
        followups_removed: [[3, 3]],
        checkpoint: true,
      },
      checkpoint: {
        kind: "put",
        item: { ...keys.checkpoint(run_id), v: 1, files: [], messages: 5, followups: 2, superseded: [] },
      },
    });
    expect(ends).toMatchObject({ role: "system", timestamp: "2026-05-18T19:00:00.000Z" });
    expect(ends.content[1]).toEqual({ type: "event", name: "turn_cancelled", data: {} });
    expect([wasCancelled([]), wasCancelled([message("user", text("x")), ends])]).toEqual([false, true]);
    expect(wasCancelled([message("system", { type: "event", name: "other", data: {} })])).toBe(false);
  });
});

describe("a stored follow-up", () => {
  it("is never replaced by another one with its number", async () => {
    const table = memoryTable();
    const followup = { number: 1, message: "first", policy: "enqueue", created_at: 1 } as const;
    await table.write(putFollowup("run", followup));
    await expect(table.write(putFollowup("run", { ...followup, message: "second" }))).rejects.toThrow(ConditionFailed);
    expect(await table.get(keys.followup("run", 1))).toMatchObject({ message: "first" });
  });
});

describe("delegated steps", () => {
  const started = (output: unknown, more: object = {}) => result(output, { name: "start_agent", ...more });
  const waited = (...agents: unknown[]) => result({ agents }, { name: "wait_for_agents" });

  it("are limited to a run's number of children, and known ones continue to be updated", () => {
    const turn = step("turn");
    for (let index = 0; index <= 100; index++) {
      addDelegatedSteps(turn, message("tool", started({ run_id: `child-${index}` })));
    }
    expect(turn.steps).toHaveLength(100);
    addDelegatedSteps(
      turn,
      message("tool", waited({ run_id: "child-99", text: "done" }, { run_id: "new", text: "x" })),
    );
    expect(turn.steps).toHaveLength(100);
    expect(turn.steps.at(-1)).toEqual({ id: "child-99", summary: "done", messages: [], steps: [] });
    addDelegatedSteps(turn, message("tool", result({ agents: [{ run_id: "child-99", text: "another tool" }] })));
    expect(turn.steps.at(-1)).toMatchObject({ summary: "done" });
  });

  it("have a title and a final message of at most 1,000 characters", () => {
    const turn = step("turn");
    const long = "😀".repeat(1_001);
    addDelegatedSteps(turn, message("tool", started({ run_id: "c", title: long, text: long })));
    addDelegatedSteps(turn, message("assistant", action({ run_id: "d" })));
    addDelegatedSteps(turn, message("tool", started({ run_id: "" }), started({ run_id: "x".repeat(129) })));
    const short = "😀".repeat(1_000);
    expect(turn.steps).toEqual([{ id: "c", description: short, summary: short, messages: [], steps: [] }]);
    addDelegatedSteps(turn, { ...message("tool", started({ run_id: "x".repeat(128) })), timestamp: "now" });
    expect(turn.steps[1]).toEqual({ id: "x".repeat(128), started_at: "now", messages: [], steps: [] });
  });
});

describe("an event of the timeline", () => {
  const item = { pk: "p", sk: "s", sequence: 3, uuid: "u", type: "run_pending", occurred_at: 0 };
  const shown = { event_uuid: "u", run_id: "run", event_type: "run_pending", occurred_at: "1970-01-01T00:00:00.000Z" };

  it("has a payload and an execution only if it has them", () => {
    expect(toTimelineEvent("run", { ...item, data: {} })).toEqual(shown);
    expect(toTimelineEvent("run", { ...item, data: { a: 1 }, execution_id: "e" })).toEqual({
      ...shown,
      execution_id: "e",
      payload: { a: 1 },
    });
  });
});

describe("the transcript", () => {
  it("has a line for the run, its prompt, and each event and message in order", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane, { prompt: "hello", title: "A title" });
    await composeTranscript(harness.run_id, plane.ports);
    await composeTranscript("no-run", plane.ports);
    expect(await head(plane, harness.run_id)).not.toHaveProperty("transcript_events");
    await harness.messages(1, "one", "two");
    await harness.finish();
    const before = await head(plane, harness.run_id);
    expect(before.check_at).toBeDefined();
    await composeTranscript(harness.run_id, plane.ports);
    const stored = await plane.files.get(fileKeys.transcript(harness.run_id, 5));
    const lines = Buffer.from(stored ?? "")
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const time = "2026-05-18T19:00:00.000Z";
    const event = (sequence: number, event_type: string) =>
      expect.objectContaining({ sequence, type: "event", event_type, occurred_at: time });
    const said = (value: string) => ({
      type: "message",
      sequence: 4,
      occurred_at: time,
      role: "assistant",
      content: [text(value)],
    });
    expect(lines).toEqual([
      {
        type: "run",
        run_id: harness.run_id,
        title: "A title",
        created_at: time,
        agent_config: { model_id: "local/runbook" },
      },
      { type: "message", sequence: 0, role: "user", content: [text("hello")] },
      event(1, "run_created"),
      event(2, "run_pending"),
      event(3, "worker_container_ready"),
      said("one"),
      said("two"),
      event(5, "run_succeeded"),
    ]);
    const after = await head(plane, harness.run_id);
    expect(after).toMatchObject({ transcript_events: 5 });
    expect(after.check_at).toBeUndefined();
  });

  it("is found by the key with which this release, or an earlier one, has stored it", async () => {
    const plane = await createTestControlPlane();
    const { run_id, finish } = await workingRun(plane);
    await finish();
    await composeTranscript(run_id, plane.ports);
    const path = `/agent/runs/${run_id}/transcript`;
    const readUrl = async () => (await createClient(plane).get(path)).headers?.["location"];
    expect(await readUrl()).toContain(`/runs/${run_id.slice(-4)}/${run_id}/transcript-`);
    await plane.table.write({ kind: "update", key: keys.head(run_id), remove: ["transcript_spread"] });
    expect(await readUrl()).toContain(`/runs/${run_id}/transcript-`);
  });

  it("is recorded on the head of an unchanged run, and errors of the table are passed on", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await harness.finish();
    const before = await head(plane, harness.run_id);
    const stale = { ...before, next_sequence: before.next_sequence - 1 };
    await putTranscriptEvents(stale, 3, plane.table);
    expect(await head(plane, harness.run_id)).toEqual(before);
    const broken = { write: () => Promise.reject(new Error("no table")) };
    await expect(putTranscriptEvents(before, 4, broken)).rejects.toThrow("no table");
  });

  it("cannot be composed if an event is missing", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await harness.finish();
    await plane.table.write({ kind: "delete", key: keys.event(harness.run_id, 3) });
    await expect(composeTranscript(harness.run_id, plane.ports)).rejects.toThrow("event 3 of 4 is missing");
  });
});

describe("a publicly shared run", () => {
  const FIRST_PAGE = { limit: undefined, cursor: undefined };

  it("shows its title, state, times, conversation and artifacts, and nothing else", async () => {
    const plane = await createTestControlPlane();
    const config = { session_sharing: { public_access: "VIEWER" } };
    const harness = await workingRun(plane, { prompt: "hello", title: "A title", config });
    const report = async (artifact_type: string, data: object) =>
      (await harness.support("report-artifact", { artifact_type, data })).body;
    const file = { filepath: "out/a.txt", filename: "a.txt", mime_type: "text/plain", description: "A file" };
    const { upload } = await report("FILE", { ...file, size_bytes: 3, sha256: sha256("abc") });
    await plane.upload(upload.url, "abc");
    await report("FILE", { ...file, size_bytes: 3, sha256: sha256("abc") });
    await report("PLAN", { document_uid: "plan-1", title: "A plan", content: "# Plan" });
    await report("PULL_REQUEST", { url: "https://github.com/acme/tools/pull/1", branch: "fix" });
    plane.clock.now += 2_000;
    await harness.finish();
    await deliver(plane);
    const shown = await readPublicRun(harness.run_id, FIRST_PAGE, plane.ports);
    expect(shown).toMatchObject({
      title: "A title",
      state: "SUCCEEDED",
      created_at: "2026-05-18T19:00:00.000Z",
      run_time: "PT2.000S",
      conversation: { conversation_id: harness.run_id, steps: [{ messages: [message("user", text("hello"))] }] },
    });
    const created_at = "2026-05-18T19:00:00.000Z";
    const artifact_uid = expect.any(String);
    const { filename, mime_type, description } = file;
    expect(shown.artifacts.toSorted((one, other) => (one.artifact_type < other.artifact_type ? -1 : 1))).toEqual([
      { artifact_type: "FILE", artifact_uid, created_at, description, filename, mime_type, size_bytes: 3 },
      { artifact_type: "PLAN", artifact_uid, created_at, title: "A plan" },
      { artifact_type: "PULL_REQUEST", created_at },
    ]);
    await set(plane, harness.run_id, { external: true });
    expect(await readPublicRun(harness.run_id, FIRST_PAGE, plane.ports)).not.toHaveProperty("conversation");
    const unshared = await createRun(plane);
    await expect(readPublicRun(unshared, FIRST_PAGE, plane.ports)).rejects.toMatchObject({
      code: "resource_not_found",
    });
    await expect(readPublicRun("no-run", FIRST_PAGE, plane.ports)).rejects.toMatchObject({
      code: "resource_not_found",
    });
  });
});

describe("truncation", () => {
  const shownOutput = (output: unknown, more: object = {}) => {
    const { steps } = truncateConversation({
      conversation_id: "c",
      steps: [step("1", message("tool", result(output, more)))],
    });
    const [block] = steps[0]?.messages[0]?.content ?? [];
    return block?.type === "action_result" ? block : undefined;
  };

  it("truncates texts of an output after 16 KiB, never within a character", () => {
    const limit = 16_384;
    expect(shownOutput("x".repeat(limit))?.output).toBe("x".repeat(limit));
    expect(shownOutput("x".repeat(limit + 1))?.output).toBe(`${"x".repeat(limit)}${CUT}`);
    expect(shownOutput(`x${"é".repeat(limit / 2)}`)?.output).toBe(`x${"é".repeat(limit / 2 - 1)}${CUT}`);
    expect(shownOutput("x", { diff: "d".repeat(limit + 1) })?.diff).toBe(`${"d".repeat(limit)}${CUT}`);
    expect(shownOutput("x")).not.toHaveProperty("diff");
  });

  it("truncates the texts in a value before it serializes the value", () => {
    const long = "x".repeat(20_000);
    expect(shownOutput({ stdout: long, exit_code: 1 })?.output).toEqual({
      stdout: `${"x".repeat(16_384)}${CUT}`,
      exit_code: 1,
    });
    expect(shownOutput({ stdout: long, stderr: long })?.output).toEqual({
      stdout: `${"x".repeat(8_192)}${CUT}`,
      stderr: `${"x".repeat(8_192)}${CUT}`,
    });
    const small = { stdout: "x".repeat(9_000), stderr: "" };
    expect(shownOutput(small)?.output).toEqual(small);
    const command = { stdout: "x\n".repeat(8_192), exit_code: 0, output_file: "/run/runyard/output-1.txt" };
    expect(shownOutput(command)?.output, "as a harness keeps it").toEqual(command);
    const many = { list: Array.from({ length: 20_000 }, () => 1) };
    expect(shownOutput(many)?.output).toBe(`${JSON.stringify(many).slice(0, 16_384)}${CUT}`);
    expect(shownOutput(many.list)?.output).toBe(`${JSON.stringify(many.list).slice(0, 16_384)}${CUT}`);
    expect(shownOutput(null)?.output).toBeNull();
    expect(shownOutput(undefined)?.output).toBeUndefined();
  });

  it("leaves outputs to later turns as long as harnesses keep them", () => {
    const [kept] = truncateMessages([message("tool", result("x".repeat(65_536)))]);
    expect(kept?.content).toMatchObject([{ output: "x".repeat(65_536) }]);
    const [cut] = truncateMessages([message("tool", result("x".repeat(65_537)))]);
    expect(cut?.content).toMatchObject([{ output: `${"x".repeat(65_536)}${CUT}` }]);
  });

  it("shortens the oldest messages of a long conversation, then omits them with a note", () => {
    const long = (role: Message["role"]) =>
      message(role, ...Array.from({ length: 10 }, () => text("x".repeat(60_000))));
    const messages = Array.from({ length: 10 }, (_, index) => long(index === 0 ? "user" : "assistant"));
    const { steps } = truncateConversation({ conversation_id: "c", steps: [step("1", ...messages)] });
    const shown = steps[0]?.messages ?? [];
    expect(steps.map(({ id }) => id)).toEqual(["1"]);
    expect(shown.slice(-5)).toEqual(messages.slice(-5));
    const short = Array.from({ length: 8 }, () => text(`${"x".repeat(256)}${CUT}`));
    expect(shown[0]).toEqual(message("user", ...short, text("[2 more parts; the transcript has them]")));
    expect(shown).toHaveLength(10);

    const kept = truncateMessages(messages);
    expect(kept[0]).toEqual(messages[0]);
    expect(kept).toHaveLength(10);
    expect(truncateMessages(messages.slice(1)).at(-1)).toEqual(messages[9]);
  });

  it("reserves 512 KiB for the messages that it shortens", () => {
    const messages = Array.from({ length: 600 }, () => message("assistant", text("x".repeat(8 * 1024))));
    const shown = truncateMessages(messages);
    const bytes = Buffer.byteLength(`${JSON.stringify(messages[0])},`);
    const whole = Math.floor((4 * 1024 * 1024 - 64 * 1024 - 512 * 1024) / bytes);
    expect(shown).toHaveLength(600);
    expect(shown.slice(-whole)).toEqual(messages.slice(-whole));
    expect(shown.at(-whole - 1)).toEqual(message("assistant", text(`${"x".repeat(256)}${CUT}`)));
  });

  it("shortens each kind of block according to its type", () => {
    const wide = "y".repeat(250_000);
    const cut = `${"y".repeat(256)}${CUT}`;
    const kinds = message("tool", text(wide), action(wide), result(wide, { diff: wide }), {
      type: "event",
      name: "note",
      data: wide,
    });
    const filler = Array.from({ length: 18 }, () => message("assistant", text("x".repeat(250_000))));
    const { steps } = truncateConversation({ conversation_id: "c", steps: [step("1", kinds, ...filler)] });
    expect(steps[0]?.messages[0]).toEqual(
      message("tool", text(cut), action(cut), result(cut), { type: "event", name: "note", data: cut }),
    );
  });

  it("reports the number of omitted messages in a step before the others", () => {
    const tall = () => message("assistant", ...Array.from({ length: 9 }, () => text("x".repeat(3_000))));
    const steps = Array.from({ length: 400 }, (_, index) => step(`${index}`, tall(), tall()));
    const shown = truncateConversation({ conversation_id: "c", steps });
    const count = shown.steps.slice(1).reduce((sum, { messages }) => sum + messages.length, 0);
    expect(shown.steps[0]).toEqual(
      step(
        "c:left-out",
        message("system", text(`[${800 - count} earlier messages are left out here; the transcript has them]`)),
      ),
    );
    expect(shown.steps.at(-1)?.id).toBe("399");
    expect(count).toBeGreaterThan(100);
    expect(truncateSteps(steps).length).toBeGreaterThan(50);
    expect(truncateSteps(steps).length).toBeLessThan(400);
    expect(truncateSteps([])).toEqual([]);
  });

  it("truncates a single text after 256 KiB", () => {
    expect(truncateText("x".repeat(262_144))).toBe("x".repeat(262_144));
    expect(truncateText("x".repeat(262_145))).toBe(`${"x".repeat(262_144)}${CUT}`);
  });
});
