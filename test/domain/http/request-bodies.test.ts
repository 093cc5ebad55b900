import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { RunyardError } from "#shared/errors.ts";
import { header, parseFields, readBody } from "#shared/http/request.ts";
import { unsupportedInput } from "#shared/http/unsupported-input.ts";
import { httpEvent } from "../../support/control-plane.ts";

const LIMIT = 4 * 1024 * 1024;

/** The error that `work` throws, or what it returns. */
function outcome(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error instanceof RunyardError ? { status: error.status, errors: error.errors } : error;
  }
}
const errors = (...all: readonly (readonly [path: string, message: string])[]) => ({
  status: 400,
  errors: all.map(([path, message]) => ({ path, message })),
});

describe("readBody", () => {
  const read = (body: string | Buffer | undefined, headers: Record<string, string> = {}) =>
    outcome(() => readBody(httpEvent({ method: "POST", body, headers })));
  const json = (bytes: number) => JSON.stringify("x".repeat(bytes - 2));

  it("accepts 4 MiB and refuses one byte more, counted after base64 decoding", () => {
    for (const wrap of [(text: string) => text, (text: string) => Buffer.from(text)]) {
      expect(read(wrap(json(LIMIT)))).toHaveLength(LIMIT - 2);
      expect(read(wrap(json(LIMIT + 1)))).toMatchObject({ status: 413 });
    }
  });

  it.each([
    ["application/json", "[1]", [1]],
    ["Application/JSON; charset=utf-8", "[1]", [1]],
    ["application/problem+json", "[1]", [1]],
    ["application/json", "", undefined],
    ["text/plain", "", undefined],
    ["text/plain", "[1]", { status: 415, errors: undefined }],
    ["application/jsonp", "[1]", { status: 415, errors: undefined }],
    ["text/application/json", "[1]", { status: 415, errors: undefined }],
    ["application/json", "[1", { status: 400, errors: undefined }],
    ["application/json", Buffer.from([0x22, 0xff, 0x22]), { status: 400, errors: undefined }],
  ])("reads a body of type %s: %j", (type, body, expected) => {
    expect(read(body, { "content-type": type })).toEqual(expected);
  });

  it("accepts the encoding `identity` alone", () => {
    expect(read("[1]", { "content-encoding": "identity" })).toEqual([1]);
    expect(read("[1]", { "content-encoding": "gzip" })).toEqual({ status: 415, errors: undefined });
    expect(read("", { "content-encoding": "gzip" })).toEqual({ status: 415, errors: undefined });
  });

  it.each([
    ['{"a":"\\u0000"}', "a", "must not contain NUL"],
    ['{"a":[1,{"b":"\\ud800"}]}', "a[1].b", "must not contain a lone surrogate"],
    ['{"a":{"b\\u0000":1}}', "a", "has a member whose name is not valid text"],
    ['{"\\ud800":1}', "body", "has a member whose name is not valid text"],
    ['"\\u0000"', "body", "must not contain NUL"],
    ['"\\ud800"', "body", "must not contain a lone surrogate"],
  ])("refuses %s", (body, path, message) => {
    expect(read(body)).toEqual(errors([path, message]));
  });
});

describe("header", () => {
  it("reads cookies from their own member, and an empty header as absent", () => {
    const event = { ...httpEvent({ headers: { cookie: "a=1", "x-empty": "", "x-one": "1" } }) };
    expect(header(event, "cookie")).toBe("a=1");
    expect(header({ ...event, cookies: ["b=2", "c=3"] }, "cookie")).toBe("b=2; c=3");
    expect(header({ ...event, cookies: ["b=2"] }, "x-one")).toBe("1");
    expect([header(event, "x-empty"), header(event, "x-none")]).toEqual([undefined, undefined]);
  });
});

