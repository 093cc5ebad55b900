import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, decideEvent, type TestControlPlane } from "../../support/control-plane.ts";
import { BEARER_SECRET, createHooks } from "../../support/hooks.ts";

let plane: TestControlPlane;
let user: Client;
let hooks: ReturnType<typeof createHooks>;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  hooks = createHooks(plane);
});

const create = (body?: object) => hooks.createPlain(body);
const send = async (uid: string, payload: object) => (await hooks.sendPlain(uid, payload)).body.delivery_id;
const path = (uid: string, id: string) => `/agent/triggers/${uid}/deliveries/${id}`;

describe("GET /agent/triggers/{triggerUid}/deliveries/{deliveryId}", () => {
  it("shows the payload, also of a duplicate, and neither headers nor the secret", async () => {
    const uid = await create();
    const [first, second] = [await send(uid, { build: 1 }), await send(uid, { build: 1 })];
    expect((await user.get(path(uid, first))).body).toMatchObject({ outcome: "started", payload: { build: 1 } });
    const { body: duplicate } = await user.get(path(uid, second));
    expect(duplicate).toMatchObject({ outcome: "duplicate", of: first, payload: { build: 1 } });
    const stored = [
      JSON.stringify(plane.table.all()),
      ...[...plane.files.files.values()].map((file) => Buffer.from(file).toString()),
    ].join("");
    expect(stored).not.toContain(BEARER_SECRET);
  });

  it("is for admins and for the trigger's creator", async () => {
    const uid = await create();
    const id = await send(uid, { build: 1 });
    const teammate = createClient(plane, (await plane.person("Grace")).key);
    expect((await teammate.get(path(uid, id))).status).toBe(403);
    expect((await createClient(plane, plane.otherKey).get(path(uid, id))).status).toBe(404);
    expect((await user.get(path(uid, "0199a3c4-0000-7000-8000-000000000001"))).status).toBe(404);
  });
});

describe("POST /agent/triggers/{triggerUid}/deliveries/{deliveryId}/redeliver", () => {
  it("delivers the event by the trigger as it is now, and leaves the earlier outcome", async () => {
    const uid = await create({ enabled: false });
    const id = await send(uid, { build: 1 });
    await user.post(`/agent/triggers/${uid}/resume`);
    await user.put(`/agent/triggers/${uid}`, { prompt: "Fix build {{ event.payload.build }}." });
    plane.clock.now += 1000;
    const { status, body } = await user.post(`${path(uid, id)}/redeliver`);
    expect(status).toBe(200);
    expect(body).toEqual({
      delivery_id: expect.any(String),
      redelivery_of: id,
      event_type: "webhook",
      received_at: "2026-05-18T19:00:02.000Z",
      attempts: 0,
    });
    const [delivery] = await hooks.deliveries(uid);
    expect(delivery).toMatchObject({ delivery_id: body.delivery_id, outcome: "started", attempts: 1 });
    expect(await hooks.runs()).toMatchObject([{ run_id: delivery.run_id, prompt: "Fix build 1." }]);
    expect((await user.get(path(uid, id))).body).toMatchObject({ outcome: "ignored", reason: "paused" });
    // From then on a repetition by the sender is one.
    const repeated = await send(uid, { build: 1 });
    expect((await user.get(path(uid, repeated))).body).toMatchObject({ outcome: "duplicate", of: body.delivery_id });
  });

  it("starts another run for an event that has started one, once for each request, whose repetition has the first response", async () => {
    const uid = await create();
    const id = await send(uid, { build: 1 });
    const headers = { "idempotency-key": "key-1" };
    plane.clock.now += 1000;
    plane.events.isHeld = true;
    const first = await user.post(`${path(uid, id)}/redeliver`, undefined, { headers });
    plane.events.isHeld = false;
    for (const delivery of plane.events.requested.splice(0)) await decideEvent(delivery, plane.ports);
    const again = await user.post(`${path(uid, id)}/redeliver`, undefined, { headers });
    expect(again.body).toEqual(first.body);
    expect(await hooks.runs()).toHaveLength(2);
    const other = await user.post(`${path(uid, first.body.delivery_id)}/redeliver`);
    expect(other.body).toMatchObject({ redelivery_of: first.body.delivery_id, attempts: 0 });
    expect(await hooks.runs()).toHaveLength(3);
  });
});

describe("the deliveries of a trigger", () => {
  it("are listed by outcome in pages, and counted", async () => {
    const uid = await create({ events: ["build"] });
    for (let build = 0; build < 3; build++) {
      await send(uid, { type: "build", build });
      await send(uid, { type: "deploy", build });
    }
    plane.clock.now += 24 * 3_600_000 - 4500;
    const list = async (query: string) => (await user.get(`/agent/triggers/${uid}/deliveries?${query}`)).body;
    const first = await list("outcome=ignored&limit=2");
    expect(first.deliveries).toHaveLength(2);
    const cursor = encodeURIComponent(first.page_info.next_cursor);
    const last = await list(`outcome=ignored&limit=2&cursor=${cursor}`);
    expect([...first.deliveries, ...last.deliveries]).toMatchObject(Array(3).fill({ outcome: "ignored" }));
    expect((await list("outcome=started")).deliveries).toHaveLength(3);
    const { body } = await user.get(`/agent/triggers/${uid}`);
    expect(body).toMatchObject({
      last_delivery: { at: "2026-05-18T19:00:06.000Z", outcome: "ignored" },
      counts_24h: { started: 2, ignored: 3, duplicate: 0, failed: 0 },
    });
    const { counts_24h: _, recent_runs: __, ...listed } = body;
    expect((await user.get("/agent/triggers")).body.triggers).toEqual([listed]);
  });
});
