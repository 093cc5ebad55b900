import { beforeEach, describe, expect, it, vi } from "vitest";
import type { RunItem, RunState } from "../../clients/typescript/src/index.ts";
import { countInbox, eventTime, mergeRuns, sortInbox } from "../../web/inbox/inbox.ts";
import { changeInboxState, markRead, readInboxState, startOfInbox } from "../../web/inbox/inbox-state.ts";

const at = (minutes: number) => `2026-05-18T19:${String(minutes).padStart(2, "0")}:00.000Z`;

/** A run that reached its state at a minute of an hour. */
const run = (id: string, state: RunState, minute: number, members: Partial<RunItem> = {}): RunItem => {
  const item = { title: "Run", prompt: "Go.", is_run_type_cancellable: true, created_at: at(0) };
  const isEnded = state === "SUCCEEDED" || state === "FAILED" || state === "ERROR";
  const times = { updated_at: at(minute), ...(isEnded ? { finished_at: at(minute) } : {}) };
  return { ...item, run_id: id, task_id: id, root_run_id: id, state, ...times, ...members };
};
const ids = (runs: readonly RunItem[]) => runs.map(({ run_id }) => run_id);

describe("sortInbox", () => {
  const runs = [
    run("asks", "BLOCKED", 1),
    run("old", "FAILED", 9),
    run("failed", "FAILED", 11),
    run("broken", "ERROR", 12),
    run("done", "SUCCEEDED", 13),
    run("child", "SUCCEEDED", 14, { parent_run_id: "done" }),
    run("active", "INPROGRESS", 15),
  ];

  it("shows every question, and what ended since the person looked, newest first", () => {
    const inbox = sortInbox(runs, { since: at(10), read: {} });
    expect([ids(inbox.asking), ids(inbox.failed), ids(inbox.finished)]).toEqual([
      ["asks"],
      ["broken", "failed"],
      ["done"],
    ]);
    expect(countInbox(inbox)).toBe(4);
  });

  it("leaves out what was read, until the run ends again", () => {
    const read = { failed: at(11), broken: at(11), asks: at(30) };
    const inbox = sortInbox(runs, { since: at(10), read });
    expect([ids(inbox.asking), ids(inbox.failed)]).toEqual([["asks"], ["broken"]]);
  });

  it("takes the end of a run, not a later change such as an artifact, for its event", () => {
    const late = run("late", "SUCCEEDED", 5, { updated_at: at(20) });
    expect([eventTime(late), countInbox(sortInbox([late], { since: at(10), read: {} }))]).toEqual([at(5), 0]);
  });
});

it("mergeRuns replaces runs that changed and drops those that go on", () => {
  const before = [run("asks", "BLOCKED", 1), run("done", "SUCCEEDED", 2)];
  const changed = [run("asks", "QUEUED", 3), run("new", "FAILED", 4), run("off", "CANCELLED", 4)];
  expect(ids(mergeRuns(before, changed))).toEqual(["done", "new"]);
});

describe("the state of the inbox", () => {
  beforeEach(() => {
    vi.stubGlobal("localStorage", undefined);
    vi.useFakeTimers({ now: Date.parse(at(30)), toFake: ["Date"] });
    return () => {
      vi.useRealTimers();
      vi.unstubAllGlobals();
    };
  });

  it("is one of each person, who has read all but the last day at first", () => {
    changeInboxState("ada", { scope: "all" });
    expect([readInboxState("ada").scope, readInboxState("alan").scope]).toEqual(["all", "mine"]);
    expect(readInboxState("alan").since).toBe("2026-05-17T19:30:00.000Z");
    expect(readInboxState("alan")).toBe(readInboxState("alan"));
  });

  it("remembers the later of the clocks of the service and of the browser", () => {
    markRead("eva", [{ run_id: "ahead", at: at(31) }, { run_id: "behind", at: at(29) }, { run_id: "open" }]);
    expect(readInboxState("eva").read).toEqual({ ahead: at(31), behind: at(30), open: at(30) });
  });

  it("forgets what is read anyway, and the oldest beyond 500 runs", () => {
    const many = Array.from({ length: 502 }, (_, index) => ({
      run_id: `run-${index}`,
      at: new Date(Date.parse(at(40)) + index).toISOString(),
    }));
    markRead("max", many);
    const { read } = readInboxState("max");
    expect([Object.keys(read).length, read["run-1"], read["run-2"]]).toEqual([500, undefined, many[2]?.at]);
    changeInboxState("max", { since: at(50) });
    expect(readInboxState("max").read).toEqual({});
  });

  it("looks two weeks back at most", () => {
    const now = Date.parse(at(0));
    expect(startOfInbox({ since: "2026-01-01T00:00:00.000Z" }, now)).toBe("2026-05-04T19:00:00.000Z");
    expect(startOfInbox({ since: at(0) }, now)).toBe(at(0));
  });
});
