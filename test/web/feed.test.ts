import { describe, expect, it } from "vitest";
import type { LiveFrame, RunEvent } from "../../clients/typescript/src/index.ts";
import { addEvents, addLiveFrames, type Entry, emptyFeed } from "../../web/run/feed.ts";

let sequence = 0;
const toEvent = (...blocks: readonly object[]): RunEvent => ({
  sequence: ++sequence,
  type: "messages",
  occurred_at: "2026-05-18T19:00:00.000Z",
  data: { messages: [{ role: "assistant", content: blocks }] },
});
const start = (id: string) =>
  toEvent({ type: "action", id, category: "command", name: "run_command", input: { command: "make" } });

const stdout = (offset: number, text: string): LiveFrame => ({ action_id: "c1", stream: "stdout", offset, text });
const stderr = (offset: number, text: string): LiveFrame => ({ action_id: "c1", stream: "stderr", offset, text });
const words = (offset: number, text: string): LiveFrame => ({ message_id: "m1", stream: "text", offset, text });

const texts = (entries: readonly Entry[]) =>
  entries.map((entry) => (entry.kind === "action" ? entry.live : entry.kind === "text" ? entry.text : entry.type));
const started = () => addEvents(emptyFeed, [start("c1")]);

describe("addLiveFrames", () => {
  it("adds output that is sent again once, also where a frame has more than before", () => {
    const feed = addLiveFrames(started(), [stdout(0, "one €\n"), stdout(8, "two\n")]);
    const again = addLiveFrames(feed, [stdout(4, "€\ntwo\nthree\n"), stdout(0, "one €\n")]);
    expect(texts(again.entries)).toEqual(["one €\ntwo\nthree\n"]);
  });

  it("tells the streams of a command apart, and shows what follows a gap", () => {
    const feed = addLiveFrames(started(), [stdout(0, "out\n"), stderr(0, "err\n"), stdout(100, "later\n")]);
    expect(texts(addLiveFrames(feed, [stderr(0, "err\n"), stdout(4, "skipped")]).entries)).toEqual([
      "out\nerr\nlater\n",
    ]);
  });

  it("adds the text of a message that is sent again once, and nothing after its final event", () => {
    const feed = addLiveFrames(emptyFeed, [words(0, "I am ")]);
    const more = addLiveFrames(feed, [words(0, "I am "), words(5, "writing")]);
    expect(texts(more.entries)).toEqual(["I am writing"]);
    const final = addEvents(more, [toEvent({ type: "text", text: "I am writing.", message_id: "m1" })]);
    expect(texts(addLiveFrames(final, [words(0, "I am writing.")]).entries)).toEqual(["I am writing."]);
  });

  it("does not repeat the text of a message that was cancelled", () => {
    const feed = addLiveFrames(emptyFeed, [words(0, "I am ")]);
    const cancelled = addEvents(feed, [{ ...toEvent(), type: "run_cancelled", data: {} }]);
    expect(texts(addLiveFrames(cancelled, [words(0, "I am ")]).entries)).toEqual(["run_cancelled"]);
  });

  it("adds output that was sent before its command was known when it is sent again", () => {
    const early = addLiveFrames(emptyFeed, [stdout(0, "one\n")]);
    const feed = addEvents(early, [start("c1")]);
    expect(texts(addLiveFrames(feed, [stdout(0, "one\n")]).entries)).toEqual(["one\n"]);
  });

  it("starts again with a command that another execution repeats", () => {
    const lost = addEvents(addLiveFrames(started(), [stdout(0, "one\n")]), [
      { ...toEvent(), type: "execution_lost", data: {} },
      start("c1"),
    ]);
    expect(texts(addLiveFrames(lost, [stdout(0, "one\n")]).entries)).toEqual(["one\n", "execution_lost", "one\n"]);
  });

  it("keeps what the model is writing when another message or the result of an action arrives", () => {
    const writing = addLiveFrames(started(), [words(0, "I am ")]);
    const result = { type: "action_result", action_id: "c1", category: "command", name: "run_command" };
    const others = addEvents(writing, [
      toEvent({ ...result, state: "completed", output: {} }),
      toEvent({ type: "text", text: "An earlier text.", message_id: "m0" }),
    ]);
    const more = addLiveFrames(others, [words(5, "writing")]);
    expect(texts(more.entries)).toEqual(["", "An earlier text.", "I am writing"]);
  });

  it("removes what the model was writing with the text that replaces it, and at the end of its execution", () => {
    const writing = addLiveFrames(emptyFeed, [words(0, "I am ")]);
    const replaced = addEvents(writing, [toEvent({ type: "text", text: "I am here." })]);
    expect(texts(replaced.entries)).toEqual(["I am here."]);
    const queued = addEvents(writing, [{ ...toEvent(), type: "run_queued", data: {} }]);
    expect(texts(queued.entries)).toEqual([]);
  });
});

describe("addEvents", () => {
  it("shows the thoughts of an agent, and not which session it continues", () => {
    const feed = addEvents(emptyFeed, [
      toEvent({ type: "event", name: "acp_session", data: { session_id: "s-1", command: "c" } }),
      toEvent({ type: "event", name: "agent_thought", data: { text: "I should look first." } }),
    ]);
    expect(texts(feed.entries)).toEqual(["agent_thought"]);
  });
});

describe("a setup command", () => {
  const event = (type: RunEvent["type"], data: Record<string, unknown>): RunEvent => ({
    sequence: ++sequence,
    type,
    occurred_at: "2026-05-18T19:00:00.000Z",
    data: { action_id: "c1", ...data },
  });

  it("is shown with its output while it runs, and with all of it at its end", () => {
    const running = addEvents(emptyFeed, [event("setup_started", { step: "setup_commands", detail: "npm ci" })]);
    const feed = addLiveFrames(running, [stdout(0, "added 1\n")]);
    expect(feed.entries).toMatchObject([{ title: "Setup: npm ci", state: "running", live: "added 1\n" }]);
    const end = event("setup_commands", {
      detail: "npm ci\nadded 2",
      is_error: false,
      duration_ms: 9,
      output: "added 2\n",
    });
    expect(addEvents(feed, [end]).entries).toMatchObject([
      { title: "Setup: npm ci", state: "completed", output: { stdout: "added 2\n", duration_ms: 9 } },
    ]);
  });

  it("is not shown if it has printed nothing", () => {
    const silent = event("setup_commands", { detail: "true", is_error: false, output: "" });
    const former = { ...event("setup_commands", {}), data: { detail: "npm ci\nadded 2" } };
    expect(addEvents(emptyFeed, [silent, former]).entries).toEqual([]);
  });
});
