import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { parseSync } from "vite";
import { describe, expect, it } from "vitest";
import { root } from "../../scripts/run-command.ts";

const Node = v.looseObject({ type: v.string(), start: v.number(), end: v.number() });
type Node = v.InferOutput<typeof Node>;
const Declarations = v.looseObject({
  type: v.literal("VariableDeclaration"),
  kind: v.literal("const"),
  declarations: v.array(
    v.looseObject({ id: v.looseObject({ name: v.optional(v.string(), "") }), init: v.nullable(Node) }),
  ),
});
const Exported = v.looseObject({ declaration: Node });

describe("every constant", () => {
  it("has the value of constants.txt (`npx vitest run test/domain/constants.test.ts -u` after a change)", async () => {
    const files = globSync("{shared,functions,harness,infra}/**/*.ts", { cwd: root }).toSorted();
    const lines = files.flatMap((file) => readConstants(readFileSync(join(root, file), "utf8"), file));
    expect(lines.length).toBeGreaterThan(400);
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("constants.txt");
  });
});

/** Longer tables, such as the routes, have their own tests. */
const LONGEST = 1_100;

/** Top-level constants with literal values: numbers, strings, and arrays and objects of them. */
function readConstants(code: string, file: string): readonly string[] {
  const { body } = v.parse(v.looseObject({ body: v.array(Node) }), parseSync(file, code).program);
  return body
    .map((node) => (v.is(Exported, node) ? v.parse(Exported, node).declaration : node))
    .flatMap((node) => (v.is(Declarations, node) ? v.parse(Declarations, node).declarations : []))
    .flatMap(({ id: { name }, init }) => {
      const value = init === null ? undefined : format(init);
      return value === undefined || value.length > LONGEST ? [] : [`${file} ${name} = ${value}`];
    });
}

const Literal = v.looseObject({ type: v.literal("Literal"), raw: v.string(), value: v.unknown() });
const Wrapped = v.looseObject({
  type: v.picklist(["TSAsExpression", "TSSatisfiesExpression", "ParenthesizedExpression"]),
  expression: Node,
});
const List = v.looseObject({ type: v.literal("ArrayExpression"), elements: v.array(Node) });
const Table = v.looseObject({ type: v.literal("ObjectExpression"), properties: v.array(Node) });
const Member = v.looseObject({
  type: v.literal("Property"),
  key: v.looseObject({ name: v.optional(v.string()), value: v.optional(v.unknown()) }),
  value: Node,
});
const Spread = v.looseObject({ type: v.literal("SpreadElement"), argument: Node });
const Collection = v.looseObject({
  type: v.literal("NewExpression"),
  callee: v.looseObject({ name: v.picklist(["Set", "Map"]) }),
  arguments: v.array(Node),
});
const Name = v.looseObject({ type: v.literal("Identifier"), name: v.string() });

/** Undefined for a value that is known only at run time. */
function format(node: Node): string | undefined {
  const number = calculate(node);
  if (number !== undefined) return String(number);
  if (v.is(Literal, node)) {
    const { value, raw } = v.parse(Literal, node);
    // The wording of texts is free.
    return typeof value === "string" ? (value.includes(" ") ? '"…"' : JSON.stringify(value)) : raw;
  }
  if (v.is(Wrapped, node)) return format(v.parse(Wrapped, node).expression);
  if (v.is(Name, node)) return v.parse(Name, node).name;
  if (v.is(Collection, node)) return formatAll(v.parse(Collection, node).arguments, "", "");
  if (v.is(List, node)) return formatAll(v.parse(List, node).elements, "[", "]");
  if (v.is(Table, node)) return formatAll(v.parse(Table, node).properties, "{ ", " }");
  if (v.is(Spread, node)) return prefix("...", format(v.parse(Spread, node).argument));
  if (!v.is(Member, node)) return undefined;
  const { key, value } = v.parse(Member, node);
  return prefix(`${key.name ?? String(key.value)}: `, format(value));
}

function formatAll(nodes: readonly Node[], first: string, last: string): string | undefined {
  const all = nodes.map(format);
  return all.includes(undefined) ? undefined : `${first}${all.join(", ")}${last}`;
}

const prefix = (text: string, value: string | undefined): string | undefined =>
  value === undefined ? undefined : `${text}${value}`;

const Calculation = v.looseObject({
  type: v.literal("BinaryExpression"),
  operator: v.picklist(["+", "-", "*", "/", "**"]),
  left: Node,
  right: Node,
});

/** Evaluates an expression of numbers. */
function calculate(node: Node): number | undefined {
  if (v.is(Literal, node)) {
    const { value } = v.parse(Literal, node);
    return typeof value === "number" ? value : undefined;
  }
  if (v.is(Wrapped, node)) return calculate(v.parse(Wrapped, node).expression);
  if (!v.is(Calculation, node)) return undefined;
  const { operator, left, right } = v.parse(Calculation, node);
  const [one, other] = [calculate(left), calculate(right)];
  if (one === undefined || other === undefined) return undefined;
  return { "+": one + other, "-": one - other, "*": one * other, "/": one / other, "**": one ** other }[operator];
}
