import { describe, expect, it } from "vitest";
import type { RunItem, RunState } from "../../clients/typescript/src/index.ts";
import { readHealth } from "../../web/health/health.ts";

/** Runs in states, newest first, each created an hour before the one before. */
const toRuns = (...states: readonly RunState[]): RunItem[] =>
  states.map((state, index) => {
    const at = new Date(Date.UTC(2026, 4, 18, 19 - index)).toISOString();
    const ids = { run_id: String(index), task_id: String(index), root_run_id: String(index) };
    const cost = { request_usage: { inference_cost: 0.1 * (index + 1), compute_cost: 0.1 } };
    return { ...ids, title: "Run", prompt: "Go.", state, created_at: at, updated_at: at, ...cost };
  });

describe("readHealth", () => {
  it("says since when the runs fail, past those that say nothing", () => {
    const runs = toRuns("INPROGRESS", "FAILED", "CANCELLED", "ERROR", "SUCCEEDED", "FAILED");
    expect(readHealth(runs)).toMatchObject({ succeeded: 1, failed: 3, failingSince: "2026-05-18T16:00:00.000Z" });
  });

  it("is not failing where the latest run that was decided succeeded", () => {
    const { failingSince, costUsd } = readHealth(toRuns("BLOCKED", "SUCCEEDED", "FAILED"));
    expect([failingSince, costUsd?.toFixed(2)]).toEqual([undefined, "0.35"]);
  });

  it("knows nothing without runs that were decided", () => {
    expect([readHealth([]), readHealth(toRuns("QUEUED"))]).toEqual([
      { succeeded: 0, failed: 0 },
      { succeeded: 0, failed: 0 },
    ]);
  });
});
