import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { fromAttributes, toAttributes } from "#shared/table/attribute-codec.ts";
import { batchGetAll } from "#shared/table/batch-get.ts";
import {
  activePart,
  activeParts,
  checkShard,
  deliveryShards,
  endedPart,
  eventShards,
  groupKey,
  keys,
  scheduleShard,
  schedulesOfIdentity,
  scopeKey,
  shardOfDelivery,
  shardOfEvent,
  shardOfSchedule,
  sortableTime,
} from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { readShards } from "#shared/table/read-shards.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { changeNamed, claimName, releaseName } from "#shared/table/unique-name.ts";

const team = { type: "Team", uid: "t" } as const;
const Key = v.object({ pk: v.string(), sk: v.string() });
/** Keys whose first part is an owner. */
const OF_OWNER: ReadonlySet<string> = new Set([
  "counterPart",
  "counters",
  "deploymentTurn",
  "environmentEntry",
  "scheduleName",
  "triggerEntry",
  "uniqueName",
  "usage",
  "waitingForOwner",
]);
const user = { type: "User", uid: "u" } as const;

describe("the keys of items", () => {
  it("match stored-keys.txt, because items under other keys would not be found", async () => {
    const lines = Object.entries(keys).map(([name, toKey]) => {
      const call: unknown = toKey;
      if (typeof call !== "function") throw new TypeError(`${name} is not a function`);
      const first = OF_OWNER.has(name) ? team : "1";
      const { pk, sk } = v.parse(Key, Reflect.apply(call, undefined, [first, "2", "3", "4"]));
      return `${name}: ${JSON.stringify(pk)} ${JSON.stringify(sk)}`;
    });
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("stored-keys.txt");
  });

  it("have shards by the last digits of an id, and sort by time", () => {
    expect([checkShard("x-0010"), checkShard("x-ffff"), checkShard("x-0007")]).toEqual(["RUNS#0", "RUNS#15", "RUNS#7"]);
    expect([shardOfSchedule("x-0004"), shardOfSchedule("x-ffff")]).toEqual(["SCHEDULES#0", "SCHEDULES#3"]);
    expect([scheduleShard(2), schedulesOfIdentity("i")]).toEqual(["SCHEDULES#2", "SCHEDULES_OF#i"]);
    expect([scopeKey(team), scopeKey(user, 3)]).toEqual(["TEAM#t#0", "USER#u#3"]);
    expect(endedPart("s")).toBe("s#ENDED");
    expect([groupKey("s", "creator", "c"), groupKey("s", "schedule", "d")]).toEqual(["s#CREATOR#c", "s#SCHEDULE#d"]);
    expect(sortableTime(7)).toBe("0000000000007");
  });
});

describe("the keys of indexes that each run writes several times", () => {
  const ids = Array.from({ length: 400 }, (_, index) => `0192d7a0-0000-7000-8000-${String(index).padStart(12, "0")}`);

  it.each([
    ["parts of active runs", activeParts("s"), "s#ACTIVE", 4, (id: string) => activePart("s", id)],
    ["shards of deliveries", deliveryShards, "DELIVERIES", 16, (id: string) => shardOfDelivery(id, 3)],
    ["shards of events", eventShards, "EVENTS", 4, (id: string) => shardOfEvent(id)],
  ])("are %s, evenly used, and that of earlier releases is one of them", (_, shards, former, count, choose) => {
    expect(new Set(shards).size).toBe(count);
    expect(shards[0]).toBe(former);
    const used = ids.map(choose);
    const most = Math.max(...shards.map((shard) => used.filter((one) => one === shard).length));
    expect(new Set(used)).toEqual(new Set(shards));
    expect(most).toBeLessThan((2 * ids.length) / count);
  });

  it("are divided among the deliveries of a single webhook", () => {
    const used = Array.from({ length: 16 }, (_, sequence) => shardOfDelivery("w", sequence));
    expect(new Set(used)).toEqual(new Set(deliveryShards));
  });
});

describe("a page of several shards", () => {
  it("has what is due longest first, and says where more follow", async () => {
    const table = memoryTable();
    for (const [index, pk] of ["a", "b", "c", "d", "e"].entries()) {
      const item = { pk, sk: "X", check_shard: `S#${index % 2}`, check_at: sortableTime(10 - index) };
      await table.write({ kind: "put", item });
    }
    const read = async (limit: number, after?: string) => {
      const range = { to: sortableTime(9), limit, ...(after === undefined ? {} : { after }) };
      const { items, more } = await readShards(["S#0", "S#1"], range, table);
      return [...items.map(({ pk }) => pk), more];
    };
    expect(await read(3)).toEqual(["e", "d", "c", true]);
    expect(await read(3, sortableTime(8))).toEqual(["b", false]);
    expect(await read(9)).toEqual(["e", "d", "c", "b", false]);
  });
});

