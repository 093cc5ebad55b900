import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { GetScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventBridgeScheduler } from "#shared/aws/eventbridge-scheduler.ts";
import { type Scheduler, TimerRefused } from "#shared/timers/scheduler.ts";
import { type HttpProxy, startHttpProxy } from "../../emulator/http-proxy.ts";
import { timerCron } from "../../emulator/timer-cron.ts";
import { Timers } from "../../emulator/timers.ts";

const settings = {
  group: "runyard",
  functionArn: "arn:aws:lambda:us-east-1:000000000000:function:runyard-fire-schedule",
  roleArn: "arn:aws:iam::000000000000:role/timers",
};
const nightly = { id: "0199a3c4-7d20-7c3b-8a11-5e0f9b2c6d48", expression: "cron(30 2 * * ? *)", timeZone: "UTC" };

describe("the local scheduler", () => {
  let folder: string;
  let timers: Timers;
  let door: HttpProxy;
  let client: SchedulerClient;
  let scheduler: Scheduler;
  let sent: { functionName: string; event: string }[];
  const send = async (functionName: string, event: string) => void sent.push({ functionName, event });
  const goOff = (time: string) => timers.goOff(Date.parse(time), send);

  beforeEach(async () => {
    sent = [];
    folder = await mkdtemp(path.join(tmpdir(), "timers-"));
    timers = await Timers.open(path.join(folder, "timers.json"));
    door = await startHttpProxy({ port: 0, webDirectory: folder, timers });
    client = new SchedulerClient({
      endpoint: door.schedulerUrl,
      region: "us-east-1",
      credentials: { accessKeyId: "test", secretAccessKey: "test" },
      maxAttempts: 1,
    });
    scheduler = eventBridgeScheduler(client, () => settings);
  });
  afterEach(async () => {
    client.destroy();
    await door.close();
    await timers.end();
    await rm(folder, { recursive: true, force: true });
  });

  test("sets a timer through the service's own client, changes it and deletes it, each of them twice", async () => {
    const read = new GetScheduleCommand({ Name: nightly.id, GroupName: "runyard" });
    await scheduler.put(nightly);
    await scheduler.put(nightly);
    expect(await client.send(read)).toMatchObject({
      Name: nightly.id,
      GroupName: "runyard",
      Arn: `arn:aws:scheduler:us-east-1:000000000000:schedule/runyard/${nightly.id}`,
      ScheduleExpression: "cron(30 2 * * ? *)",
      State: "ENABLED",
    });
    await scheduler.put({ ...nightly, expression: "cron(0 5 * * ? *)", timeZone: "Asia/Tokyo" });
    expect(await client.send(read)).toMatchObject({
      ScheduleExpression: "cron(0 5 * * ? *)",
      ScheduleExpressionTimezone: "Asia/Tokyo",
    });
    await scheduler.remove(nightly.id);
    await scheduler.remove(nightly.id);
    await expect(client.send(read)).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  });

  test("sends AWS's message at the timer's minute only", async () => {
    await scheduler.put(nightly);
    await goOff("2026-05-19T02:29:00Z");
    await goOff("2026-05-19T02:30:00Z");
    await goOff("2026-05-19T02:31:00Z");
    expect(sent.map(({ functionName, event }) => ({ functionName, ...JSON.parse(event) }))).toEqual([
      { functionName: "runyard-fire-schedule", v: 1, schedule_id: nightly.id, scheduled_time: "2026-05-19T02:30:00Z" },
    ]);
  });

  test("uses the time zone's clocks, skips removed hours, and fires once in repeated ones", async () => {
    await scheduler.put({ ...nightly, timeZone: "Europe/Berlin" });
    for (const time of ["2026-03-28T01:30", "2026-03-29T00:30", "2026-03-29T01:00", "2026-03-29T01:30"])
      await goOff(`${time}Z`);
    for (const time of ["2026-10-25T00:30", "2026-10-25T01:30"]) await goOff(`${time}Z`);
    expect(sent.map(({ event }) => JSON.parse(event).scheduled_time)).toEqual([
      "2026-03-28T01:30:00Z",
      "2026-10-25T00:30:00Z",
    ]);
  });

  test("restores its timers, and rejects an invalid expression", async () => {
    await scheduler.put(nightly);
    const refused = ["cron(30 2 * * * *)", "cron(30 2 * * ?)", "cron(61 2 * * ? *)", "30 2 * * *", "rate(1 minute)"];
    for (const expression of refused) {
      await expect(scheduler.put({ ...nightly, id: "other", expression })).rejects.toBeInstanceOf(TimerRefused);
    }
    await expect(scheduler.put({ ...nightly, id: "other", timeZone: "Mars/Olympus" })).rejects.toBeInstanceOf(
      TimerRefused,
    );
    await timers.end();
    timers = await Timers.open(path.join(folder, "timers.json"));
    await goOff("2026-05-19T02:30:00Z");
    expect(sent).toHaveLength(1);
  });

  test("retries a message that cannot be sent", async () => {
    await scheduler.put(nightly);
    let failures = 1;
    await timers.goOff(Date.parse("2026-05-19T02:30:00Z"), async (functionName, event) => {
      if (failures-- > 0) throw new Error("the emulator is busy");
      await send(functionName, event);
    });
    expect(sent).toHaveLength(1);
  });

  test("rejects requests from web pages", async () => {
    const url = `${door.schedulerUrl}/schedules/a`;
    expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(403);
    const authorization = "AWS4-HMAC-SHA256 Credential=test/20260519/us-east-1/scheduler/aws4_request";
    const headers = { authorization, origin: "https://elsewhere.test" };
    expect((await fetch(url, { method: "POST", body: "{}", headers })).status).toBe(403);
    expect((await fetch(url, { method: "POST", body: "{}", headers: { authorization } })).status).toBe(400);
    expect((await fetch(url, { method: "PATCH", headers: { authorization } })).status).toBe(405);
    expect((await fetch(`${url}/b`, { headers: { authorization } })).status).toBe(404);
  });
});

describe("timerCron", () => {
  test.each([
    ["cron(0 9 ? * 2-6 *)", "2026-05-18T09:00:00Z", true],
    ["cron(0 9 ? * 2-6 *)", "2026-05-17T09:00:00Z", false],
    ["cron(0 9 ? * 1 *)", "2026-05-17T09:00:00Z", true],
    ["cron(0/15 * * * ? *)", "2026-05-17T09:45:00Z", true],
    ["cron(0 0 L * ? *)", "2026-05-31T00:00:00Z", true],
    ["cron(0 0 1 1 ? 2027)", "2027-01-01T00:00:00Z", true],
    ["cron(0 0 1 1 ? 2027)", "2028-01-01T00:00:00Z", false],
  ])("%s at %s: %s", (expression, time, due) => {
    expect(timerCron(expression, "UTC").isDue(Date.parse(time))).toBe(due);
  });
});