describe("parseFields", () => {
  const parse = (schema: v.GenericSchema<unknown, unknown>, input: unknown) =>
    outcome(() => parseFields(schema, input));
  const named = v.object({ name: v.string() });
  const texts = v.record(v.string(), v.string());

  it.each<readonly [v.GenericSchema<unknown, unknown>, unknown, string, string]>([
    [v.string(), 1, "body", "must be a string"],
    [v.object({ a: v.number() }), { a: "1" }, "a", "must be a number"],
    [v.object({ a: v.null() }), { a: 1 }, "a", "must be null"],
    [v.object({ a: v.boolean() }), { a: 1 }, "a", "must be true or false"],
    [v.object({ a: v.array(v.string()) }), { a: 1 }, "a", "must be a list"],
    [v.object({ a: v.array(v.string()) }), { a: ["", 1] }, "a[1]", "must be a string"],
    [v.object({ a: named }), { a: 1 }, "a", "must be an object"],
    [v.object({ a: named }), { a: {} }, "a.name", "is required"],
    [v.object({ a: named }), {}, "a", "is required"],
    [v.strictObject({ a: v.string() }), { a: "", b: 1 }, "b", "is not a known member; known are a"],
    [
      v.object({
        a: v.optional(v.array(v.strictObject({ first: v.optional(v.string()), next: v.optional(v.string()) }))),
      }),
      { a: [{ wrong: 1 }] },
      "a[0].wrong",
      "is not a known member; known are first, next",
    ],
    [
      v.strictObject({ seconds: v.number() }),
      { seconds: 1, second: 1 },
      "second",
      "is not a known member; did you mean seconds?",
    ],
    [v.object({ a: v.literal("x") }), { a: "y" }, "a", 'must be "x"'],
    [v.object({ a: v.picklist(["x"]) }), { a: "y" }, "a", 'must be "x"'],
    [v.object({ a: v.picklist(["x", "y"]) }), { a: "z" }, "a", 'must be "x" or "y"'],
    [v.object({ a: v.picklist(["x", "y", "z"]) }), { a: 1 }, "a", 'must be "x", "y" or "z"'],
    [v.object({ a: v.union([v.literal("x"), v.null()]) }), { a: 1 }, "a", 'must be "x" or null'],
    [v.object({ a: v.pipe(v.number(), v.integer()) }), { a: 1.5 }, "a", "must be a whole number"],
    [v.object({ a: v.pipe(v.number(), v.safeInteger()) }), { a: 1.5 }, "a", "must be a whole number"],
    [v.object({ a: v.pipe(v.number(), v.minValue(2)) }), { a: 1 }, "a", "must be at least 2"],
    [v.object({ a: v.pipe(v.number(), v.maxValue(2)) }), { a: 3 }, "a", "must be at most 2"],
    [v.object({ a: v.pipe(v.string(), v.minLength(2)) }), { a: "x" }, "a", "must have at least 2 characters"],
    [v.object({ a: v.pipe(v.string(), v.maxLength(2)) }), { a: "xyz" }, "a", "must have at most 2 characters"],
    [v.object({ a: v.pipe(v.array(v.string()), v.maxLength(0)) }), { a: [""] }, "a", "must have at most 0 items"],
    [v.object({ a: v.pipe(texts, v.maxEntries(0)) }), { a: { b: "" } }, "a", "must have at most 0 keys"],
    [
      v.object({
        a: v.pipe(
          v.string(),
          v.check(() => false, "must be odd"),
        ),
      }),
      { a: "" },
      "a",
      "must be odd",
    ],
    [v.pipe(v.string(), v.minLength(1, "must not be empty")), "", "body", "must not be empty"],
    [v.string("must be a name"), 1, "body", "must be a name"],
    [v.picklist(["x"]), undefined, "body", 'is required and must be "x"'],
    [v.pipe(v.string(), v.toNumber()), "x", "body", "Invalid number: Received NaN"],
    // Values that valibot accepts silently.
    [named, [], "name", "is required"],
    [texts, [], "body", "must be an object"],
    [v.object({}), [], "body", "must be an object"],
    [v.object({ a: v.optional(v.object({})) }), { a: [] }, "a", "must be an object"],
    [v.object({ a: v.array(v.object({})) }), { a: [{}, []] }, "a[1]", "must be an object"],
    [v.object({ a: texts }), { a: { b: "", constructor: "" } }, "a.constructor", "is a name that cannot be used"],
    [texts, JSON.parse('{"__proto__":""}'), "__proto__", "is a name that cannot be used"],
    [v.record(v.string(), v.object({})), { a: [] }, "a", "must be an object"],
    [v.object({ a: v.union([v.object({}), v.string()]) }), { a: [] }, "a", "must be a string"],
    [v.union([v.object({}), texts]), [], "body", "must be an object"],
    [
      v.object({ a: v.union([named, texts]) }),
      { a: { prototype: "" } },
      "a.prototype",
      "is a name that cannot be used",
    ],
    [v.object({ a: v.union([v.string(), v.array(v.string())]) }), { a: ["", 1] }, "a[1]", "must be a string"],
    [v.object({ a: v.union([v.string(), v.array(named)]) }), { a: [{}] }, "a[0].name", "is required"],
  ])("names the field and what it must be (case %#)", (schema, input, path, message) => {
    expect(parse(schema, input)).toEqual(errors([path, message]));
  });

  it("names every wrong field once, and counts the others in its detail", () => {
    const schema = v.object({ a: v.string(), b: v.pipe(v.string(), v.minLength(2), v.regex(/x/)), c: v.string() });
    expect(parse(schema, { a: 1, b: "", c: 2 })).toEqual(
      errors(["a", "must be a string"], ["b", "must have at least 2 characters"], ["c", "must be a string"]),
    );
    expect(() => parseFields(schema, { a: 1, b: "xx", c: 2 })).toThrow(/^a: must be a string \(and 1 more\)$/);
    expect(() => parseFields(schema, { a: 1, b: "xx", c: "" })).toThrow(/^a: must be a string$/);
  });

  it("keeps what is valid, and drops members that the schema does not name", () => {
    const schema = v.object({ a: v.optional(v.nullable(named)), b: v.union([named, v.array(named)]) });
    expect(parse(schema, { a: null, b: [{ name: "x", more: [] }], c: [] })).toEqual({ a: null, b: [{ name: "x" }] });
    expect(parse(schema, { b: { name: "x" } })).toEqual({ b: { name: "x" } });
    expect(parse(v.object({ constructor: v.string() }), { constructor: "x" })).toEqual({ constructor: "x" });
  });
});

describe("unsupportedInput", () => {
  const inner = v.object({ of: v.optional(v.record(v.string(), v.string())) });
  const message = "must be an object";

  it.each([
    ["a union", v.union([v.string(), inner])],
    ["a variant", v.variant("kind", [v.object({ kind: v.literal("a"), of: v.optional(inner.entries.of) })])],
  ])("checks the option of %s that the input matches", (_, schema) => {
    expect(unsupportedInput(schema, { kind: "a", of: { a: "b" } })).toEqual([]);
    expect(unsupportedInput(schema, { kind: "a", of: [] })).toEqual([{ path: "of", message }]);
    expect(unsupportedInput(schema, JSON.parse('{"kind":"a","of":{"__proto__":"b"}}'))).toEqual([
      { path: "of.__proto__", message: "is a name that cannot be used" },
    ]);
  });
});