describe("the attributes of DynamoDB", () => {
  const item = {
    pk: "a",
    sk: "b",
    text: "",
    number: -1.5,
    yes: true,
    no: false,
    nothing: null,
    bytes: new Uint8Array([0, 255]),
    list: ["x", { y: 1 }],
    map: { z: [] },
  };
  const attributes = {
    pk: { S: "a" },
    sk: { S: "b" },
    text: { S: "" },
    number: { N: "-1.5" },
    yes: { BOOL: true },
    no: { BOOL: false },
    nothing: { NULL: true },
    bytes: { B: "AP8=" },
    list: { L: [{ S: "x" }, { M: { y: { N: "1" } } }] },
    map: { M: { z: { L: [] } } },
  };

  it("stand for values of every type, and leave out members that are undefined", () => {
    expect(toAttributes({ ...item, absent: undefined })).toEqual(attributes);
    expect(fromAttributes(attributes)).toEqual(item);
  });

  it("are refused where a number or a type is not supported", () => {
    expect(toAttributes({ n: Number.MAX_SAFE_INTEGER })).toEqual({ n: { N: "9007199254740991" } });
    for (const n of [Number.MAX_SAFE_INTEGER + 1, -Number.MAX_SAFE_INTEGER - 1, Number.NaN]) {
      expect(() => toAttributes({ n }), String(n)).toThrow(/cannot be stored/);
    }
    const keyed = { pk: { S: "a" }, sk: { S: "b" } };
    for (const x of [{ SS: ["a"] }, { S: 1 }, { B: 1 }, { L: {} }, {}]) {
      expect(() => fromAttributes({ ...keyed, x }), JSON.stringify(x)).toThrow(TypeError);
    }
    for (const key of [{ pk: { S: "a" } }, { sk: { S: "b" } }, { pk: { N: "1" }, sk: { S: "b" } }]) {
      expect(() => fromAttributes(key)).toThrow("an item without string keys");
    }
  });
});

describe("batchGetAll", () => {
  it.each([0, 1, 100, 101, 250])("reads %i items in the order of their keys, at most 100 at once", async (count) => {
    const sizes: number[] = [];
    const all = Array.from({ length: count }, (_, index) => ({ pk: `${index}`, sk: "x" }));
    const found = await batchGetAll(all, {
      async batchGet(batch) {
        sizes.push(batch.length);
        return batch.map((key) => (key.pk === "7" ? undefined : { ...key }));
      },
    });
    expect(found).toEqual(all.map((key) => (key.pk === "7" ? undefined : key)));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(count);
    expect(sizes).toHaveLength(Math.ceil(count / 100));
  });
});

describe("a unique name", () => {
  it.each([
    ["  ＡBc ", "abc"],
    ["Straße", "straße"],
    ["😀".repeat(201), "😀".repeat(200)],
  ])("%j is claimed as %j", (name, folded) => {
    const key = { pk: "TEAM#t", sk: `UNIQUE#environment#${folded}` };
    expect(claimName(team, "environment", name, "e")).toEqual({
      kind: "put",
      item: { ...key, v: 1, uid: "e" },
      if: { pk: { exists: false } },
    });
    expect(releaseName(team, "environment", name, "e")).toEqual({ kind: "delete", key, if: { uid: { eq: "e" } } });
  });

  const key = { pk: "E", sk: "E" };
  const named = { owner: team, kind: "environment", uid: "e", name: "One" };
  async function createNamed() {
    const table = memoryTable();
    await table.transact([
      { kind: "put", item: { ...key, name: "One", old: 1 } },
      claimName(team, "environment", "One", "e"),
      claimName(team, "environment", "Taken", "other"),
    ]);
    return table;
  }
  const rename = (table: Awaited<ReturnType<typeof createNamed>>, name: string) =>
    changeNamed(named, name, { key, set: { new: 2 }, remove: ["old"] }, () => new Error("taken"), table);
  const claims = (table: Awaited<ReturnType<typeof createNamed>>) =>
    table.all().flatMap(({ sk, uid }) => (sk.startsWith("UNIQUE#") ? [`${sk.split("#").at(-1)} ${uid}`] : []));

  it("changes with its resource, and frees the previous one", async () => {
    const table = await createNamed();
    await rename(table, "Two");
    expect(await table.get(key)).toEqual({ ...key, name: "Two", new: 2 });
    expect(claims(table).toSorted()).toEqual(["taken other", "two e"]);
  });

  it("is kept by another form of it", async () => {
    const table = await createNamed();
    await rename(table, " ONE");
    expect(await table.get(key)).toMatchObject({ name: " ONE" });
    expect(claims(table).toSorted()).toEqual(["one e", "taken other"]);
  });

  it("is refused if another resource has it, or the resource was renamed meanwhile", async () => {
    const table = await createNamed();
    await expect(rename(table, "taken")).rejects.toThrow("taken");
    await table.write({ kind: "update", key, set: { name: "Three" } });
    await expect(rename(table, "Two")).rejects.toThrow(ConflictError);
    expect(await table.get(key)).toEqual({ ...key, name: "Three", old: 1 });
    expect(claims(table).toSorted()).toEqual(["one e", "taken other"]);
  });
});
