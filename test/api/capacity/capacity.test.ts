import { describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, deliver, type Harness } from "../../support/execution.ts";
import { readState } from "../../support/look.ts";

describe("a team's slots", () => {
  // @contract general.defaults.concurrency: 20 runs of a team execute concurrently by default.
  // @contract general.capacity.full: A create while all slots are taken returns 200 with at_capacity.
  // @contract runs.response.at-capacity: at_capacity is present if the run waits for a slot.
  it("are limited to 20: the 21st run waits and says so, and a freed slot goes to the oldest waiting run", async () => {
    const plane = await createTestControlPlane();
    const harnesses = await fill(plane, 20);
    const user = createClient(plane);
    plane.clock.now += 1_000;
    const first = await user.post("/agent/runs", { prompt: "the 21st" });
    expect(first).toMatchObject({ status: 200, body: { state: "QUEUED", at_capacity: true } });
    plane.clock.now += 1_000;
    const second = await createRun(plane, { prompt: "the 22nd" });
    await deliver(plane);
    expect([await readState(plane, first.body.run_id), await readState(plane, second)]).toEqual(["QUEUED", "QUEUED"]);
    expect(plane.started).toHaveLength(20);
    const positions = await Promise.all(
      [first.body.run_id, second].map(async (id) => {
        const { body } = await user.get(`/agent/runs/${id}/events`);
        return body.events.find((event: { type: string }) => event.type === "run_waiting")?.data.position;
      }),
    );
    expect(positions).toEqual([1, 2]);

    await harnesses[7]?.finish();
    await deliver(plane);
    expect([await readState(plane, first.body.run_id), await readState(plane, second)]).toEqual(["PENDING", "QUEUED"]);
    await user.post(`/agent/runs/${harnesses[3]?.run_id}/cancel`);
    await deliver(plane);
    expect(await readState(plane, second)).toBe("PENDING");
    expect(await readCounters(plane)).toMatchObject({ queued: 0, running: 20 });
  });

  it("show a reader of live output how a waiting run moves up in the queue", async () => {
    const plane = await createTestControlPlane();
    const harnesses = await fill(plane, 20);
    const user = createClient(plane);
    const waiting: string[] = [];
    for (; waiting.length < 3; plane.clock.now += 1_000) waiting.push(await createRun(plane));
    await deliver(plane);
    const path = `/agent/runs/${waiting[2]}/events?after=99&live=true`;
    const first = (await user.get(path)).body;
    expect(first).toMatchObject({ live: [], waiting: { position: 3 } });
    await harnesses[0]?.finish();
    await deliver(plane);
    plane.clock.now += 2_000;
    const second = (await user.get(`${path}&wait=25&live_after=${first.live_next}`)).body;
    expect(second).toMatchObject({ waiting: { position: 2 } });
    expect((await user.get(`/agent/runs/${waiting[2]}/events?after=99`)).body).not.toHaveProperty("waiting");
    for (const harness of harnesses.slice(1, 3)) await harness.finish();
    await deliver(plane);
    expect((await user.get(`${path}&live_after=${second.live_next}`)).body).not.toHaveProperty("waiting");
  });

  // @contract runs.response.at-capacity
  it("are counted per team", async () => {
    const plane = await createTestControlPlane();
    await fill(plane, 20);
    const theirs = await createClient(plane, plane.otherKey).post("/agent/runs", { prompt: "a" });
    expect(theirs.body).not.toHaveProperty("at_capacity");
    await deliver(plane);
    expect(plane.started).toHaveLength(21);
  });

  it("exclude a member's personal runs, which have a queue and slots of their own", async () => {
    const plane = await createTestControlPlane();
    const counters = keys.counters({ type: "User", uid: plane.user });
    const createPersonalRun = () => createClient(plane).post("/agent/runs", { prompt: "mine", team: false });
    for (const full of [{ running: 20 }, { waiting: 1 }]) {
      await plane.table.write({ kind: "put", item: { ...counters, v: 1, ...full } });
      expect((await createPersonalRun()).body).toMatchObject({ state: "QUEUED", at_capacity: true });
    }
    await plane.table.write({ kind: "put", item: { ...counters, v: 1, queued: 1_000 } });
    expect(await createPersonalRun()).toMatchObject({ status: 429, body: { error_code: "resource_unavailable" } });
    await plane.table.write({ kind: "put", item: { ...counters, v: 1 } });
    expect((await createPersonalRun()).body).not.toHaveProperty("at_capacity");
  });

  it("never exceed 20 with any number of concurrent messages", async () => {
    const plane = await createTestControlPlane();
    await fill(plane, 18);
    const ids = await Promise.all(Array.from({ length: 6 }, () => createRun(plane)));
    await Promise.all(ids.map((id) => plane.dispatch(id).catch(() => undefined)));
    const states = await Promise.all(ids.map((id) => readState(plane, id)));
    expect(states.filter((state) => state === "PENDING")).toHaveLength(2);
    expect(await readCounters(plane)).toMatchObject({ queued: 4, running: 20 });
  });
});

describe("a team's queue", () => {
  // @contract general.defaults.queue: 1,000 runs of a team can wait by default.
  // @contract general.capacity.queue-full: A create while the queue is full returns 429.
  // @contract errors.code.resource_unavailable
  // @contract errors.retry-after.429
  // @contract runs.idempotency.refused
  it("holds 1,000 runs: the next create returns 429 with Retry-After, and stores nothing", async () => {
    const plane = await createTestControlPlane();
    await plane.table.write({
      kind: "update",
      key: keys.counters({ type: "Team", uid: plane.team }),
      add: { queued: 999 },
    });
    expect((await createClient(plane).post("/agent/runs", { prompt: "the 1,000th" })).status).toBe(200);
    const before = structuredClone(plane.table.all());
    const response = await createClient(plane).post(
      "/agent/runs",
      { prompt: "one more" },
      { headers: { "idempotency-key": "full" } },
    );
    expect(response).toMatchObject({
      status: 429,
      body: { error_code: "resource_unavailable", retryable: true, status: 429 },
    });
    expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
    expect(response.headers["x-should-retry"]).toBe("true");
    expect(plane.table.all()).toEqual(before);

    await plane.table.write({
      kind: "update",
      key: keys.counters({ type: "Team", uid: plane.team }),
      add: { queued: -1 },
    });
    const retried = await createClient(plane).post(
      "/agent/runs",
      { prompt: "one more" },
      { headers: { "idempotency-key": "full" } },
    );
    expect(retried.status, "the key is still unused").toBe(200);
  });
});

async function fill(plane: TestControlPlane, count: number): Promise<Harness[]> {
  const harnesses: Harness[] = [];
  for (let index = 0; index < count; index++) {
    const harness = createHarness(plane, await plane.dispatch(await createRun(plane)));
    await harness.resolve();
    harnesses.push(harness);
  }
  plane.sent.length = 0;
  return harnesses;
}

const readCounters = (plane: TestControlPlane) => plane.table.get(keys.counters({ type: "Team", uid: plane.team }));
