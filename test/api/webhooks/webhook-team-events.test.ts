import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHooks } from "../../support/hooks.ts";
import { fireAt, makeSchedule, reconcile, timerOff } from "../../support/schedules.ts";
import { attemptRequested, streamEvents } from "../../support/webhooks.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const receive = async (body: object = {}): Promise<string> =>
  (await user.post("/agent/webhooks", { url: "https://hooks.runyard.test/events", ...body })).body.uid;
const sent = async () => {
  await streamEvents(plane);
  await attemptRequested(plane);
  return plane.webhooks.sent.map(({ body }) => JSON.parse(body));
};
const fillQueue = (queued = 1_000) => {
  const key = keys.counters({ type: "Team", uid: plane.team });
  return plane.table.write({ kind: "update", key, set: { queued } });
};

/** A trigger whose events fail since its environment is deleted. */
async function createFailingTrigger(): Promise<string> {
  const { body: environment } = await user.post("/agent/environments", { name: "Shop" });
  const uid = await createHooks(plane).createPlain({ agent_config: { environment_id: environment.uid } });
  await user.delete(`/agent/environments/${environment.uid}`);
  return uid;
}

describe("trigger_failed", () => {
  it("is delivered once for an event that can start no run, with the reason and without the payload", async () => {
    const webhook = await receive();
    const uid = await createFailingTrigger();
    const hooks = createHooks(plane);
    const { body } = await hooks.sendPlain(uid, { type: "build", text: "a secret plan" });
    const reason = expect.stringContaining("environment_id");
    const [event, ...others] = await sent();
    expect(others).toEqual([]);
    expect(event).toEqual({
      type: "trigger_failed",
      timestamp: "2026-05-18T19:00:01.000Z",
      data: {
        webhook_uid: webhook,
        sequence: 1,
        trigger_uid: uid,
        title: "events",
        event: { delivery_id: body.delivery_id, event_type: "build", reason },
      },
    });
    expect(await sent()).toHaveLength(1);
    expect((await user.get(`/agent/webhooks/${webhook}/deliveries`)).body.deliveries).toMatchObject([
      { event_type: "trigger_failed", trigger_uid: uid, state: "delivered" },
    ]);
  });

  it("is delivered for a failure that time could have changed only once it is given up", async () => {
    await receive({ event_types: ["trigger_failed"] });
    const hooks = createHooks(plane);
    const uid = await hooks.createPlain();
    await fillQueue();
    await hooks.sendPlain(uid, { build: 1 });
    expect(await sent()).toEqual([]);
    for (let hour = 0; hour < 40; hour++) await hooks.passMinutes(60);
    expect(await sent()).toMatchObject([{ data: { event: { reason: expect.stringContaining("the queue is full") } } }]);
  });

  it("is not delivered to a webhook with other types, of another trigger, or with a filter of runs", async () => {
    await receive({ event_types: ["run_failed", "schedule_failed"] });
    await receive({ filter: { trigger_id: "another" } });
    await receive({ filter: { source: "API" } });
    await receive({ enabled: false });
    const uid = await createFailingTrigger();
    const own = await receive({ filter: { trigger_id: uid } });
    await createHooks(plane).sendPlain(uid, { build: 1 });
    expect((await sent()).map(({ data }) => data.webhook_uid)).toEqual([own]);
  });
});

describe("a webhook of the format slack", () => {
  const URL = "https://hooks.slack.com/services/T1/B1/x";
  const messages = async (): Promise<string[]> => {
    await sent();
    return plane.webhooks.sent.map(({ body }) => JSON.parse(body).text);
  };

  it("gets messages with the reason of a failure, which mention nobody", async () => {
    const webhook = await user.post("/agent/webhooks", { url: URL, format: "slack" });
    expect(webhook.body).toMatchObject({ format: "slack" });
    const uid = await createFailingTrigger();
    await user.put(`/agent/triggers/${uid}`, { name: "<!channel> & co" });
    await createHooks(plane).sendPlain(uid, { type: "build" });
    const [text, ...others] = await messages();
    expect(others).toEqual([]);
    expect(text).toMatch(/^\*Trigger failed\*: &lt;!channel&gt; &amp; co\n.*environment_id/);
    expect(Object.keys(JSON.parse(plane.webhooks.sent[0]?.body ?? "{}"))).toEqual(["text", "unfurl_links"]);
  });

  it("gets the title of a run with a link to it, and the event itself once the format is json", async () => {
    const { body: webhook } = await user.post("/agent/webhooks", { url: URL, format: "slack" });
    await user.post("/agent/runs", { prompt: "Fix it", team: true });
    const [text] = await messages();
    expect(text).toMatch(/^\*Run created\*: Fix it\n<https:\/\/[^|]+\/runs\/[^|]+\|Open the run>$/);
    const changed = await user.put(`/agent/webhooks/${webhook.uid}`, { format: "json" });
    expect(changed.body).not.toHaveProperty("format");
    plane.webhooks.sent.length = 0;
    await user.post("/agent/runs", { prompt: "Fix it", team: true });
    expect((await sent())[0]).toMatchObject({ type: "run_created", data: { title: "Fix it" } });
    expect((await user.post("/agent/webhooks", { url: URL, format: "mail" })).status).toBe(400);
  });
});

describe("schedule_failed", () => {
  it("is delivered once for a firing that can start no run", async () => {
    await receive();
    const { id } = await makeSchedule(plane, { cron_schedule: "* * * * *" });
    await fillQueue();
    await fireAt(plane, id, "2026-05-18T19:01:00Z");
    await timerOff(plane, id, "2026-05-18T19:01:00Z");
    expect(await sent()).toMatchObject([
      {
        type: "schedule_failed",
        data: {
          schedule_id: id,
          title: "Nightly",
          event: { scheduled_at: "2026-05-18T19:01:00.000Z", reason: expect.stringContaining("the queue is full") },
        },
      },
    ]);
  });

  it("is not delivered for a person's own schedule, whose firings only they see", async () => {
    await receive();
    const { id } = await makeSchedule(plane, { team: false, agent_config: { worker_host: "rack-7" } });
    await fireAt(plane, id, "2026-05-19T02:30:00Z");
    expect(await sent()).toEqual([]);
  });
});

describe("schedule_missed", () => {
  it("is delivered for firings that are not made up for after an outage, with the first, the last and their number", async () => {
    await receive({ event_types: ["schedule_missed"] });
    const { id } = await makeSchedule(plane, { cron_schedule: "*/10 * * * *" });
    plane.clock.now = Date.parse("2026-05-18T21:05:00Z");
    await reconcile(plane);
    expect(await sent()).toMatchObject([
      {
        type: "schedule_missed",
        data: {
          schedule_id: id,
          event: {
            scheduled_at: "2026-05-18T19:10:00.000Z",
            last_scheduled_at: "2026-05-18T20:40:00.000Z",
            missed: 10,
            reason: "it was more than 15 minutes late, and a later firing was due",
          },
        },
      },
    ]);
  });
});
