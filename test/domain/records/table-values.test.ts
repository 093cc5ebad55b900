import { describe, expect, it } from "vitest";
import { fromAttributes, toAttributes } from "#shared/table/attribute-codec.ts";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { evaluateTransaction } from "#shared/table/evaluate.ts";
import { keys } from "#shared/table/keys.ts";
import { measureBytes, refuseOverlap, refuseUnstorable } from "#shared/table/limits.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { bounds, type Item, type Test, type Value } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { changeNamed, claimName, releaseName } from "#shared/table/unique-name.ts";

const KEY = { pk: "p", sk: "s" };
const BIGGEST = Number.MAX_SAFE_INTEGER;

describe("the attributes of DynamoDB's API", () => {
  const cases: readonly [Value, unknown][] = [
    ["", { S: "" }],
    ["text", { S: "text" }],
    [0, { N: "0" }],
    [-1.5, { N: "-1.5" }],
    [BIGGEST, { N: "9007199254740991" }],
    [-BIGGEST, { N: "-9007199254740991" }],
    [true, { BOOL: true }],
    [false, { BOOL: false }],
    [null, { NULL: true }],
    [new Uint8Array([1, 2, 255]), { B: "AQL/" }],
    [[], { L: [] }],
    [["a", [1]], { L: [{ S: "a" }, { L: [{ N: "1" }] }] }],
    [{}, { M: {} }],
    [{ a: { b: null } }, { M: { a: { M: { b: { NULL: true } } } } }],
  ];

  it.each(cases)("have %j as %j, and it is read back", (value, attribute) => {
    expect(toAttributes({ value })).toEqual({ value: attribute });
    expect(fromAttributes({ pk: { S: "p" }, sk: { S: "s" }, value: attribute })).toEqual({ ...KEY, value });
  });

  it("have no member that is undefined and no number that loses digits", () => {
    expect(toAttributes({ a: undefined, b: 1 })).toEqual({ b: { N: "1" } });
    for (const number of [BIGGEST + 1, -BIGGEST - 1, Number.POSITIVE_INFINITY, Number.NaN]) {
      expect(() => toAttributes({ number })).toThrow(`${number} cannot be stored`);
    }
  });

  it.each<readonly [Readonly<Record<string, unknown>>, string]>([
    [{ sk: { S: "s" } }, "an item without string keys"],
    [{ pk: { S: "p" } }, "an item without string keys"],
    [{ pk: { S: "p" }, sk: { N: "1" } }, "an item without string keys"],
    ...["S", "B", "L"].map((type) => [{ a: { [type]: 1 } }, `an attribute of type ${type} is not supported`] as const),
    [{ a: { SS: ["x"] } }, "an attribute of type SS is not supported"],
    [{ a: {} }, "an attribute of type undefined is not supported"],
    [{ a: null }, "an attribute of type undefined is not supported"],
  ])("are refused if they are %j", (attributes, message) => {
    expect(() => fromAttributes(attributes)).toThrow(message);
  });
});

describe("measureBytes", () => {
  it.each([
    [undefined, 0],
    ["é", 2],
    [1e10, 8],
    [true, 1],
    [null, 1],
    [new Uint8Array(5), 5],
    [[], 3],
    [["é", 1], 3 + 1 + 2 + 1 + 8],
    [{}, 3],
    [{ é: "a", b: [] }, 3 + 1 + 2 + 1 + 1 + 1 + 3],
  ])("of %j is %i", (value, bytes) => {
    expect(measureBytes(value)).toBe(bytes);
  });
});

