import { describe, expect, it } from "vitest";
import type { RunItem, RunState } from "../../clients/typescript/src/index.ts";
import { mergeChanges, type RunPages, toRuns } from "../../web/runs/run-pages.ts";

/** A run that was created and changed at minutes of an hour. */
const run = (minute: number, state: RunState = "INPROGRESS", changed = minute): RunItem => {
  const at = (minutes: number) => `2026-05-18T19:${String(minutes).padStart(2, "0")}:00.000Z`;
  const item = { title: "Run", prompt: "Go.", session_link: "", is_run_type_cancellable: true };
  const id = `run-${minute}`;
  return { ...item, run_id: id, task_id: id, root_run_id: id, state, created_at: at(minute), updated_at: at(changed) };
};
const toPages = (hasNextPage: boolean, ...pages: readonly (readonly RunItem[])[]): RunPages => ({
  pageParams: pages.map(() => undefined),
  pages: pages.map((runs, index) => ({
    runs: [...runs],
    page_info:
      index < pages.length - 1 || hasNextPage ? { has_next_page: true, next_cursor: "c" } : { has_next_page: false },
  })),
});
const ids = (pages: RunPages) => toRuns(pages).map(({ run_id, state }) => `${run_id} ${state}`);

describe("mergeChanges", () => {
  const failed = [run(40, "FAILED"), run(10, "FAILED")];

  it("adds a run that enters the filter where it was created, not only at the top", () => {
    const pages = mergeChanges(toPages(true, failed), [run(50), run(20, "FAILED", 59)], ["FAILED", "ERROR"]);
    expect(ids(pages)).toEqual(["run-40 FAILED", "run-20 FAILED", "run-10 FAILED"]);
  });

  it.each([
    [true, ["run-40 FAILED", "run-10 FAILED"]],
    [false, ["run-40 FAILED", "run-10 FAILED", "run-5 FAILED"]],
  ])("adds a run that is older than all if there is no page that it comes with; next page: %j", (hasNextPage, left) => {
    expect(ids(mergeChanges(toPages(hasNextPage, failed), [run(5, "FAILED", 59)], ["FAILED"]))).toEqual(left);
  });

  it("adds the first runs of an empty list, replaces changed ones, and removes those that leave the filter", () => {
    const pages = mergeChanges(toPages(false, []), [run(1), run(2)], ["INPROGRESS", "BLOCKED"]);
    const changes = [run(1, "BLOCKED", 3), run(2, "SUCCEEDED", 3)];
    expect(ids(pages)).toEqual(["run-2 INPROGRESS", "run-1 INPROGRESS"]);
    expect(ids(mergeChanges(pages, changes, ["INPROGRESS", "BLOCKED"]))).toEqual(["run-1 BLOCKED"]);
    expect(ids(mergeChanges(pages, changes, undefined))).toEqual(["run-2 SUCCEEDED", "run-1 BLOCKED"]);
  });

  it("sorts runs across pages, and keeps the pages where nothing has changed", () => {
    const pages = toPages(true, [run(40), run(30)], [run(20), run(10)]);
    const added = mergeChanges(pages, [run(15, "INPROGRESS", 59), run(45)], undefined);
    expect(toRuns(added).map(({ run_id }) => run_id)).toEqual(
      [45, 40, 30, 20, 15, 10].map((minute) => `run-${minute}`),
    );
    expect(mergeChanges(pages, [run(20), run(5, "INPROGRESS", 59)], undefined)).toBe(pages);
  });
});
