import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";

const HOUR = 3_600_000;

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const schedule = { name: "nightly", cron_schedule: "0 3 * * *", prompt: "Tidy up." };
const rule = { issuer: "https://ci.test", audience: "runyard", subject_pattern: "repo:acme/*", ttl_seconds: 600 };
const webhook = { url: "https://hooks.runyard.test/events", name: "builds", event_types: ["run_failed"] };
const trigger = {
  name: "builds",
  kind: "webhook",
  verification: { scheme: "bearer" },
  secret: "x".repeat(20),
  prompt: "a",
};

/** What is created, with the request that changes it afterwards. */
const creations: readonly [string, string, object, object][] = [
  [
    "a schedule",
    "/agent/schedules",
    schedule,
    { ...schedule, name: "weekly", cron_schedule: "0 5 * * 1", enabled: false },
  ],
  [
    "a schedule with a long prompt",
    "/agent/schedules",
    { ...schedule, prompt: "long ".repeat(10_000) },
    { ...schedule, enabled: true, prompt: "short" },
  ],
  [
    "an identity",
    "/agent/identities",
    { name: "Reviewer", prompt: "Be kind.", max_steps: 5 },
    { name: "Other", prompt: "" },
  ],
  [
    "an environment",
    "/agent/environments",
    { name: "shop", setup_commands: ["make"] },
    { name: "mall", setup_commands: [] },
  ],
  ["a webhook", "/agent/webhooks", webhook, { name: "", enabled: false, event_types: [] }],
  [
    "a trigger",
    "/agent/triggers",
    trigger,
    { name: "deploys", enabled: false, prompt: "b", metadata: { app: "shop" } },
  ],
  [
    "a team",
    "/agent/teams",
    { name: "Second", settings: { queue_limit: 7 } },
    { name: "Third", settings: { queue_limit: 8 } },
  ],
];

describe("a repeated creation", () => {
  // @contract repeats.creation: A repeated creation returns the first response, whatever has changed since.
  it.each(creations)("of %s returns the first response after a change", async (_, path, body, change) => {
    const headers = { "idempotency-key": "one" };
    const first = await user.post(path, body, { headers });
    expect(first.status).toBe(201);
    plane.clock.now += HOUR;
    const id = first.body.id ?? first.body.uid;
    expect((await user.put(`${path}/${id}`, change)).status).toBe(200);
    expect(await user.post(path, body, { headers })).toMatchObject({
      status: 201,
      headers: { "idempotent-replay": "true" },
      body: first.body,
    });
    const { secret: _secret, ...shown } = first.body;
    expect((await user.get(`${path}/${id}`)).body, "the change stays").not.toMatchObject(shown);
  });

  it("of a trust rule returns the first response after a change", async () => {
    const { uid } = await plane.agent();
    const path = `/agent/identities/${uid}/trust-rules`;
    const headers = { "idempotency-key": "one" };
    const first = await user.post(path, rule, { headers });
    expect(first.status).toBe(201);
    plane.clock.now += HOUR;
    expect((await user.put(`${path}/${first.body.uid}`, { ...rule, ttl_seconds: 60 })).status).toBe(200);
    expect(await user.post(path, rule, { headers })).toMatchObject({ status: 201, body: first.body });
  });
});
