import { describe, expect, it } from "vitest";
import type { RunEvent, RunItem } from "../../clients/typescript/src/index.ts";
import type { Entry } from "../../web/run/feed.ts";
import { answerOf, countArtifacts, failedSetup, pullRequestName, withoutEnd } from "../../web/run/outcome/outcome.ts";
import { listPatches, listPullRequests, totalChanges } from "../../web/runs/run-outcome.ts";

const AT = "2026-05-18T19:00:00.000Z";
const run = (members: Partial<RunItem>): RunItem => ({
  run_id: "r1",
  task_id: "r1",
  root_run_id: "r1",
  title: "Run",
  prompt: "Go.",
  state: "SUCCEEDED",
  created_at: AT,
  updated_at: AT,
  ...members,
});
const text = (role: string, words: string): Entry => ({ kind: "text", key: words, at: AT, role, text: words });
const mark = (key: string, type: string): Entry => ({ kind: "mark", key, at: AT, type, data: {} });
const patch = (uid: string, insertions: number, path = "shop") => ({
  artifact_type: "FILE" as const,
  created_at: AT,
  data: {
    artifact_uid: uid,
    filepath: "shop.patch",
    filename: "shop.patch",
    mime_type: "text/x-diff",
    git: { path, base_commit: "a".repeat(40), commits: 1, files_changed: 2, insertions, deletions: 1 },
  },
});
const request = (status: "open" | "merged") => ({
  artifact_type: "PULL_REQUEST" as const,
  created_at: AT,
  data: { url: "https://github.com/acme/shop/pull/1841", branch: "fix", status },
});

describe("answerOf", () => {
  it("is the agent's last text of a run that succeeded", () => {
    const entries = [text("user", "Go."), text("assistant", "I begin."), text("assistant", "Done.")];
    expect(answerOf(run({}), entries)).toBe("Done.");
    expect(answerOf(run({ state: "FAILED" }), entries)).toBeUndefined();
    expect(answerOf(run({}), [...entries, text("user", "And now?")])).toBeUndefined();
  });
});

describe("withoutEnd", () => {
  const entries = [mark("e1", "run_failed"), text("user", "Again."), mark("e2", "run_failed")];

  it("leaves out the last end, which the card of the result shows, and keeps earlier ones", () => {
    const failed = run({ state: "FAILED", status_message: { message: "No." } });
    expect(withoutEnd(failed, entries)).toEqual(entries.slice(0, 2));
  });

  it("leaves out a last text that says why the run failed, and no other text", () => {
    const failed = run({ state: "FAILED", status_message: { message: "Step 2 failed." } });
    const said = [text("assistant", "I begin."), text("assistant", "Step 2 failed.\n"), mark("e1", "run_failed")];
    expect(withoutEnd(failed, said)).toEqual(said.slice(0, 1));
    expect(withoutEnd({ ...failed, state: "SUCCEEDED" }, said)).toEqual(said.slice(0, 2));
  });

  it("keeps all while the run goes on, or has no message", () => {
    expect(withoutEnd(run({ state: "INPROGRESS" }), entries)).toBe(entries);
    expect(withoutEnd(run({ state: "FAILED" }), entries)).toBe(entries);
  });
});

describe("what a run has made", () => {
  it("is counted over all repositories, without patches and pull requests among the artifacts", () => {
    const plan = { artifact_type: "PLAN" as const, created_at: AT, data: { document_uid: "d" } };
    const made = run({ artifacts: [patch("p1", 3), patch("p2", 4, "api"), request("open"), plan] });
    expect(totalChanges(made)).toEqual({ files: 4, insertions: 7, deletions: 2 });
    expect(countArtifacts(made)).toBe(1);
    expect(totalChanges(run({}))).toBeUndefined();
  });

  it("has the latest patch of each repository, in place of those of earlier turns", () => {
    const made = run({ artifacts: [patch("p1", 3), patch("p2", 4, "api"), patch("p3", 9)] });
    expect(listPatches(made).map(({ artifact_uid }) => artifact_uid)).toEqual(["p3", "p2"]);
    expect(totalChanges(made)).toEqual({ files: 4, insertions: 13, deletions: 2 });
  });

  it("has each pull request once, in the state that was reported last", () => {
    const requests = listPullRequests(run({ artifacts: [request("open"), request("merged")] }));
    expect(requests.map(({ status }) => status)).toEqual(["merged"]);
  });
});

describe("pullRequestName", () => {
  it("has the number of the addresses that code hosts use", () => {
    expect(pullRequestName("https://github.com/acme/shop/pull/1841")).toBe("Pull request 1841");
    expect(pullRequestName("https://gitlab.com/acme/shop/-/merge_requests/7")).toBe("Pull request 7");
    expect(pullRequestName("https://code.example/changes")).toBe("Pull request");
  });
});

describe("failedSetup", () => {
  it("is the part of the setup that failed last, with its output", () => {
    const events: RunEvent[] = [
      { sequence: 1, type: "setup_repo_clone", occurred_at: AT, data: { duration_ms: 3 } },
      { sequence: 2, type: "setup_commands", occurred_at: AT, data: { is_error: true, detail: "npm: not found" } },
    ];
    expect(failedSetup(events)).toEqual({ type: "setup_commands", detail: "npm: not found" });
    expect(failedSetup(events.slice(0, 1))).toBeUndefined();
  });
});
