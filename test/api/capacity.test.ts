import { describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { clientOf } from "../support/client.ts";
import { createRun, deliver, type Harness, harnessOf } from "../support/execution.ts";
import { stateOf } from "../support/look.ts";
import { makeWorld, type World } from "../support/world.ts";

describe("a team's slots", () => {
  it("are 20: the 21st run waits and is told so, and a freed slot hands on to the oldest that waits", async () => {
    const world = await makeWorld();
    const harnesses = await fill(world, 20);
    const ada = clientOf(world);
    world.clock.now += 1_000;
    const first = await ada.post("/agent/runs", { prompt: "the 21st" });
    expect(first).toMatchObject({ status: 200, body: { state: "QUEUED", at_capacity: true } });
    world.clock.now += 1_000;
    const second = await createRun(world, { prompt: "the 22nd" });
    await deliver(world);
    expect([await stateOf(world, first.body.run_id), await stateOf(world, second)]).toEqual(["QUEUED", "QUEUED"]);
    expect(world.started).toHaveLength(20);

    await harnesses[7]?.finish();
    await deliver(world);
    expect([await stateOf(world, first.body.run_id), await stateOf(world, second)]).toEqual(["PENDING", "QUEUED"]);
    await ada.post(`/agent/runs/${harnesses[3]?.run_id}/cancel`);
    await deliver(world);
    expect(await stateOf(world, second)).toBe("PENDING");
    expect(await countersOf(world)).toMatchObject({ queued: 0, running: 20 });
  });

  it("are each team's own", async () => {
    const world = await makeWorld();
    await fill(world, 20);
    const theirs = await clientOf(world, world.otherKey).post("/agent/runs", { prompt: "a" });
    expect(theirs.body).not.toHaveProperty("at_capacity");
    await deliver(world);
    expect(world.started).toHaveLength(21);
  });

  it("are not those of a member's own runs, which have a queue and slots of their own", async () => {
    const world = await makeWorld();
    const counters = keys.counters({ type: "User", uid: world.user });
    const ask = () => clientOf(world).post("/agent/runs", { prompt: "mine", team: false });
    for (const full of [{ running: 20 }, { parked: 1 }]) {
      await world.table.write({ kind: "put", item: { ...counters, v: 1, ...full } });
      expect((await ask()).body).toMatchObject({ state: "QUEUED", at_capacity: true });
    }
    await world.table.write({ kind: "put", item: { ...counters, v: 1, queued: 1_000 } });
    expect(await ask()).toMatchObject({ status: 429, body: { error_code: "resource_unavailable" } });
    await world.table.write({ kind: "put", item: { ...counters, v: 1 } });
    expect((await ask()).body).not.toHaveProperty("at_capacity");
  });

  it("are never more than 20 taken, however many messages come at once", async () => {
    const world = await makeWorld();
    await fill(world, 18);
    const ids = await Promise.all(Array.from({ length: 6 }, () => createRun(world)));
    await Promise.all(ids.map((id) => world.dispatch(id).catch(() => undefined)));
    const states = await Promise.all(ids.map((id) => stateOf(world, id)));
    expect(states.filter((state) => state === "PENDING")).toHaveLength(2);
    expect(await countersOf(world)).toMatchObject({ queued: 4, running: 20 });
  });
});

describe("a team's queue", () => {
  it("holds 1,000: what comes then is answered 429 with the time to wait, and nothing is stored", async () => {
    const world = await makeWorld();
    await world.table.write({
      kind: "update",
      key: keys.counters({ type: "Team", uid: world.team }),
      add: { queued: 999 },
    });
    expect((await clientOf(world).post("/agent/runs", { prompt: "the 1,000th" })).status).toBe(200);
    const before = structuredClone(world.table.all());
    const answer = await clientOf(world).post(
      "/agent/runs",
      { prompt: "one more" },
      { headers: { "idempotency-key": "full" } },
    );
    expect(answer).toMatchObject({
      status: 429,
      body: { error_code: "resource_unavailable", retryable: true, status: 429 },
    });
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    expect(answer.headers["x-should-retry"]).toBe("true");
    expect(world.table.all()).toEqual(before);

    await world.table.write({
      kind: "update",
      key: keys.counters({ type: "Team", uid: world.team }),
      add: { queued: -1 },
    });
    const retried = await clientOf(world).post(
      "/agent/runs",
      { prompt: "one more" },
      { headers: { "idempotency-key": "full" } },
    );
    expect(retried.status, "the key is still free").toBe(200);
  });
});

async function fill(world: World, count: number): Promise<Harness[]> {
  const harnesses: Harness[] = [];
  for (let index = 0; index < count; index++) {
    const harness = harnessOf(world, await world.dispatch(await createRun(world)));
    await harness.resolve();
    harnesses.push(harness);
  }
  world.sent.length = 0;
  return harnesses;
}

const countersOf = (world: World) => world.table.get(keys.counters({ type: "Team", uid: world.team }));
