import { afterAll, beforeAll, expect, test } from "vitest";
import { sendToQueue } from "../../local/emulator-calls.ts";
import { type CloudProcess, client, commands, dropState, makeState, startCloud } from "./cloud.ts";

let state: string;
let cloud: CloudProcess;

beforeAll(async () => {
  state = await makeState();
  cloud = await startCloud(state);
});
afterAll(async () => {
  await cloud?.stop();
  await dropState(state);
});

const MINUTE = 60_000;
const until = (time: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, time - Date.now())));

/** What a timer sends, sent once more. */
async function deliverAgain(id: string, time: string): Promise<void> {
  const message = { v: 1, schedule_id: id, scheduled_time: time };
  await sendToQueue(cloud.emulator, "runyard-ticks", JSON.stringify(message));
}

test("a schedule fires in the next minute, makes one run, shows it, and fires no more once it is paused", async () => {
  const { call, ended } = client(cloud);
  const runs = async (id: string) => (await call("GET", `/agent/runs?schedule_id=${id}`)).body.runs;
  // Not so shortly before a minute that it has begun when the schedule is there.
  if (Date.now() % MINUTE > MINUTE - 3_000) await until(Math.ceil(Date.now() / MINUTE) * MINUTE);
  const due = Math.ceil(Date.now() / MINUTE) * MINUTE;

  const made = await call("POST", "/agent/schedules", {
    name: "Every minute",
    cron_schedule: "* * * * *",
    time_zone: "Asia/Tokyo",
    prompt: commands("echo tick"),
  });
  expect(made).toMatchObject({ status: 201, body: { history: { next_run: new Date(due).toISOString() } } });
  const { id } = made.body;
  await until(due);
  while ((await runs(id)).length === 0 && Date.now() < due + 20_000) await until(Date.now() + 200);
  const firedAfter = Date.now() - due;

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
  expect((await call("GET", `/agent/schedules/${id}/ticks`)).body.ticks).toMatchObject([
    { scheduled_at: new Date(due).toISOString(), outcome: "fired", run_id: run.run_id },
  ]);

  await deliverAgain(id, new Date(due).toISOString());
  await until(due + MINUTE + 5_000);
  expect(await runs(id)).toHaveLength(1);
  expect(firedAfter).toBeLessThan(20_000);
}, 150_000);
