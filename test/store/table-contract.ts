import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import {
  ConditionFailed,
  type Conditions,
  type Item,
  type Query,
  type Table,
  type Write,
} from "#shared/table/table.ts";

/** The contract of every table: the memory table and DynamoDB's pass the same tests. */
export function tableContract(makeTable: () => Table): void {
  let table: Table;
  /** Each test uses its own partition. */
  let pk: string;
  const fresh = () => {
    table = makeTable();
    pk = `TEST#${randomUUID()}`;
  };
  const item = (sk: string, more: Record<string, Item[string]> = {}): Item => ({ pk, sk, ...more });
  const put = async (...items: readonly Item[]) => {
    for (const it of items) await table.write({ kind: "put", item: it });
  };
  const listKeys = async (query: Omit<Query, "pk">) => (await table.query({ pk, ...query })).items.map(({ sk }) => sk);
  const failure = (writing: Promise<void>): Promise<unknown> =>
    writing.then(
      () => undefined,
      (error: unknown) => error,
    );

  describe("get", () => {
    beforeAll(fresh);
    it("returns written values of every type, and nothing for a missing item", async () => {
      const whole = item("a", {
        text: "naïve 😀 \u0001",
        empty: "",
        number: -12.5,
        large: Number.MAX_SAFE_INTEGER,
        yes: true,
        nothing: null,
        list: [1, "two", [false], { three: null }],
        map: { a: { b: ["c"] }, "d.e": 1 },
        bytes: new Uint8Array([0, 1, 255]),
      });
      await put(whole);
      expect(await table.get({ pk, sk: "a" })).toEqual(whole);
      expect(await table.get({ pk, sk: "A" })).toBeUndefined();
      expect(await table.get({ pk: `${pk}a`, sk: "" + "a" })).toBeUndefined();
    });

    it("returns a copy: later changes of it or of the written object do not affect the table", async () => {
      const list = [1];
      await put(item("copy", { list }));
      list.push(2);
      const read = await table.get({ pk, sk: "copy" });
      expect(read?.["list"]).toEqual([1]);
      Object.assign(read ?? {}, { list: "gone" });
      expect((await table.get({ pk, sk: "copy" }))?.["list"]).toEqual([1]);
    });
  });

  describe("batchGet", () => {
    beforeAll(fresh);
    it("returns items in the order of the keys, nothing for a missing item, and a repeated key twice", async () => {
      await put(item("a", { n: 1 }), item("b", { n: 2 }));
      const keys = ["b", "missing", "a", "b"].map((sk) => ({ pk, sk }));
      const found = await table.batchGet(keys);
      expect(found.map((it) => it?.["n"])).toEqual([2, undefined, 1, 2]);
      expect(await table.batchGet([])).toEqual([]);
    });

    it("accepts 100 keys and rejects 101", async () => {
      const keys = Array.from({ length: 101 }, (_, index) => ({ pk, sk: `${index}` }));
      expect(await table.batchGet(keys.slice(0, 100))).toHaveLength(100);
      await expect(table.batchGet(keys)).rejects.toThrow();
    });

    it("reads more than one response of the service contains", async () => {
      const text = "x".repeat(300_000);
      const sks = Array.from({ length: 60 }, (_, index) => `large ${index}`);
      for (const sk of sks) await put(item(sk, { text }));
      const found = await table.batchGet(sks.map((sk) => ({ pk, sk })));
      expect(found.map((it) => it?.sk)).toEqual(sks);
    });
  });

  describe("query", () => {
    const sks = ["A", "B#", "B#\u0000", "B#1", "B#10", "B#2", "B#é", "B#ü", "B#\u{1f600}", "B$", "C"];
    beforeAll(async () => {
      fresh();
      await put(...sks.toReversed().map((sk) => item(sk)));
      await table.write({ kind: "put", item: { pk: `${pk}x`, sk: "B#1" } });
    });

    it.each<[string, Omit<Query, "pk">, string[]]>([
      ["everything, in the order of UTF-8 bytes", {}, sks],
      ["a prefix", { prefix: "B#" }, ["B#", "B#\u0000", "B#1", "B#10", "B#2", "B#é", "B#ü", "B#\u{1f600}"]],
      ["from, inclusive", { from: "B#2" }, ["B#2", "B#é", "B#ü", "B#\u{1f600}", "B$", "C"]],
      ["after, exclusive", { after: "B#2" }, ["B#é", "B#ü", "B#\u{1f600}", "B$", "C"]],
      ["to, inclusive", { to: "B#1" }, ["A", "B#", "B#\u0000", "B#1"]],
      ["before, exclusive", { before: "B#1" }, ["A", "B#", "B#\u0000"]],
      ["from and to", { from: "B#1", to: "B#2" }, ["B#1", "B#10", "B#2"]],
      ["from and before", { from: "B#1", before: "B#2" }, ["B#1", "B#10"]],
      ["after and to", { after: "B#1", to: "B#2" }, ["B#10", "B#2"]],
      ["after and before", { after: "B#1", before: "B#2" }, ["B#10"]],
      ["a prefix behind a key", { prefix: "B#", after: "B#2" }, ["B#é", "B#ü", "B#\u{1f600}"]],
      ["a prefix before a key", { prefix: "B#", before: "B#10" }, ["B#", "B#\u0000", "B#1"]],
      ["bounds that are no item's", { after: "B#0", before: "B#3" }, ["B#1", "B#10", "B#2"]],
      ["bounds with nothing between them", { after: "B#1", before: "B#10" }, []],
      ["bounds that are one key, exclusive", { after: "B#1", before: "B#1" }, []],
      ["bounds that are the wrong way round", { from: "C", to: "A" }, []],
    ])("returns %s, in both directions", async (_, query, expected) => {
      expect(await listKeys(query)).toEqual(expected);
      expect(await listKeys({ ...query, descending: true })).toEqual(expected.toReversed());
      expect((await table.query({ pk, ...query })).more).toBe(false);
    });

    it.each([1, 2, 3, 7, 100])(
      "reads a range in pages of %i, in both directions, without a gap or a repeat",
      async (limit) => {
        for (const descending of [false, true]) {
          const seen: string[] = [];
          for (let page = 0; ; page++) {
            expect(page).toBeLessThan(20);
            const last = seen.at(-1);
            const past = last === undefined ? {} : descending ? { before: last } : { after: last };
            const { items, more } = await table.query({ pk, prefix: "B#", ...past, limit, descending });
            expect(items.length).toBeLessThanOrEqual(limit);
            seen.push(...items.map(({ sk }) => sk));
            if (!more) break;
            expect(items).toHaveLength(limit);
          }
          const expected = sks.filter((sk) => sk.startsWith("B#"));
          expect(seen).toEqual(descending ? expected.toReversed() : expected);
        }
      },
    );

    it("reports more items if the limit cut something off, and not if the range was shorter", async () => {
      expect((await table.query({ pk, prefix: "B#", limit: 7 })).more).toBe(true);
      expect((await table.query({ pk, prefix: "B#", limit: 9 })).more).toBe(false);
      expect((await table.query({ pk, after: "C", limit: 1 })).more).toBe(false);
    });

    it("returns more than one megabyte whole, and up to a limit beyond it", async () => {
      fresh();
      const large = Array.from({ length: 8 }, (_, index) => item(`large ${index}`, { text: "x".repeat(390_000) }));
      await put(...large);
      expect(await listKeys({})).toEqual(large.map(({ sk }) => sk));
      expect(await listKeys({ limit: 6 })).toEqual(large.slice(0, 6).map(({ sk }) => sk));
    });
  });

  describe("conditions", () => {
    const held: Record<string, Conditions> = {
      "eq of a text": { text: { eq: "b" } },
      "eq of a number": { number: { eq: 5 } },
      "eq of a boolean": { flag: { eq: false } },
      in: { text: { in: ["a", "b"] } },
      "below of a number": { number: { below: 6 } },
      "below of a text": { text: { below: "c" } },
      "below by bytes": { text: { below: "é" } },
      atLeast: { number: { atLeast: 5 } },
      belowAttribute: { number: { belowAttribute: "limit", otherwise: 0 } },
      atLeastAttribute: { number: { atLeastAttribute: "least", otherwise: 100 } },
      "atLeastAttribute of an item without it": { number: { atLeastAttribute: "none", otherwise: 5 } },
      "belowAttribute of an item without it": { number: { belowAttribute: "none", otherwise: 6 } },
      exists: { text: { exists: true } },
      "exists not": { none: { exists: false } },
      "absentOr where it is there": { text: { absentOr: { eq: "b" } } },
      "absentOr where it is not": { none: { absentOr: { below: 0 } } },
      "all of several": { text: { eq: "b" }, number: { atLeast: 1 }, none: { exists: false }, flag: { exists: true } },
    };
    const failing: Record<string, Conditions> = {
      "eq of another text": { text: { eq: "B" } },
      "eq of another type": { number: { eq: "5" } },
      "eq of a missing attribute": { none: { eq: "b" } },
      "in of others": { text: { in: ["a", "c"] } },
      "in of a number": { number: { in: ["5"] } },
      "below of the same number": { number: { below: 5 } },
      "below of a text against a number": { text: { below: 100 } },
      "below of a missing attribute": { none: { below: 1 } },
      "atLeast of more": { number: { atLeast: 5.5 } },
      "belowAttribute of less": { number: { belowAttribute: "least", otherwise: 100 } },
      "atLeastAttribute of more": { number: { atLeastAttribute: "limit", otherwise: 0 } },
      "atLeastAttribute otherwise": { number: { atLeastAttribute: "none", otherwise: 6 } },
      "belowAttribute otherwise": { number: { belowAttribute: "none", otherwise: 5 } },
      "exists of a missing attribute": { none: { exists: true } },
      "exists not of one that is there": { flag: { exists: false } },
      "absentOr of another": { text: { absentOr: { eq: "c" } } },
      "one of several": { text: { eq: "b" }, number: { eq: 6 } },
    };
    const stored = () => item("it", { text: "b", number: 5, flag: false, limit: 6, least: 4 });
    const writes = (conditions: Conditions): readonly Write[] => [
      { kind: "update", key: { pk, sk: "it" }, set: { changed: true }, if: conditions },
      { kind: "put", item: item("it", { replaced: true }), if: conditions },
      { kind: "delete", key: { pk, sk: "it" }, if: conditions },
    ];
    beforeAll(fresh);

    it.each(Object.entries(held))("%s holds", async (_, conditions) => {
      for (const write of writes(conditions)) {
        await put(stored());
        await table.write(write);
        expect(await table.get({ pk, sk: "it" })).not.toEqual(stored());
        await put(stored());
        await table.transact([write]);
        expect(await table.get({ pk, sk: "it" })).not.toEqual(stored());
      }
      await put(stored());
      await table.transact([{ kind: "check", key: { pk, sk: "it" }, if: conditions }]);
    });

    it.each(Object.entries(failing))("%s fails, and nothing is written", async (_, conditions) => {
      await put(stored());
      for (const write of writes(conditions)) {
        for (const attempt of [() => table.write(write), () => table.transact([write])]) {
          expect(await failure(attempt())).toEqual(new ConditionFailed([0]));
        }
      }
      expect(await failure(table.transact([{ kind: "check", key: { pk, sk: "it" }, if: conditions }]))).toBeInstanceOf(
        ConditionFailed,
      );
      expect(await table.get({ pk, sk: "it" })).toEqual(stored());
    });

    it("on a missing item hold for `exists: false` and `absentOr` only", async () => {
      const at = (sk: string, conditions: Conditions): Write => ({ kind: "put", item: item(sk), if: conditions });
      expect(await failure(table.write(at("m1", { a: { exists: false } })))).toBeUndefined();
      expect(await failure(table.write(at("m2", { a: { absentOr: { eq: 1 } } })))).toBeUndefined();
      for (const test of [{ exists: true }, { eq: 1 }, { below: 1 }, { atLeast: 0 }, { in: ["a"] }] as const) {
        expect(await failure(table.write(at("m3", { a: test })))).toBeInstanceOf(ConditionFailed);
      }
      expect(await table.get({ pk, sk: "m3" })).toBeUndefined();
    });
  });

  describe("update", () => {
    beforeAll(fresh);
    const key = () => ({ pk, sk: "it" });

    it("sets, adds to and removes attributes, keeps the others, and creates a missing item", async () => {
      await table.write({ kind: "update", key: key(), set: { a: "1", size: 0 }, add: { n: 2 } });
      expect(await table.get(key())).toEqual(item("it", { a: "1", size: 0, n: 2 }));
      await table.write({
        kind: "update",
        key: key(),
        set: { b: [1] },
        add: { n: -5, m: 0.5 },
        remove: ["a", "never"],
      });
      expect(await table.get(key())).toEqual(item("it", { size: 0, b: [1], n: -3, m: 0.5 }));
    });

    it("accepts reserved words as names", async () => {
      await table.write({
        kind: "update",
        key: key(),
        set: { state: "x", name: "y", group: "z", "a-b": 1 },
        add: { count: 1 },
      });
      expect(await table.get(key())).toMatchObject({ state: "x", name: "y", group: "z", "a-b": 1, count: 1 });
    });

    it("rejects adding to a value that is not a number", async () => {
      await put(item("text", { n: "1" }));
      await expect(table.write({ kind: "update", key: { pk, sk: "text" }, add: { n: 1 } })).rejects.toThrow();
    });

    it("rejects an item over 400 KB, and keeps the previous one", async () => {
      await put(item("large", { text: "x".repeat(300_000) }));
      await expect(
        table.write({ kind: "update", key: { pk, sk: "large" }, set: { more: "x".repeat(120_000) } }),
      ).rejects.toThrow();
      expect(await table.get({ pk, sk: "large" })).not.toHaveProperty("more");
    });
  });

  describe("transact", () => {
    beforeAll(fresh);

    it("performs all of its writes, of every kind", async () => {
      await put(item("old"), item("checked", { n: 1 }), item("changed", { n: 1 }));
      await table.transact([
        { kind: "put", item: item("new", { n: 1 }) },
        { kind: "delete", key: { pk, sk: "old" } },
        { kind: "check", key: { pk, sk: "checked" }, if: { n: { eq: 1 } } },
        { kind: "update", key: { pk, sk: "changed" }, add: { n: 1 } },
      ]);
      const found = await table.batchGet(["new", "old", "changed"].map((sk) => ({ pk, sk })));
      expect(found.map((it) => it?.["n"])).toEqual([1, undefined, 2]);
    });

    it("writes nothing if one condition fails, and names every failed one", async () => {
      await put(item("x", { n: 1 }));
      const error = await failure(
        table.transact([
          { kind: "put", item: item("y") },
          { kind: "put", item: item("x"), if: { pk: { exists: false } } },
          { kind: "update", key: { pk, sk: "z" }, set: { a: 1 } },
          { kind: "check", key: { pk, sk: "w" }, if: { n: { eq: 1 } } },
        ]),
      );
      expect(error).toEqual(new ConditionFailed([1, 3]));
      expect(await listKeys({ from: "w" })).toEqual(["x"]);
    });

    it("rejects writing one item twice, and more than 100 writes", async () => {
      const twice = [1, 2].map((n) => ({ kind: "put" as const, item: item("twice", { n }) }));
      await expect(table.transact(twice)).rejects.toThrow();
      const many = (count: number) =>
        Array.from({ length: count }, (_, n) => ({ kind: "put" as const, item: item(`many ${n}`) }));
      await expect(table.transact(many(101))).rejects.toThrow();
      expect(await listKeys({ prefix: "many" })).toEqual([]);
      await table.transact(many(100));
      expect(await listKeys({ prefix: "many" })).toHaveLength(100);
    });

    it("lets exactly one of twenty concurrent conditional writes succeed, and stores its value", async () => {
      const attempts = Array.from({ length: 20 }, (_, n) =>
        failure(
          table.transact([
            { kind: "put", item: item("first", { n }), if: { pk: { exists: false } } },
            { kind: "put", item: item(`other ${n}`) },
          ]),
        ),
      );
      const errors = await Promise.all(attempts);
      const winners = errors.flatMap((error, n) => (error === undefined ? [n] : []));
      expect(winners).toHaveLength(1);
      for (const error of errors) if (error !== undefined) expect(error).toEqual(new ConditionFailed([0]));
      expect((await table.get({ pk, sk: "first" }))?.["n"]).toBe(winners[0]);
      expect(await listKeys({ prefix: "other" })).toEqual([`other ${winners[0]}`]);
    });

    it("loses none of twenty concurrent additions, under a limit that it never exceeds", async () => {
      const add = (): Promise<unknown> =>
        failure(
          table.write({
            kind: "update",
            key: { pk, sk: "counter" },
            add: { n: 1 },
            if: { n: { absentOr: { below: 12 } } },
          }),
        );
      const errors = await Promise.all(Array.from({ length: 20 }, add));
      expect(errors.filter((error) => error === undefined)).toHaveLength(12);
      expect((await table.get({ pk, sk: "counter" }))?.["n"]).toBe(12);
    });
  });

  describe("indexes", () => {
    beforeAll(fresh);

    it("contain an item while it has both keys, in the index's order, with the projected attributes", async () => {
      const scope = `SCOPE#${randomUUID()}`;
      const entry = (sk: string, updated: string | undefined) =>
        item(sk, {
          updated_scope: scope,
          p: { name: sk },
          state: "QUEUED",
          secret: "x",
          ...(updated === undefined ? {} : { updated_key: updated }),
        });
      await put(entry("a", "3"), entry("b", "1"), entry("c", undefined), item("d", { updated_key: "2" }));
      const read = async (query: Partial<Query> = {}) =>
        (await table.query({ index: "gsi1", pk: scope, ...query })).items.map(({ sk }) => sk);
      expect(await read()).toEqual(["b", "a"]);
      expect(await read({ descending: true })).toEqual(["a", "b"]);
      expect(await read({ after: "1" })).toEqual(["a"]);
      await table.write({ kind: "update", key: { pk, sk: "b" }, set: { updated_key: "4" } });
      expect(await read()).toEqual(["a", "b"]);
      await table.write({ kind: "update", key: { pk, sk: "a" }, remove: ["updated_key"] });
      expect(await read()).toEqual(["b"]);
      const { items } = await table.query({ index: "gsi1", pk: scope });
      expect(items).toEqual([
        { pk, sk: "b", updated_scope: scope, updated_key: "4", p: { name: "b" }, state: "QUEUED" },
      ]);
      await table.write({ kind: "delete", key: { pk, sk: "b" } });
      expect(await read()).toEqual([]);
    });

    it("are read in pages by their own key, also if several items have the same", async () => {
      const shard = `RUNS#${randomUUID()}`;
      await put(
        ...["a", "b", "c", "d"].map((sk, index) =>
          item(`due ${sk}`, { check_shard: shard, check_at: index < 3 ? "1" : "2" }),
        ),
      );
      const due = await table.query({ index: "gsi6", pk: shard, to: "1" });
      expect(due.items.map(({ sk }) => sk).toSorted()).toEqual(["due a", "due b", "due c"]);
      expect((await table.query({ index: "gsi6", pk: shard, limit: 2 })).more).toBe(true);
    });
  });
}
