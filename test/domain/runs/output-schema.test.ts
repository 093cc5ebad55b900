import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { checkOutput } from "#shared/output/check-output.ts";
import { checkOutputSchema } from "#shared/output/check-output-schema.ts";
import { OutputSchema } from "#shared/wire/output/output-schema.ts";

const SCHEMA = {
  type: "object",
  required: ["a"],
  properties: { a: { type: "integer" }, b: { type: "array", items: { $ref: "#/$defs/x" } } },
  additionalProperties: false,
  $defs: { x: { enum: ["p", null] } },
};
const nested = (depth: number): Record<string, unknown> => (depth === 1 ? {} : { not: nested(depth - 1) });

describe("an output schema", () => {
  it.each<[Record<string, unknown>]>([[SCHEMA], [{}], [{ $ref: "#" }], [{ items: [true, {}] }], [nested(24)]])(
    "accepts %j",
    (schema) => {
      expect(v.safeParse(OutputSchema, schema)).toMatchObject({ success: true, output: schema });
      expect(() => checkOutputSchema(schema, "output_schema")).not.toThrow();
    },
  );

  it.each<[string, Record<string, unknown>, string]>([
    ["a remote reference", { $ref: "https://example.com/schema" }, "#/$ref: must name a part of this schema"],
    ["a reference to nothing", { $ref: "#/$defs/y" }, "#/$ref: must name a part"],
    ["another base", { $id: "https://example.com/" }, "#/$id: is not supported"],
    ["an unknown type", { properties: { a: { type: "text" } } }, "#/properties/a/type: must be one or several of"],
    ["an invalid expression", { pattern: "(" }, "#/pattern: must be a regular expression"],
    ["a name that is no expression", { patternProperties: { "(": {} } }, "#/patternProperties/(: must be a regular"],
    ["properties in a list", { properties: [] }, "#/properties: must be an object"],
    ["a number as a schema", { anyOf: [{}, 3] }, "#/anyOf/1: must be a schema"],
    ["one name", { required: "a" }, "#/required: must be a list of names"],
    ["a negative length", { minLength: -1 }, "#/minLength: must be a whole number"],
    ["a text as a limit", { maximum: "1" }, "#/maximum: must be a number"],
    ["more parts inside of each other than the table holds", nested(25), "must have at most 24 objects"],
    ["a number that the table cannot hold", { const: 1e126 }, "/const: the number is too great"],
    ["an empty name", { properties: { "": {} } }, "/properties: must have no empty name"],
  ])("refuses %s", (_, schema, message) => {
    const refusal = expect.objectContaining({ path: "output_schema", message: expect.stringContaining(message) });
    expect(() => checkOutputSchema(schema, "output_schema")).toThrow(expect.objectContaining({ errors: [refusal] }));
  });

  it("has at most 64 KiB", () => {
    const [issue] = v.safeParse(OutputSchema, { description: "é".repeat(32_768) }).issues ?? [];
    expect(issue?.message).toContain("must have at most 65536 bytes");
  });
});

describe("the check of a response", () => {
  it.each([
    ["JSON", '{"a":1}', { a: 1 }],
    ["JSON in a fenced block", '```json\n{"a":1,"b":["p",null]}\n```', { a: 1, b: ["p", null] }],
    ["text around its only fenced block", 'Here it is:\n\n```\n{"a":1}\n```\nDone.', { a: 1 }],
  ])("accepts %s", (_, text, structured) => {
    expect(checkOutput(text, SCHEMA)).toEqual({ structured });
  });

  it.each([
    ["prose", "no", ["the response is not JSON: "]],
    ["two blocks", "```\n1\n```\n```\n2\n```", ["the response is not JSON: "]],
    ["a value of another type", '{"a":"x"}', ["#/a: ", "integer"]],
    ["a missing member", "{}", ['"a"']],
    ["another value", '{"a":1,"b":["q"]}', ["#/b/0: "]],
  ])("says first why %s does not fit", (_, text, words) => {
    const output = checkOutput(text, SCHEMA);
    if (!("errors" in output)) throw new Error("it does not fit");
    for (const word of words) expect(output.errors[0]).toContain(word);
  });

  const doubled = Object.fromEntries(
    Array.from({ length: 64 }, (_, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [`d${index}`, { allOf: [next, next] }];
    }),
  );
  it.each([
    ["an expression that takes forever", JSON.stringify(`${"a".repeat(60)}!`), { pattern: "^(a+)+$" }],
    ["references that take forever", "1", { $ref: "#/$defs/d0", $defs: { ...doubled, d64: {} } }],
    ["references that never fit", "1", { $ref: "#/$defs/d0", $defs: { ...doubled, d64: { type: "string" } } }],
    ["a reference to itself", "1", { $ref: "#" }],
  ])("ends with %s", (_, text, schema) => {
    expect(checkOutput(text, schema)).toEqual({ errors: [expect.stringContaining("could not be checked")] });
  });

  it("leaves the schema as it is", () => {
    const before = JSON.stringify(SCHEMA);
    checkOutput('{"a":1}', SCHEMA);
    expect(JSON.stringify(SCHEMA)).toBe(before);
  });
});