describe("refuseUnstorable", () => {
  const accepts = (more: object) => {
    try {
      refuseUnstorable({ ...KEY, ...more });
      return "accepted";
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message}` : error;
    }
  };
  const text = (bytes: number) => `${"é".repeat(Math.floor(bytes / 2))}${"x".repeat(bytes % 2)}`;

  it("accepts an item of 400 KB and refuses a byte more", () => {
    const empty = measureBytes({ ...KEY, text: "" });
    const most = 400 * 1024;
    expect(accepts({ text: text(most - empty) })).toBe("accepted");
    expect(accepts({ text: text(most - empty + 1) })).toBe(
      `RangeError: p s has ${most + 1} bytes, an item has at most 400 KB`,
    );
  });

  const partitions = ["pk", "scope", "updated_scope", "active_scope", "check_shard", "group"];
  const sorts = ["sk", "updated_key", "created_key", "title_key", "agent_key", "check_at"];
  it.each([...partitions.map((name) => [name, 2_048] as const), ...sorts.map((name) => [name, 1_024] as const)])(
    "accepts a key %s of %i bytes, and refuses a longer one and one that is no text",
    (name, most) => {
      expect(accepts({ [name]: text(most) })).toBe("accepted");
      expect(accepts({ [name]: text(most + 1) })).toBe(`RangeError: key ${name} has more than ${most} bytes`);
      for (const value of ["", 1]) {
        expect(accepts({ [name]: value })).toBe(`TypeError: key ${name} must be a text that is not empty`);
      }
    },
  );

  it("refuses numbers that lose digits, wherever they are", () => {
    expect(accepts({ a: [{ b: BIGGEST }, -BIGGEST, null, "x"] })).toBe("accepted");
    expect(accepts({ a: [1, { b: BIGGEST + 1 }] })).toBe(`RangeError: p.a.1.b: ${BIGGEST + 1} cannot be stored`);
    expect(accepts({ a: -BIGGEST - 1 })).toBe(`RangeError: p.a: ${-BIGGEST - 1} cannot be stored`);
    expect(accepts({ a: Number.NaN })).toBe("RangeError: p.a: NaN cannot be stored");
  });
});

describe("refuseOverlap", () => {
  const update = (more: object) => () => refuseOverlap({ kind: "update", key: KEY, ...more });
  it.each([
    [{ set: { a: 1 }, add: { a: 1 } }, "an update of p names a twice"],
    [{ set: { a: 1 }, remove: ["a"] }, "an update of p names a twice"],
    [{ add: { b: 1 }, remove: ["a", "b"] }, "an update of p names b twice"],
    [{ set: { pk: "x" } }, "an update cannot change a key"],
    [{ remove: ["sk"] }, "an update cannot change a key"],
  ])("refuses %j", (more, message) => {
    expect(update(more)).toThrow(message);
  });

  it("accepts different attributes, and none", () => {
    expect(update({ set: { a: 1 }, add: { b: 1 }, remove: ["c"] })).not.toThrow();
    expect(update({})).not.toThrow();
  });
});

describe("evaluateTransaction", () => {
  const tests: readonly [Test, Value | undefined, boolean][] = [
    [{ exists: true }, 0, true],
    [{ exists: true }, undefined, false],
    [{ exists: false }, undefined, true],
    [{ exists: false }, "", false],
    [{ eq: 1 }, 1, true],
    [{ eq: 1 }, "1", false],
    [{ in: ["a", "b"] }, "b", true],
    [{ in: ["a", "b"] }, "c", false],
    [{ in: ["1"] }, 1, false],
    [{ atLeast: 2 }, 2, true],
    [{ atLeast: 2 }, 1, false],
    [{ atLeast: 2 }, "3", false],
    [{ below: 2 }, 1, true],
    [{ below: 2 }, 2, false],
    [{ below: 2 }, "1", false],
    [{ below: "b" }, "a", true],
    [{ below: "b" }, "b", false],
    [{ below: "b" }, 1, false],
    [{ absentOr: { eq: 1 } }, undefined, true],
    [{ absentOr: { eq: 1 } }, 1, true],
    [{ absentOr: { eq: 1 } }, 2, false],
    [{ atLeastAttribute: "limit", otherwise: 9 }, 5, true],
    [{ atLeastAttribute: "limit", otherwise: 0 }, 4, false],
    [{ atLeastAttribute: "none", otherwise: 4 }, 4, true],
    [{ atLeastAttribute: "text", otherwise: 0 }, 4, false],
    [{ atLeastAttribute: "limit", otherwise: 0 }, "9", false],
    [{ belowAttribute: "limit", otherwise: 0 }, 4, true],
    [{ belowAttribute: "limit", otherwise: 9 }, 5, false],
    [{ belowAttribute: "none", otherwise: 4 }, 3, true],
    [{ belowAttribute: "text", otherwise: 9 }, 3, false],
    [{ belowAttribute: "limit", otherwise: 9 }, "1", false],
  ];
  it.each(tests)("%j of %j holds: %j", (test, value, isHeld) => {
    const item: Item = { ...KEY, limit: 5, text: "x", ...(value === undefined ? {} : { value }) };
    const check = () => evaluateTransaction([{ kind: "check", key: KEY, if: { value: test } }], () => item);
    if (isHeld) expect(check()).toEqual([]);
    else expect(check).toThrow(expect.objectContaining({ name: "ConditionFailed", positions: [0] }));
  });

  it("reads an item only if a write depends on it", () => {
    const read: string[] = [];
    const writes = [
      { kind: "put", item: { pk: "a", sk: "s", v: 1 } },
      { kind: "delete", key: { pk: "b", sk: "s" } },
      { kind: "delete", key: { pk: "c", sk: "s" }, if: { v: { exists: false } } },
      { kind: "update", key: { pk: "d", sk: "s" }, set: { v: 1 }, add: { n: 2 }, remove: ["w"] },
    ] as const;
    const outcomes = evaluateTransaction(writes, ({ pk, sk }) => {
      read.push(pk);
      return pk === "d" ? { pk, sk, w: 1, n: 1, x: 1 } : undefined;
    });
    expect(read).toEqual(["c", "d"]);
    expect(outcomes).toEqual([
      { key: writes[0].item, item: { pk: "a", sk: "s", v: 1 } },
      { key: { pk: "b", sk: "s" }, item: undefined },
      { key: { pk: "c", sk: "s" }, item: undefined },
      { key: { pk: "d", sk: "s" }, item: { pk: "d", sk: "s", v: 1, n: 3, x: 1 } },
    ]);
  });

  it("accepts 100 writes of 4 MB, and refuses more of either", () => {
    const put = (count: number, bytes: number) =>
      Array.from({ length: count }, (_, index) => {
        const item = { pk: `p${String(index).padStart(3, "0")}`, sk: "s", text: "" };
        return { kind: "put", item: { ...item, text: "x".repeat(bytes - measureBytes(item)) } } as const;
      });
    const none = () => undefined;
    expect(evaluateTransaction(put(100, 100), none)).toHaveLength(100);
    expect(() => evaluateTransaction(put(101, 100), none)).toThrow("a transaction has at most 100 writes");
    const part = (4 * 1024 * 1024) / 16;
    expect(evaluateTransaction(put(16, part), none)).toHaveLength(16);
    expect(() => evaluateTransaction([...put(15, part), ...put(16, part + 1).slice(15)], none)).toThrow(
      "a transaction has at most 4 MB",
    );
  });
});

describe("the bounds of a query", () => {
  it.each([
    [{}, {}],
    [{ prefix: "a" }, { low: { value: "a", inclusive: true }, high: { value: "a\u{10ffff}", inclusive: true } }],
    [{ from: "a" }, { low: { value: "a", inclusive: true } }],
    [{ after: "a" }, { low: { value: "a", inclusive: false } }],
    [{ to: "b" }, { high: { value: "b", inclusive: true } }],
    [{ before: "b" }, { high: { value: "b", inclusive: false } }],
    [
      { prefix: "a", after: "ab", before: "ac" },
      { low: { value: "ab", inclusive: false }, high: { value: "ac", inclusive: false } },
    ],
  ])("of %j are %j", (query, expected) => {
    expect(bounds({ pk: "p", ...query })).toEqual(expected);
  });
});

it.each([
  [0, []],
  [1, [1]],
  [100, [100]],
  [101, [100, 1]],
  [200, [100, 100]],
])("batchGetAll reads %i keys in batches of %j, in their order", async (count, sizes) => {
  const batches: number[] = [];
  const wanted: Item[] = Array.from({ length: count }, (_, index) => ({ pk: "p", sk: `s${index}` }));
  const found = await batchGetAll(wanted, {
    batchGet: async (some) => {
      batches.push(some.length);
      return some.map((key) => (key.sk === "s0" ? undefined : { ...key }));
    },
  });
  expect(batches).toEqual(sizes);
  expect(found).toEqual(wanted.map((key) => (key.sk === "s0" ? undefined : key)));
});

describe("a unique name", () => {
  const owner = { type: "Team", uid: "t" } as const;
  const key = { pk: "R", sk: "1" };
  const start = async () => {
    const table = memoryTable();
    await table.transact([{ kind: "put", item: { ...key, name: "Shop" } }, claimName(owner, "thing", "Shop", "1")]);
    const rename = (name: string, before = "Shop") =>
      changeNamed(
        { owner, kind: "thing", uid: "1", name: before },
        name,
        { key, set: { x: 1 } },
        () => new Error("taken"),
        table,
      );
    const holder = async (name: string) => (await table.get(keys.uniqueName(owner, "thing", name)))?.["uid"];
    return { table, rename, holder };
  };

  it("is folded by width, case and surrounding space, and cut after 200 characters", () => {
    const folded = (name: string) => claimName(owner, "thing", name, "1").item.sk;
    expect(folded(" ＳHop\t")).toBe("UNIQUE#thing#shop");
    expect(folded("😀".repeat(201))).toBe(folded("😀".repeat(200)));
    expect(folded("😀".repeat(200))).not.toBe(folded("😀".repeat(199)));
    expect(releaseName(owner, "thing", " SHOP", "1")).toEqual({
      kind: "delete",
      key: { pk: "TEAM#t", sk: "UNIQUE#thing#shop" },
      if: { uid: { eq: "1" } },
    });
  });

  it("moves with its resource, and stays if only its form changes", async () => {
    const { table, rename, holder } = await start();
    await rename("SHOP");
    expect(await table.get(key)).toEqual({ ...key, name: "SHOP", x: 1 });
    expect(await holder("shop")).toBe("1");
    await rename("Store", "SHOP");
    expect([await holder("shop"), await holder("store")]).toEqual([undefined, "1"]);
  });

  it("is not changed for a resource that was renamed meanwhile, or to a name that another has", async () => {
    const { table, rename, holder } = await start();
    await expect(rename("Store", "Other")).rejects.toThrow(ConflictError);
    await table.write(claimName(owner, "thing", "Store", "2"));
    await expect(rename("store")).rejects.toThrow("taken");
    expect([await holder("shop"), await holder("store")]).toEqual(["1", "2"]);
    expect(await table.get(key)).toEqual({ ...key, name: "Shop" });
    const broken = { ...table, transact: () => Promise.reject(new Error("away")) };
    await expect(
      changeNamed({ owner, kind: "thing", uid: "1", name: "Shop" }, "x", { key }, () => new Error("taken"), broken),
    ).rejects.toThrow("away");
  });
});
