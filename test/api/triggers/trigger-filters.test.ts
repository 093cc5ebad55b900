import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHooks } from "../../support/hooks.ts";

let plane: TestControlPlane;
let user: Client;
let hooks: ReturnType<typeof createHooks>;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  hooks = createHooks(plane);
});

const create = (body: object) =>
  hooks.create({ kind: "webhook", verification: { scheme: "bearer" }, prompt: "Look at {{ event.thread }}", ...body });
const created = async (body: object) => (await create(body)).body;
const send = async ({ uid, secret }: { uid: string; secret: string }, payload: object) => {
  plane.clock.now += 1000;
  const headers = { authorization: `Bearer ${secret}` };
  expect((await hooks.send(uid, JSON.stringify(payload), headers)).status).toBe(200);
  return (await hooks.deliveries(uid))[0];
};

describe("the filter of a trigger", () => {
  it("lets only events start runs for which it is true, and says why others do not", async () => {
    const trigger = await created({ filter: "event.payload.severity == 'high'" });
    expect(trigger.filter).toBe("event.payload.severity == 'high'");
    expect(await send(trigger, { severity: "high" })).toMatchObject({ outcome: "started" });
    const low = await send(trigger, { severity: "low" });
    expect(low).toMatchObject({ outcome: "ignored", reason: "filter" });
    expect(low).not.toHaveProperty("detail");
    expect(await send(trigger, { other: 1 })).toMatchObject({
      outcome: "ignored",
      reason: "filter",
      detail: "filter: field not found: severity",
    });
    expect(await hooks.runs()).toHaveLength(1);
    expect(await send(trigger, { severity: "low" })).toMatchObject({ outcome: "duplicate", of: low.delivery_id });
  });

  it("ignores an event that exceeds its limits, and goes on with the next one", async () => {
    const trigger = await created({ filter: "event.payload.l.all(x, event.payload.l.all(y, x + y >= 0.0))" });
    const l = Array.from({ length: 100_000 }, (_, number) => number);
    expect(await send(trigger, { l })).toMatchObject({
      outcome: "ignored",
      reason: "filter",
      detail: expect.stringContaining("filter: took more than"),
    });
    expect(await send(trigger, { l: [1] })).toMatchObject({ outcome: "started" });
  });

  it.each([
    ["filter", { filter: "event.type == 'a' &&\n  foo(event.text)" }, "line 2, column 3: unknown function foo"],
    ["filter", { filter: "event.text" }, "line 1, column 1: the result is no bool"],
    ["filter", { filter: "a".repeat(2049) }, "2048"],
    ["thread_key", { thread_key: "event.text == ''" }, "line 1, column 1: the result is no string"],
    ["thread_key", { kind: "github", verification: undefined, thread_key: "event.text" }, "kind webhook only"],
  ])("returns 400 naming %s for %j, at creation and update", async (path, body, message) => {
    const errors = [{ path, message: expect.stringContaining(message) }];
    expect(await create(body)).toMatchObject({ status: 400, body: { errors } });
    const { uid } = await created("kind" in body ? { ...body, thread_key: "" } : {});
    const { filter, thread_key } = { filter: undefined, thread_key: undefined, ...body };
    expect(await user.put(`/agent/triggers/${uid}`, { filter, thread_key })).toMatchObject({
      status: 400,
      body: { errors },
    });
  });

  it("stays when an update does not name it, and is cleared by an empty one", async () => {
    const { uid } = await created({ filter: "event.text != ''", thread_key: "event.text" });
    const change = async (body: object) => (await user.put(`/agent/triggers/${uid}`, body)).body;
    expect(await change({ name: "other" })).toMatchObject({ filter: "event.text != ''", thread_key: "event.text" });
    const cleared = await change({ filter: "", thread_key: "" });
    expect(cleared).not.toHaveProperty("filter");
    expect(cleared).not.toHaveProperty("thread_key");
  });

  it("decides about an event that the trigger is tested with", async () => {
    const { uid } = await created({ filter: "event.payload.a == 1", thread_key: "event.payload.t" });
    const test = async (payload: object) => (await user.post(`/agent/triggers/${uid}/test`, { payload })).body;
    expect(await test({ a: 2 })).toMatchObject({ outcome: "ignored", reason: "filter" });
    expect(await test({ a: 1 })).toMatchObject({ reason: "filter", detail: "thread_key: field not found: t" });
    expect(await test({ a: 1, t: "T-1" })).toMatchObject({
      outcome: "started",
      event: { thread: "T-1" },
      prompt: "Look at T-1",
    });
  });
});

describe("the thread key of a trigger", () => {
  it("makes events with the same key one conversation", async () => {
    const trigger = await created({ thread_key: "event.payload.ticket", followup_prompt: "{{ event.payload.n }}" });
    const first = await send(trigger, { ticket: "T-1", n: 1 });
    expect(await send(trigger, { ticket: "T-1", n: 2 })).toMatchObject({
      outcome: "followed_up",
      run_id: first.run_id,
    });
    expect(await send(trigger, { ticket: "T-2", n: 3 })).toMatchObject({ outcome: "started" });
  });

  it("starts a run for each event where it is empty, and ignores one for which it fails", async () => {
    const trigger = await created({ thread_key: "event.payload.ticket" });
    for (const n of [1, 2]) expect(await send(trigger, { ticket: "", n })).toMatchObject({ outcome: "started" });
    expect(await send(trigger, { n: 3 })).toMatchObject({
      outcome: "ignored",
      reason: "filter",
      detail: "thread_key: field not found: ticket",
    });
  });
});
