import { beforeEach, describe, expect, it } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness } from "../../support/execution.ts";
import { fireAt, listRuns, makeSchedule, nightly, readSchedule } from "../../support/schedules.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});

describe("POST /agent/schedules", () => {
  // @contract schedules.body.name
  it("accepts a name of 256 characters", async () => {
    const name = "😀".repeat(256);
    expect((await makeSchedule(plane, { name })).name).toBe(name);
  });

  // From Monday, the 18th of May 2026, at 19:00.
  // @contract schedules.cron.steps
  // @contract schedules.cron.macros
  it.each([
    ["*/20 * * * *", "2026-05-18T19:20:00.000Z"],
    ["5,35 20-22 * * *", "2026-05-18T20:05:00.000Z"],
    ["0 9 * * MON-FRI", "2026-05-19T09:00:00.000Z"],
    ["0 9 * jun Sun", "2026-06-07T09:00:00.000Z"],
    ["0 9 * * 0", "2026-05-24T09:00:00.000Z"],
    ["0 9 * * 7", "2026-05-24T09:00:00.000Z"],
    ["10-40/15 19 * * *", "2026-05-18T19:10:00.000Z"],
    ["0 0 13 * FRI", "2026-05-22T00:00:00.000Z"],
    ["0 12 20 * SUN", "2026-05-20T12:00:00.000Z"],
    ["@hourly", "2026-05-18T20:00:00.000Z"],
    ["@daily", "2026-05-19T00:00:00.000Z"],
    ["@weekly", "2026-05-24T00:00:00.000Z"],
    ["@monthly", "2026-06-01T00:00:00.000Z"],
    ["@yearly", "2027-01-01T00:00:00.000Z"],
    ["0 0 29 2 *", "2028-02-29T00:00:00.000Z"],
  ])("computes the next run of %s at %s", async (cron_schedule, next_run) => {
    expect((await makeSchedule(plane, { cron_schedule })).history).toEqual({ last_ran: null, next_run });
  });

  // @contract schedules.body.optional
  it("creates runs in the schedule's mode", async () => {
    for (const [mode, given] of [
      ["plan", { mode: "plan" }],
      ["normal", {}],
    ] as const) {
      const { id } = await makeSchedule(plane, { name: mode, ...given });
      const { body } = await createClient(plane).post(`/agent/schedules/${id}/run`);
      const { context } = (await createHarness(plane, await plane.dispatch(body.run_id)).resolve()).body;
      expect(context.mode).toBe(mode);
    }
    expect(
      (await createClient(plane).post("/agent/schedules", { ...nightly, mode: "fast" })).body.errors,
    ).toMatchObject([{ path: "mode" }]);
  });
});

describe("GET /agent/schedules", () => {
  // @contract schedules.item.recent-list: The list omits recent_runs.
  it("returns recent_runs for a single schedule only, empty before the first run", async () => {
    const { id } = await makeSchedule(plane);
    expect((await readSchedule(plane, id)).recent_runs).toEqual([]);
    await fireAt(plane, id, "2026-05-19T02:30:00Z");
    const [run] = await listRuns(plane, id);
    expect((await readSchedule(plane, id)).recent_runs).toMatchObject([{ run_id: run.run_id }]);
    const [listed] = (await createClient(plane).get("/agent/schedules")).body.schedules;
    expect(listed).toMatchObject({ id });
    expect(listed).not.toHaveProperty("recent_runs");
  });
});
