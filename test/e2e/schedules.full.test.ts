import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, test } from "vitest";
import { client, commands } from "../support/api-client.ts";
import { startService, type TestService } from "../support/service.ts";

const MINUTE = 60_000;
let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const until = (time: number) => sleep(Math.max(0, time - Date.now()));

describe("a schedule", () => {
  test("fires in the next minute, creates one run and lists it, and stops firing once it is paused", async ({
    expect,
  }) => {
    const { call, ended } = client(service);
    const runs = async (id: string) => (await call("GET", `/agent/runs?schedule_id=${id}`)).body.runs;
    // Starts early enough that the schedule exists before the next minute.
    if (Date.now() % MINUTE > MINUTE - 10_000) await until(Math.ceil(Date.now() / MINUTE) * MINUTE);
    const due = Math.ceil(Date.now() / MINUTE) * MINUTE;

    const made = await call("POST", "/agent/schedules", {
      name: "Every minute",
      cron_schedule: "* * * * *",
      time_zone: "Asia/Tokyo",
      prompt: commands("echo tick"),
    });
    expect(made).toMatchObject({ status: 201, body: { history: { next_run: new Date(due).toISOString() } } });
    const { id } = made.body;
    await expect.poll(async () => (await runs(id)).length, { timeout: 2 * MINUTE, interval: 500 }).toBe(1);

    expect((await call("POST", `/agent/schedules/${id}/pause`)).body).toMatchObject({ enabled: false });
    const [run] = await runs(id);
    expect(run).toMatchObject({
      source: "SCHEDULED_AGENT",
      schedule: { schedule_id: id, schedule_name: "Every minute" },
    });
    expect(await ended(run.run_id)).toMatchObject({ state: "SUCCEEDED", title: "Every minute" });
    const { body: schedule } = await call("GET", `/agent/schedules/${id}`);
    expect(schedule.recent_runs).toEqual([{ run_id: run.run_id, state: "SUCCEEDED", created_at: run.created_at }]);
    expect(schedule.history).toEqual({ last_ran: run.created_at, next_run: null });
    const [tick] = (await call("GET", `/agent/schedules/${id}/ticks`)).body.ticks;
    expect(tick).toMatchObject({ scheduled_at: new Date(due).toISOString(), outcome: "fired", run_id: run.run_id });

    await until(due + MINUTE + 3_000);
    expect(await runs(id)).toHaveLength(1);
  });
});
