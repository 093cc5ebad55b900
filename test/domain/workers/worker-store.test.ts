import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { findConnectedWorkers } from "#shared/workers/connected-workers.ts";
import { waitingRunStore } from "#shared/workers/waiting-run-store.ts";
import { toClaimWrites, toOfferWrites, workerStore } from "#shared/workers/worker-store.ts";

const START = 1_800_000_000_000;
const EXPIRES_AT = START / 1000 + 7_800;
const one = { team: "team", workerHost: "rack-7", connectionId: "one" };

let now: number;
let table: ReturnType<typeof memoryTable>;
let store: ReturnType<typeof workerStore>;
beforeEach(() => {
  now = START;
  table = memoryTable();
  store = workerStore({ table, now: () => now });
});

const stored = () => table.get(keys.worker(one.team, one.workerHost, one.connectionId));
const registered = {
  ...keys.worker(one.team, one.workerHost, one.connectionId),
  v: 1,
  worker_host: "rack-7",
  connection_id: "one",
  key_hash: "hash",
  connected_at: START,
  last_seen_at: START,
  expires_at: EXPIRES_AT,
};
const offer = (at: number, executionId = "execution") => {
  const writes = toOfferWrites(one, { runId: "run", executionId, now: at, until: at + 30_000 });
  return table.transact(Object.values(writes).flatMap((write) => write ?? []));
};

describe("the connection of a worker", () => {
  it("is stored with its time to live, and found by its worker, its team and its id", async () => {
    await store.register(one, "hash");
    const pointer = {
      ...keys.connection("one"),
      v: 1,
      team_uid: "team",
      worker_host: "rack-7",
      expires_at: EXPIRES_AT,
    };
    expect(table.all()).toEqual([registered, pointer]);
    const { pk: _, sk: __, v: ___, ...connection } = registered;
    const found = { ...connection, busy_until: 0, offered_at: 0, unclaimed: 0 };
    expect(await store.find("one")).toEqual({ key: one, connection: found });
    expect(await store.ofWorker("team", "rack-7")).toEqual([found]);
    expect(await store.ofTeam("team")).toEqual([found]);
    expect(await store.ofWorker("team", "rack-8")).toEqual([]);
    expect(await store.ofTeam("other")).toEqual([]);
    expect(await store.find("two")).toBeUndefined();
  });

  it("is not found once it has expired, or without its item", async () => {
    await store.register(one, "hash");
    now = EXPIRES_AT * 1000 - 1;
    expect(await store.find("one")).toBeDefined();
    expect(await store.ofTeam("team")).toHaveLength(1);
    now = EXPIRES_AT * 1000;
    expect(await store.find("one")).toBeUndefined();
    expect(await store.ofTeam("team")).toEqual([]);
    now = START;
    await table.write({ kind: "delete", key: keys.worker(one.team, one.workerHost, one.connectionId) });
    expect(await store.find("one")).toBeUndefined();
  });

  it("lasts while it is recorded as open, together with the item that finds it by its id", async () => {
    await store.register(one, "hash");
    now += 7_799_000;
    expect(await store.noteSeen(one)).toBe(true);
    const expires_at = EXPIRES_AT + 7_799;
    expect(await stored()).toEqual({ ...registered, last_seen_at: now, expires_at });
    // The table deletes expired items, and without this one the connection is not found.
    expect(await table.get(keys.connection("one"))).toMatchObject({ team_uid: "team", expires_at });
  });

  it("is busy until the time with which it is registered", async () => {
    await store.register(one, "hash", START + 1_000);
    expect(await stored()).toEqual({ ...registered, busy_until: START + 1_000 });
  });

  it("is removed with its id, and is not changed afterwards", async () => {
    await store.register(one, "hash");
    await store.forget(one);
    expect(table.all()).toEqual([]);
    const changes = [
      store.noteSeen(one),
      store.block(one, START),
      store.block(one, START, true),
      store.release(one, "execution"),
      store.unblock(one),
    ];
    expect(await Promise.all(changes)).toEqual([false, false, false, false, false]);
    await expect(offer(START)).rejects.toThrow();
    expect(table.all()).toEqual([]);
  });

  it("passes other errors of the table on", async () => {
    const broken = { ...table, write: () => Promise.reject(new Error("no table")) };
    await expect(workerStore({ table: broken, now: () => now }).noteSeen(one)).rejects.toThrow("no table");
  });

  it("takes one offer at a time, which ends with its claim, its release or its time", async () => {
    await store.register(one, "hash");
    await offer(START);
    const offered = { ...registered, offer: "execution", offer_until: START + 30_000, offered_at: START };
    expect(await stored()).toEqual(offered);
    await expect(offer(START + 29_999)).rejects.toThrow();
    expect(await store.release(one, "another")).toBe(false);
    expect(await stored()).toEqual(offered);
    await offer(START + 30_000, "second");
    expect(await store.release(one, "second")).toBe(true);
    expect(await stored()).toEqual({ ...registered, offered_at: START + 30_000 });
    await offer(START + 30_001, "third");
    await store.block(one, START + 30_001, true);
    await table.transact(Object.values(toClaimWrites(one)).flatMap((write) => write ?? []));
    expect(await stored()).toEqual({ ...registered, offered_at: START + 30_001 });
  });

  it("gets no offer while it is busy, and counts the offers that it did not claim", async () => {
    await store.register(one, "hash");
    expect(await store.unblock(one)).toBe(false);
    await offer(START);
    expect(await store.block(one, START + 60_000, true)).toBe(true);
    expect(await store.block(one, START + 60_000, true)).toBe(true);
    expect(await stored()).toEqual({ ...registered, offered_at: START, busy_until: START + 60_000, unclaimed: 2 });
    await expect(offer(START + 59_999)).rejects.toThrow();
    await offer(START + 60_000);
    expect(await store.block(one, START + 70_000)).toBe(true);
    expect(await stored()).toEqual({ ...registered, offered_at: START + 60_000, busy_until: START + 70_000 });
    expect(await store.unblock(one)).toBe(true);
    expect(await stored()).toEqual({ ...registered, offered_at: START + 60_000 });
  });
});

