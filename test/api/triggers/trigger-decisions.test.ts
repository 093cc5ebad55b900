import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, decideEvent, type TestControlPlane } from "../../support/control-plane.ts";
import { createHooks } from "../../support/hooks.ts";

let plane: TestControlPlane;
let user: Client;
let hooks: ReturnType<typeof createHooks>;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  hooks = createHooks(plane);
});

const create = (body?: object) => hooks.createPlain(body);
const send = (uid: string, payload: object) => hooks.sendPlain(uid, payload);
/** Decides on the held deliveries, in the order of `sort`. */
const decideHeld = async (
  sort: (held: typeof plane.events.requested) => typeof plane.events.requested = (all) => all,
) => {
  for (const delivery of sort(plane.events.requested.splice(0))) await decideEvent(delivery, plane.ports);
};
const isDue = () => plane.table.all().some(({ check_shard }) => String(check_shard).startsWith("EVENTS"));
const setQueueLimit = (queue_limit: number) => user.put(`/agent/teams/${plane.team}`, { settings: { queue_limit } });

describe("the decision on an event", () => {
  it("is made after the response, which is sent once the delivery is stored", async () => {
    plane.events.isHeld = true;
    const uid = await create();
    const { status, body } = await send(uid, { build: 1 });
    expect(status).toBe(200);
    expect(await hooks.runs()).toEqual([]);
    const [pending] = await hooks.deliveries(uid);
    expect(pending).toMatchObject({ delivery_id: body.delivery_id, attempts: 0 });
    expect(pending).not.toHaveProperty("outcome");
    expect((await user.get(`/agent/triggers/${uid}`)).body.last_delivery).toEqual({ at: pending.received_at });
    // A repetition of an event that is not decided on yet is a duplicate of it.
    await send(uid, { build: 1 });
    await decideHeld();
    expect(await hooks.deliveries(uid)).toMatchObject([
      { outcome: "duplicate", of: body.delivery_id },
      { outcome: "started", attempts: 1 },
    ]);
    expect(isDue()).toBe(false);
  });

  it("starts one run however often its message is delivered, also at once", async () => {
    plane.events.isHeld = true;
    const uid = await create();
    await send(uid, { build: 1 });
    const [delivery] = plane.events.requested;
    if (delivery === undefined) throw new Error("no decision was requested");
    await Promise.all([1, 2, 3].map(() => decideEvent(delivery, plane.ports)));
    await decideEvent(delivery, plane.ports);
    expect(await hooks.runs()).toHaveLength(1);
    expect(await hooks.deliveries(uid)).toMatchObject([{ outcome: "started", attempts: 1 }]);
  });

  it("makes one conversation of a thread whose messages come in another order", async () => {
    plane.events.isHeld = true;
    const uid = await create({ thread_key: "event.payload.ticket" });
    for (const text of ["one", "two", "three"]) await send(uid, { ticket: "T-1", text });
    await decideHeld((held) => held.toReversed());
    const outcomes = (await hooks.deliveries(uid)).map(({ outcome }: { outcome: string }) => outcome);
    expect(outcomes).toEqual(["started", "followed_up", "followed_up"]);
    expect(await hooks.runs()).toHaveLength(1);
  });

  it("is requested again where its message is lost, and not before", async () => {
    plane.events.isHeld = true;
    const uid = await create();
    await send(uid, { build: 1 });
    plane.events.requested.length = 0;
    await hooks.passMinutes(1);
    expect(plane.events.requested).toEqual([]);
    await hooks.passMinutes(1);
    await decideHeld();
    expect(await hooks.deliveries(uid)).toMatchObject([{ outcome: "started" }]);
  });

  it("is made again while the team's queue is full, and says so", async () => {
    const uid = await create();
    await setQueueLimit(1);
    await send(uid, { build: 1 });
    await send(uid, { build: 2 });
    const [waiting] = await hooks.deliveries(uid);
    expect(waiting).toMatchObject({ attempts: 1, will_retry: true, detail: expect.stringContaining("queue") });
    expect(waiting).not.toHaveProperty("outcome");
    await hooks.passMinutes(1);
    expect((await hooks.deliveries(uid))[0]).toMatchObject({ attempts: 2, will_retry: true });
    await setQueueLimit(10);
    await hooks.passMinutes(60);
    const [started] = await hooks.deliveries(uid);
    expect(started).toMatchObject({ outcome: "started", attempts: 3 });
    expect(started).not.toHaveProperty("will_retry");
    expect(started).not.toHaveProperty("detail");
    expect(await hooks.runs()).toHaveLength(2);
  });

  it("is a failure after 24 hours, and then the sender's repetition is decided on", async () => {
    const uid = await create();
    await setQueueLimit(1);
    await send(uid, { build: 1 });
    await send(uid, { build: 2 });
    for (let hour = 0; hour < 25; hour++) await hooks.passMinutes(61);
    const [failed] = await hooks.deliveries(uid);
    expect(failed).toMatchObject({ outcome: "failed", detail: expect.stringContaining("queue") });
    expect(isDue()).toBe(false);
    await setQueueLimit(10);
    await send(uid, { build: 2 });
    expect((await hooks.deliveries(uid))[0]).toMatchObject({ outcome: "started" });
    await send(uid, { build: 2 });
    expect((await hooks.deliveries(uid))[0]).toMatchObject({ outcome: "duplicate" });
  });

  it("is by the trigger as it is then, and none is due of a deleted trigger", async () => {
    plane.events.isHeld = true;
    const uid = await create();
    await send(uid, { build: 1 });
    await user.post(`/agent/triggers/${uid}/pause`);
    await decideHeld();
    expect(await hooks.deliveries(uid)).toMatchObject([{ outcome: "ignored", reason: "paused" }]);
    await user.post(`/agent/triggers/${uid}/resume`);
    await send(uid, { build: 2 });
    await user.delete(`/agent/triggers/${uid}`);
    await decideHeld();
    expect(isDue()).toBe(false);
    expect(await hooks.runs()).toEqual([]);
  });
});
