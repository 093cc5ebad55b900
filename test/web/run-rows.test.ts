import { beforeEach, describe, expect, it, vi } from "vitest";
import type { RunItem, RunState } from "../../clients/typescript/src/index.ts";
import { foldRuns } from "../../web/runs/fold-runs.ts";
import { readOutcome } from "../../web/runs/run-outcome.ts";
import { dropView, isSameSearch, readSavedViews, saveView } from "../../web/runs/saved-views.ts";

describe("foldRuns", () => {
  beforeEach(() => {
    vi.stubEnv("TZ", "UTC");
    return () => vi.unstubAllEnvs();
  });

  /** A run of a schedule, or of none, at an hour of a day. */
  const run = (run_id: string, created_at: string, schedule?: string, state: RunState = "SUCCEEDED"): RunItem => {
    const item = { title: "Run", prompt: "Go.", is_run_type_cancellable: true, updated_at: created_at };
    const fired = { schedule_id: schedule ?? "", schedule_name: "Nightly", cron_schedule: "@hourly" };
    const ids = { run_id, task_id: run_id, root_run_id: run_id };
    return { ...item, ...ids, created_at, state, ...(schedule === undefined ? {} : { schedule: fired }) };
  };
  const runs = [
    run("d", "2026-05-19T03:00:00Z", "s"),
    run("own", "2026-05-19T02:30:00Z"),
    run("c", "2026-05-19T02:00:00Z", "s"),
    run("failed", "2026-05-19T01:00:00Z", "s", "FAILED"),
    run("other", "2026-05-19T00:40:00Z", "t"),
    run("b", "2026-05-19T00:00:00Z", "s"),
    run("a", "2026-05-18T23:00:00Z", "s"),
  ];
  const show = (open: ReadonlySet<string>) =>
    foldRuns(runs, open).map(({ run: { run_id }, repeats }) => (repeats === 0 ? run_id : `${run_id}+${repeats}`));

  it("folds the repeats of a schedule on a day, but no failure", () => {
    expect(show(new Set())).toEqual(["d+2", "own", "failed", "other", "a"]);
  });

  it("shows the repeats of an open group where they belong", () => {
    const [first] = foldRuns(runs, new Set());
    expect(show(new Set([first?.group ?? ""]))).toEqual(["d+2", "own", "c", "failed", "other", "b", "a"]);
  });
});

describe("readOutcome", () => {
  const at = { created_at: "2026-05-18T19:00:00.000Z" };
  const pull = (url: string, status: "open" | "merged") =>
    ({ ...at, artifact_type: "PULL_REQUEST", data: { url, branch: "fix", status } }) as const;
  const patch = (path: string, insertions: number, deletions: number) => {
    const git = { path, base_commit: "0".repeat(40), commits: 1, files_changed: 1, insertions, deletions };
    const data = { artifact_uid: "a", filepath: "x", filename: "x", mime_type: "text/x-diff", git };
    return { ...at, artifact_type: "FILE", data } as const;
  };

  it("names the latest pull request, and sums the latest changes of each repository", () => {
    const artifacts = [
      patch("shop", 5, 1),
      pull("https://github.com/acme/shop/pull/7", "merged"),
      patch("shop", 10, 2),
      patch("api", 3, 0),
      pull("https://github.com/acme/shop/pull/12", "open"),
    ];
    expect(readOutcome({ artifacts })).toEqual({ pullRequest: { name: "shop#12", status: "open" }, lines: "+13 −2" });
  });

  it.each([
    ["https://gitlab.com/acme/group/shop/-/merge_requests/3", "shop#3"],
    ["https://example.com/changes/3", "Pull request"],
  ])("names the pull request %s %s", (url, name) => {
    expect(readOutcome({ artifacts: [pull(url, "open")] }).pullRequest?.name).toBe(name);
  });

  it("has nothing for a run without artifacts", () => {
    expect([readOutcome({}), readOutcome({ artifacts: [patch("shop", 0, 0)] })]).toEqual([{}, {}]);
  });
});

describe("saved views", () => {
  beforeEach(() => {
    vi.stubGlobal("localStorage", undefined);
    return () => vi.unstubAllGlobals();
  });

  it("are those of one person, replace each other by name, and can be removed", () => {
    saveView("ada", "Broken", { state: "FAILED" });
    saveView("ada", "Mine", { view: "mine" });
    saveView("ada", "Broken", { state: "FAILED,ERROR" });
    expect(readSavedViews("ada").map(({ name, search }) => [name, search.state])).toEqual([
      ["Mine", undefined],
      ["Broken", "FAILED,ERROR"],
    ]);
    dropView("ada", "Mine");
    expect([readSavedViews("ada").length, readSavedViews("alan")]).toEqual([1, []]);
  });

  it("are the same if they select the same, in whatever order", () => {
    expect(isSameSearch({ q: "a", view: "mine", state: undefined }, { view: "mine", q: "a" })).toBe(true);
    expect(isSameSearch({ q: "a" }, { q: "b" })).toBe(false);
  });
});