describe("connected workers", () => {
  it("have the earliest time of connection, and the latest time when they were seen", async () => {
    await store.register(one, "hash");
    now += 1_000;
    await store.register({ ...one, connectionId: "two" }, "hash");
    now += 1_000;
    await store.noteSeen(one);
    await store.register({ ...one, team: "other", workerHost: "rack-8" }, "hash");
    const ports = { table, now: () => now };
    const rack7 = {
      worker_host: "rack-7",
      connection_count: 2,
      connected_at: new Date(START).toISOString(),
      last_seen_at: new Date(START + 2_000).toISOString(),
    };
    expect(await findConnectedWorkers(["team"], ports)).toEqual([rack7]);
    const found = await findConnectedWorkers(["team", "other"], ports);
    expect(found.map(({ worker_host }) => worker_host).sort()).toEqual(["rack-7", "rack-8"]);
  });
});

describe("a run that waits for a worker", () => {
  it("keeps its place for a day, the oldest first", async () => {
    const waiting = waitingRunStore({ table, now: () => now + 1 });
    await waiting.add("team", "rack-7", "b");
    await waiting.add("team", "rack-7", "a");
    await waiting.add("team", "rack-8", "c");
    expect(await table.get(keys.waitingForWorker("team", "rack-7", "a"))).toEqual({
      ...keys.waitingForWorker("team", "rack-7", "a"),
      v: 1,
      run_id: "a",
      expires_at: START / 1000 + 1 + 86_400,
    });
    expect(await waiting.oldest("team", "rack-7", 2)).toEqual(["a", "b"]);
    expect(await waiting.oldest("team", "rack-7", 1)).toEqual(["a"]);
    await waiting.remove("team", "rack-7", "a");
    expect(await waiting.oldest("team", "rack-7", 2)).toEqual(["b"]);
    expect(await waiting.oldest("other", "rack-7", 2)).toEqual([]);
  });
});
